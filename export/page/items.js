// The lines of the list of records: rows as they are, and what a plan adds, as the chosen view shows them. Inserts are numbered
// -1, -2, …

const GOES = 1, CHANGES = 2, MOVES = 3;

// prepare works out once what a plan does to each row.
function prepare(p) {
  spread(p);
  p.marks = new Uint8Array(p.rows.length);
  p.edits = new Map(); // row -> edits that touch it
  p.inserts = [];
  const plan = p.plan;
  if (!plan) return;
  const starts = new Float64Array(p.rows.length);
  for (let i = 0; i < starts.length; i++) starts[i] = textOf(p, i);
  const after = (at) => { // first row that begins at or behind an offset
    let lo = 0, hi = starts.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (starts[mid] < at) lo = mid + 1;
      else hi = mid;
    }
    return lo;
  };
  const end = (i) => (p.framed ? (i + 1 < starts.length ? starts[i + 1] - 1 : p.text) : p.rows[i][OFF] + (p.rows[i][LEN] || 0));
  // A newline belongs to the record that it ends.
  const newline = (e, x) => {
    const i = after(e.at) - 1;
    if (p.marks[i] || i < 0 || x.bytes < 1) return;
    p.marks[i] = CHANGES;
    p.edits.set(i, [...(p.edits.get(i) || []), e]);
  };
  const moved = new Set((plan.moves || []).map((m) => m.from));
  const arrives = new Map(); // row in front of which -> rows that move there
  for (const m of plan.moves || []) {
    const to = after(m.behind) + 1;
    arrives.set(to, [...(arrives.get(to) || []), after(m.from)]);
  }
  plan.edits.forEach((e) => {
    const del = e.del || 0;
    let touched = false, cuts = false;
    const first = after(e.at);
    for (let i = Math.max(first - 1, 0); i < starts.length && starts[i] < e.at + Math.max(del, 1); i++) {
      const none = end(i) === starts[i] && starts[i] === e.at; // a line with nothing on it
      if (end(i) <= e.at && !none) continue;
      if (del === 0 && starts[i] >= e.at) break;
      touched = true;
      const whole = e.at <= starts[i] && e.at + del >= end(i);
      let mark = CHANGES;
      if (whole && moved.has(starts[i])) mark = MOVES;
      else if (whole) mark = GOES;
      cuts = cuts || whole;
      p.marks[i] = p.marks[i] === GOES ? GOES : mark;
      if (!p.edits.has(i)) p.edits.set(i, []);
      p.edits.get(i).push(e);
    }
    if (touched && !cuts) return; // a piece of a record changes
    (e.ins || []).forEach((x) => {
      if (!x.closer && x.text !== undefined && x.text.trim() === "" && (touched || e.at > 0)) return newline(e, x);
      p.inserts.push({ before: after(del > 0 ? e.at + del : e.at), edit: e, insert: x, moved: x.closer ? undefined : (arrives.get(after(e.at)) || []).shift() });
    });
  });
  for (const r of p.framed ? plan.removed || [] : []) {
    for (let i = 0; i < p.rows.length; i++) {
      if (!hole(p.rows[i]) || p.rows[i][OFF] < r.off || p.rows[i][OFF] >= r.off + r.len) continue;
      p.marks[i] = GOES;
      p.edits.set(i, [{ at: r.off, del: r.len, aside: r.aside, cures: r.codes }]);
    }
  }
  p.inserts.sort((a, b) => a.before - b.before);
}

// spread gives each row a place in the stored file. Records of one compressed frame share it by their texts.
function spread(p) {
  const rows = p.rows;
  p.begins = new Float64Array(rows.length);
  p.ends = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    const r = rows[i];
    p.begins[i] = r[OFF];
    p.ends[i] = r[OFF] + (r[LEN] || 0);
    if (!p.framed || hole(r)) continue;
    let z = i;
    while (z + 1 < rows.length && !hole(rows[z + 1]) && rows[z + 1][OFF] === r[OFF]) z++;
    const from = r[TEXT] || 0, to = z + 1 < rows.length ? rows[z + 1][TEXT] || 0 : p.text;
    const at = (k) => r[OFF] + (r[LEN] || 0) * Math.min(((k <= z ? rows[k][TEXT] || 0 : to) - from) / Math.max(to - from, 1), 1);
    for (let k = i; k <= z; k++) {
      p.begins[k] = at(k);
      p.ends[k] = at(k + 1);
    }
    i = z;
  }
}

// itemsOf are the lines of a view: as it is, as it would be, or both.
function itemsOf(p, view) {
  const out = [];
  let k = 0;
  for (let i = 0; i <= p.rows.length; i++) {
    for (; view !== "before" && k < p.inserts.length && p.inserts[k].before === i; k++) out.push(-1 - k);
    if (i === p.rows.length) break;
    if (view === "after" && p.plan && (p.marks[i] === GOES || p.marks[i] === MOVES || hole(p.rows[i]) && !p.rows[i][LEN])) continue;
    out.push(i);
  }
  return Int32Array.from(out);
}

function insertTitle(p, x) {
  if (x.moved !== undefined) return (p.rows[x.moved][LINE] ? "line " + number(p.rows[x.moved][LINE]) : "record " + number(p.rows[x.moved][N])) + " moves here";
  if (x.insert.closer) return (x.insert.kind || "closer") + (x.insert.code ? " " + x.insert.code : "");
  if ((x.insert.text || "").trim() === "" && x.insert.text !== undefined) return "a newline";
  return "new record" + (x.edit.cures ? ", for " + x.edit.cures.join(", ") : "");
}
