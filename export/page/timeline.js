// Turns and steps as bands, below them the calls: a lane for each that runs beside others, sub-agents in lanes of their own. Places
// are those of the records, not times: many logs have none.

class Timeline {
  constructor(box, choose) {
    this.choose = choose;
    this.root = svg("svg", { role: "group", "aria-label": "Calls" });
    this.view = el("div", { class: "time-view" }, this.root);
    this.readout = el("span", { class: "readout" });
    this.slide = el("input", { type: "range", min: "0", "aria-label": "Where the view begins", oninput: () => this.show(+this.slide.value, +this.slide.value + this.to - this.from) });
    const tool = (label, title, run) => el("button", { type: "button", class: "small", title, "aria-label": title, onclick: run }, label);
    box.append(el("div", { class: "band-head" }, this.readout, el("span", { class: "grow" }), this.slide,
      tool("−", "Zoom out", () => this.zoom(2)), tool("+", "Zoom in", () => this.zoom(0.5)), tool("Fit", "Show all records", () => this.show(0, this.p.rows.length))), this.view);
    this.draw = soon(() => this.render());
    new ResizeObserver(this.draw).observe(this.view);
    this.view.addEventListener("wheel", (e) => {
      if (!e.ctrlKey && !e.shiftKey) return;
      e.preventDefault();
      if (e.ctrlKey) this.zoom(e.deltaY > 0 ? 1.25 : 0.8);
      else this.pan((e.deltaY || e.deltaX) / this.width);
    }, { passive: false });
    this.view.addEventListener("keydown", (e) => this.key(e));
    this.view.addEventListener("click", (e) => {
      const at = e.target.closest("[data-call]");
      if (at) return this.open(+at.dataset.call);
      const turn = e.target.closest("[data-row]");
      if (turn) this.choose(this.p, +turn.dataset.row);
    });
    this.view.addEventListener("focusin", (e) => {
      const at = e.target.closest("[data-call]");
      if (at) {
        this.at = +at.dataset.call;
        this.read();
      }
    });
    this.view.addEventListener("mouseover", (e) => {
      const at = e.target.closest("[data-call]");
      this.read(at ? +at.dataset.call : undefined);
    });
  }

  // part takes the calls of a part.
  part(p) {
    this.p = p;
    this.at = -1;
    const open = [[], []]; // where each lane is free again: the session's own, and those of sub-agents
    p.bars = [];
    p.calls.forEach((c, i) => {
      const from = Math.max(c[C.asked] || c[C.ended] || c[C.started], 1) - 1;
      const ended = c[C.ended] > 0 ? c[C.ended] - 1 : -1;
      const side = p.rows[from] && p.rows[from][STATE] === SIDE ? 1 : 0;
      let to = ended;
      if (to < from) {
        const turn = spanAt(p.turns, from);
        to = turn >= 0 && p.turns[turn][1] >= 0 ? p.turns[turn][1] : Math.min(turn >= 0 && p.turns[turn + 1] ? p.turns[turn + 1][0] - 1 : p.rows.length - 1, p.rows.length - 1);
        to = Math.max(to, from);
      }
      let lane = open[side].findIndex((free) => free < from || free === from && to === from);
      if (lane < 0) lane = open[side].length < 16 ? open[side].push(0) - 1 : 15;
      open[side][lane] = to;
      p.bars.push({ i, from, to, ended, side, lane });
    });
    this.lanes = [open[0].length, open[1].length];
    this.order = p.bars.slice().sort((a, b) => a.from - b.from || a.i - b.i).map((b) => b.i);
    const seen = new Set(p.calls.map((c) => c[C.fate]));
    legend(byId("time-legend"), [...fates.keys()].filter((f) => f < 6 || seen.has(f)).map((f) => [fateIcon(f), fates[f], fateHints[f]]));
    const n = p.rows.length, wide = 400;
    if (n <= 2 * wide) this.show(0, n);
    else {
      const marked = [...p.rowOfFinding.values()].filter((r) => r !== undefined);
      const mid = marked.length ? Math.min(...marked) : n;
      this.show(mid - wide / 2, mid + wide / 2);
    }
    this.read();
  }

  show(from, to) {
    const n = Math.max(this.p.rows.length, 1);
    const wide = Math.min(Math.max(to - from, Math.min(n, 12)), n);
    this.from = Math.min(Math.max(from, 0), n - wide);
    this.to = this.from + wide;
    this.slide.max = Math.max(Math.ceil(n - wide), 0);
    this.slide.value = this.from;
    this.slide.disabled = wide >= n;
    this.draw();
  }

  zoom(by) {
    const mid = this.at >= 0 ? Math.min(Math.max(this.p.bars[this.at].from, this.from), this.to) : (this.from + this.to) / 2;
    this.show(mid - (mid - this.from) * by, mid + (this.to - mid) * by);
  }

  pan(by) {
    const wide = this.to - this.from;
    this.show(this.from + by * wide, this.from + by * wide + wide);
  }

  x(row) { return 8 + (row - this.from) / (this.to - this.from) * (this.width - 16); }

  label(i) {
    const c = this.p.calls[i];
    return `${c[C.name] || "call"} ${c[C.id] || "(empty id)"}: ${fates[c[C.fate]]}` + (c[C.again] ? ", answered more than once" : "");
  }

  read(i) {
    if (i === undefined) i = this.at;
    put(this.readout, i >= 0 && this.p.calls[i] ? this.label(i) : plural(this.p.calls.length, "call") + " in " + plural(this.p.turns.length, "turn") +
      (this.p.marked ? "" : " (a turn begins with what the user says)") + ` · records ${number(this.from + 1)} to ${number(this.to)}`);
  }

  open(i) {
    this.at = i;
    const b = this.p.bars[i];
    this.choose(this.p, b.from);
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    if (step || e.key === "Home" || e.key === "End") {
      if (!this.order.length) return;
      const k = this.order.indexOf(this.at);
      const to = e.key === "Home" ? 0 : e.key === "End" ? this.order.length - 1 : Math.min(Math.max(k + step, 0), this.order.length - 1);
      const next = this.order[to];
      this.at = next;
      const b = this.p.bars[next], wide = this.to - this.from;
      if (b.from < this.from || b.from > this.to - 1) this.show(b.from - wide / 3, b.from + 2 * wide / 3);
      this.render();
      this.at = next;
      const node = this.root.querySelector(`[data-call="${next}"]`);
      if (node) node.focus({ preventScroll: true });
      else tell(this.label(next));
      this.read();
    } else if ((e.key === "Enter" || e.key === " ") && this.at >= 0) this.open(this.at);
    else if (e.key === "+" || e.key === "=") this.zoom(0.5);
    else if (e.key === "-") this.zoom(2);
    else if (e.key === "0") this.show(0, this.p.rows.length);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }

  render() {
    const wide = this.view.clientWidth;
    if (!wide || !this.p) return;
    this.width = wide;
    const p = this.p, high = 17, top = 46;
    const gap = this.lanes[1] ? 18 : 0;
    const tall = top + Math.max(this.lanes[0], 1) * high + gap + this.lanes[1] * high + 6;
    const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.call : undefined;
    const within = this.root.contains(document.activeElement);
    this.root.textContent = "";
    this.root.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
    this.root.setAttribute("width", wide);
    this.root.setAttribute("height", tall);
    this.spans(p.turns, 2, 18, "turn");
    this.spans(p.steps, 22, 12, "step");
    const marks = [];
    for (const [f, row] of p.rowOfFinding) if (row >= this.from && row < this.to) marks.push([f, row]);
    for (const [f, row] of marks.slice(0, 200)) {
      const x = this.x(row + 0.5);
      this.root.append(svg("line", { x1: x, x2: x, y1: 36, y2: tall - 4, class: "mark severity-" + p.findings[f].severity }));
    }
    const inSight = p.bars.filter((b) => b.to >= this.from && b.from < this.to);
    // Where single calls could not be told apart they are counted.
    if (gap) this.root.append(this.text("Sub-agents", 8, top + this.lanes[0] * high + 13, "caption"));
    if (inSight.length > 250) this.crowd(inSight, top, tall);
    else for (const b of inSight) this.bar(b, top + b.lane * high + (b.side ? gap + this.lanes[0] * high : 0), high);
    if (!p.calls.length) this.root.append(this.text("no calls", 8, top + 12, "caption"));
    const first = this.root.querySelector(`[data-call="${this.at}"]`) || this.root.querySelector("[data-call]");
    if (first) first.setAttribute("tabindex", "0");
    if (within && focused !== undefined) {
      const again = this.root.querySelector(`[data-call="${focused}"]`);
      if (again) again.focus({ preventScroll: true });
    }
    this.here = svg("line", { y1: 0, y2: tall, class: "here" });
    this.root.append(this.here);
    this.stick();
    this.read(this.at);
  }

  // stick marks the chosen record.
  stick() {
    if (!this.here) return;
    const on = chosenRow.part === this.p && chosenRow.row >= this.from && chosenRow.row < this.to;
    const x = on ? this.x(chosenRow.row + 0.5) : -9;
    this.here.setAttribute("x1", x);
    this.here.setAttribute("x2", x);
  }

  text(words, x, y, cls) { return put(svg("text", { x, y, class: cls }), words); }

  spans(list, y, high, cls) {
    let i = Math.max(spanAt(list, Math.floor(this.from)), 0);
    while (i > 0 && list[i - 1] && (list[i - 1][1] < 0 || list[i - 1][1] >= this.from)) i--;
    let filled = -1;
    for (; i < list.length && list[i][0] < this.to; i++) {
      const end = list[i][1] < 0 ? (list[i + 1] ? list[i + 1][0] - 1 : this.p.rows.length - 1) : list[i][1];
      if (end < this.from) continue;
      const a = Math.max(this.x(list[i][0]), 0), b = Math.min(this.x(end + 1), this.width);
      if (b - filled < 3) continue;
      filled = b;
      const open = list[i][1] < 0 && (cls === "turn" ? this.p.marked : this.p.stepsMarked);
      const w = Math.max(b - a - 1, 1);
      const g = svg("g", { class: `${cls} ${i % 2 ? "odd" : "even"}${open ? " open" : ""}`, "data-row": list[i][0] });
      g.append(svg("rect", { x: a, y, width: w, height: high, rx: 2 }));
      const words = cls === "turn" ? (w > 60 ? "turn " : "") + (list[i][2] || i + 1) + (open && w > 90 ? ", open" : "") : list[i][2] && w > 22 ? String(list[i][2]) : "";
      if (words && w > 6.5 * words.length + 4) g.append(this.text(words, a + 4, y + high - (cls === "turn" ? 5 : 2.5), "in"));
      this.root.append(g);
    }
  }

  bar(b, y, high) {
    const c = this.p.calls[b.i], fate = c[C.fate];
    const a = this.x(b.from + 0.5), z = Math.max(this.x(b.to + 0.5), a);
    const mid = y + high / 2;
    const done = b.ended >= 0;
    const end = done ? Math.min(z, this.width - 6) : Math.min(a, this.width - 6);
    const g = svg("g", { class: `call fate-${fate}`, role: "button", tabindex: "-1", "data-call": b.i, "aria-label": safe(this.label(b.i)) });
    g.append(svg("rect", { x: Math.min(a, z) - 6, y, width: Math.max(z - a, 0) + 12, height: high, class: "touch" }));
    if (z - a > 1) g.append(svg("line", { x1: a, x2: z, y1: mid, y2: mid, class: "run" + (done ? "" : " open") }));
    if (done && z - a > 9) g.append(svg("line", { x1: a, x2: a, y1: mid - 4, y2: mid + 4, class: "run" }));
    const mark = shape(fateShapes[fate], "fate-" + fate);
    mark.setAttribute("transform", `translate(${Math.max(end, 6)} ${mid})`);
    g.append(mark);
    const name = String(c[C.name] || "").slice(0, 24);
    if (name && z - a > 7 * name.length + 14) g.append(this.text(name, (done ? a : end) + 8, mid - 4, "name"));
    this.root.append(g);
  }

  // crowd draws how many calls came to which end, where there are too many to draw each.
  crowd(list, top, tall) {
    const step = 6, columns = new Map();
    for (const b of list) {
      const k = Math.floor(this.x(b.from) / step);
      if (!columns.has(k)) columns.set(k, new Array(fates.length).fill(0));
      columns.get(k)[this.p.calls[b.i][C.fate]]++;
    }
    let most = 1;
    for (const c of columns.values()) most = Math.max(most, c.reduce((a, b) => a + b));
    const room = Math.max(tall - top - 4, 34);
    this.root.setAttribute("height", Math.max(tall, top + room + 18));
    this.root.setAttribute("viewBox", `0 0 ${this.width} ${Math.max(tall, top + room + 18)}`);
    for (const [k, c] of columns) {
      let y = top + room;
      c.forEach((n, fate) => {
        if (!n) return;
        const high = Math.max(n / most * room, fate ? 2 : 0.5);
        y -= high;
        this.root.append(svg("rect", { x: k * step, y, width: step - 1, height: high, class: "crowd fate-" + fate }));
      });
    }
    const of = fates.map((word, fate) => [list.filter((b) => this.p.calls[b.i][C.fate] === fate).length, word]).filter(([n]) => n);
    this.root.append(this.text(`${number(list.length)} calls: ${of.map(([n, word]) => number(n) + " " + word).join(", ")}. Zoom in to see each`, 8, top + room + 13, "caption"));
  }
}
