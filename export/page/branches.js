// The tree of a log whose records hang under each other: each line is a run of records without a fork, the way to where the talk
// goes on is drawn thick.

class Branches {
  constructor(box, choose) {
    this.choose = choose;
    this.box = el("div", { class: "branch-list", role: "listbox", "aria-label": "Runs of records without a fork" });
    box.append(this.box);
    this.list = new List(this.box, {
      height: 24,
      make: () => el("div", { class: "run-line" }, svg("svg", { class: "graph", "aria-hidden": "true" }), el("span", { class: "run-what text" }), el("span", { class: "run-gist text" })),
      fill: (line, i) => this.fill(line, i),
      onchoose: (i) => this.choose(this.p, this.runs[i].rows[0], { keep: true }),
      onopen: (i) => this.choose(this.p, this.runs[i].rows[0], { focus: true }),
    });
  }

  part(p) {
    this.p = p;
    this.runs = [];
    const rows = p.rows;
    const rowOf = new Map();
    rows.forEach((r, i) => { if (!hole(r)) rowOf.set(r[N], i); });
    const parent = new Int32Array(rows.length).fill(-1), children = new Int32Array(rows.length), inTree = new Uint8Array(rows.length);
    rows.forEach((r, i) => {
      if (r[UP]) {
        const up = rowOf.get(r[UP]);
        if (up !== undefined && up !== i) {
          parent[i] = up;
          children[up]++;
          inTree[i] = inTree[up] = 1;
        }
      } else if (r[ID] && r[STATE] !== 0) inTree[i] = 1;
    });
    const live = new Uint8Array(rows.length);
    rows.forEach((r, i) => { if (r[STATE] === SENT || r[STATE] === COMPACTED) live[i] = 1; });
    for (let i = p.leaf ? rowOf.get(p.leaf) : undefined, steps = 0; i !== undefined && i >= 0 && steps <= rows.length; i = parent[i], steps++) live[i] = 1;
    const runOf = this.runOf = new Int32Array(rows.length).fill(-1);
    const order = [...rows.keys()].filter((i) => inTree[i]);
    // A parent may stand behind what hangs under it: such links begin a run anew.
    for (const i of order) {
      const up = parent[i] >= 0 && parent[i] < i ? parent[i] : -1;
      if (up >= 0 && children[up] === 1 && live[up] === live[i] && runOf[up] >= 0) {
        runOf[i] = runOf[up];
        this.runs[runOf[i]].rows.push(i);
        continue;
      }
      runOf[i] = this.runs.length;
      this.runs.push({ up: up >= 0 ? runOf[up] : -1, rows: [i], live: live[i], lost: rows[i][PARENT] && up < 0 && parent[i] < 0, kids: [] });
    }
    this.runs.forEach((r, k) => { if (r.up >= 0) this.runs[r.up].kids.push(k); });
    this.lanes();
    return this.runs.length;
  }

  // lanes puts runs that follow each other into one column.
  lanes() {
    const runs = this.runs, next = new Int32Array(runs.length).fill(-1), chain = [];
    runs.forEach((r, k) => {
      const heir = r.kids.find((c) => runs[c].live) ?? r.kids[0];
      if (heir !== undefined) next[k] = heir;
    });
    const begun = new Uint8Array(runs.length);
    runs.forEach((r, k) => {
      if (begun[k]) return;
      const c = { from: r.up >= 0 ? r.up : k, to: k, head: k, runs: [] };
      for (let at = k; at >= 0 && !begun[at]; at = next[at]) {
        begun[at] = 1;
        c.runs.push(at);
        c.to = at;
      }
      chain.push(c);
    });
    chain.sort((a, b) => (runs[b.head].live - runs[a.head].live) * (a.from === b.from ? 1 : 0) || a.from - b.from || a.head - b.head);
    this.columns = []; // of each: chains in order
    for (const c of chain) {
      let at = this.columns.findIndex((col) => col[col.length - 1].to < c.from);
      if (at < 0) at = this.columns.push([]) - 1;
      this.columns[at].push(c);
      for (const k of c.runs) runs[k].lane = at;
    }
    this.wide = Math.min(this.columns.length, 16);
  }

  // chainAt is the chain in a column that passes a line.
  chainAt(column, k) {
    let lo = 0, hi = column.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (column[mid].from <= k) lo = mid + 1;
      else hi = mid;
    }
    const c = column[lo - 1];
    return c && k <= c.to ? c : null;
  }

  fill(line, k) {
    const run = this.runs[k], p = this.p, rows = run.rows;
    const [graph, what, words] = line.children;
    const x = (lane) => 9 + Math.min(lane, this.wide - 1) * 13;
    const wide = 9 + this.wide * 13;
    graph.setAttribute("viewBox", `0 0 ${wide} 24`);
    graph.setAttribute("width", wide);
    graph.setAttribute("height", 24);
    graph.textContent = "";
    this.columns.slice(0, 40).forEach((column, lane) => {
      const c = this.chainAt(column, k);
      if (!c) return;
      const head = c.from < c.head && k === c.from ? null : c;
      if (!head) return; // the fork itself is drawn below
      const live = this.liveAt(c, k) ? " live" : "";
      if (lane === run.lane) {
        if (k > c.from && (k > c.head || run.up >= 0)) graph.append(svg("line", { x1: x(lane), x2: x(lane), y1: 0, y2: 12, class: "edge" + (run.live ? " live" : "") }));
        if (k < c.to) graph.append(svg("line", { x1: x(lane), x2: x(lane), y1: 12, y2: 24, class: "edge" + (this.liveAt(c, k + 1) ? " live" : "") }));
      } else graph.append(svg("line", { x1: x(lane), x2: x(lane), y1: 0, y2: 24, class: "edge" + live }));
    });
    for (const kid of run.kids.slice(0, 200)) {
      const to = this.runs[kid].lane;
      if (to !== run.lane) graph.append(svg("path", { d: `M${x(run.lane)},12C${x(run.lane)},22 ${x(to)},14 ${x(to)},24`, class: "edge" + (this.runs[kid].live ? " live" : "") }));
    }
    const dot = shape(run.kids.length > 1 ? "diamond" : run.live ? "disc" : "ring", "node" + (run.live ? " live" : ""));
    dot.setAttribute("transform", `translate(${x(run.lane)} 12)`);
    graph.append(dot);
    const a = p.rows[rows[0]], z = p.rows[rows[rows.length - 1]];
    what.textContent = (a[LINE] === z[LINE] ? "line " + number(a[LINE]) : `lines ${number(a[LINE])} to ${number(z[LINE])}`) + ", " + plural(rows.length, "record") +
      (run.live ? "" : ", " + states[a[STATE] || 0]) + (run.lost ? ", its parent is lost" : "") + (run.kids.length > 1 ? `, ${run.kids.length} ways on` : "");
    put(words, gist(p, p.rows[rows.find((i) => p.rows[i][TOLD]) ?? rows[0]], 120));
    line.classList.toggle("live", !!run.live);
    const marked = rows.filter((i) => p.rows[i][FINDINGS]);
    line.classList.toggle("damaged", marked.length > 0);
  }

  // liveAt tells whether the way on is among what a chain leads to.
  liveAt(c, k) {
    for (const r of c.runs) if (r >= k) return this.runs[r].live;
    return false;
  }

  // point shows the run of a row.
  point(row) {
    if (this.runOf[row] >= 0) this.list.choose(this.runOf[row], { quiet: true });
  }
}
