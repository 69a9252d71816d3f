// What the page knows: the head of the model first, the records of each part when the page is loaded.

const model = JSON.parse(byId("head").textContent);
byId("head").remove();

// Where a row holds what. A row without number is a hole: bytes that are no record.
const N = 0, OFF = 1, LEN = 2, LINE = 3, FRAME = 4, TEXT = 5, SEQ = 6, ID = 7, PARENT = 8, UP = 9, TIME = 10, STATE = 11, MARKS = 12,
  EVENTS = 13, TOLD = 14, FINDINGS = 15;

const states = ["aside", "sent", "compacted", "branch", "rolled back", "sub-agent"];
const SENT = 1, COMPACTED = 2, SIDE = 5;
const roles = ["note", "system", "user", "assistant", "tool"];
const audiences = ["", "for the model only", "for people only"];
const blocks = ["text", "thinking", "call", "result", "image", "file", "other"];
const CALL = 2, RESULT = 3;
const FAILED = 1, MADE_UP = 2, SEALED = 4, CUT = 8, INNER = 16, HIDDEN = 32;
const kindOf = (name) => model.kinds.indexOf(name);
const ASSISTANT = kindOf("assistant message"), ASKED = kindOf("call asked"), ANSWERED = kindOf("call result"), USER = kindOf("user message"),
  STARTED = kindOf("call started"), FINISHED = kindOf("call finished"), DELTA = kindOf("delta"), SYSTEM = kindOf("system message"), SUMMARY = kindOf("summary"), NOTE = kindOf("note");

const codes = new Map(model.codes.map((c) => [c.code, c]));

// Calls: id, name, rows of the request, the start and the result (from 1), turn, step, fate, more than one result.
const C = { id: 0, name: 1, asked: 2, started: 3, ended: 4, turn: 5, step: 6, fate: 7, again: 8 };

const parts = model.parts.map((p, i) => ({
  ...p, index: i, rows: [], calls: [], turns: [], steps: [], marked: false, stepsMarked: false, left: 0, hidden: 0,
  rowOfFinding: new Map(), // index of a finding -> row
}));

// findings of all parts, in order, as [part, index in it].
const allFindings = parts.flatMap((p) => p.findings.map((_, i) => [p, i]));

// loadRecords reads what stands behind the script.
function loadRecords() {
  for (const s of document.querySelectorAll("script.records")) {
    const p = parts[+s.dataset.part];
    const at = p.rows.length;
    const list = JSON.parse(s.textContent);
    for (let i = 0; i < list.length; i++) {
      p.rows.push(list[i]);
      if (list[i].length > FINDINGS) for (const f of list[i][FINDINGS]) p.rowOfFinding.set(f, at + i);
    }
    s.remove();
  }
  for (const s of document.querySelectorAll("script.end")) {
    Object.assign(parts[+s.dataset.part], JSON.parse(s.textContent));
    s.remove();
  }
}

const hole = (r) => r[N] === 0;

// start and end of a row in the part's text.
const textOf = (p, i) => (p.framed ? p.rows[i][TEXT] || 0 : p.rows[i][OFF]);

// first event of a row, that counts for its kind: a call or an answer outweighs what frames it.
function kind(r) {
  const list = r[EVENTS];
  if (!list) return hole(r) ? -1 : toldKind(r);
  let best = list[0];
  for (let i = 0; i < list.length; i += 6) {
    if (list[i] === ANSWERED || list[i] === ASKED && best !== ANSWERED) best = list[i];
    else if (best < 7 && list[i] >= 7) best = list[i];
  }
  if (best === NOTE) return toldKind(r);
  return best;
}

// toldKind is the kind of a record that means nothing to verify, by who speaks in it.
function toldKind(r) {
  const told = r[TOLD];
  if (!told) return NOTE;
  for (const m of told) for (let i = 5; i < m.length; i++) if (m[i][0] === CALL) return ASKED;
  return [NOTE, SYSTEM, USER, ASSISTANT, ANSWERED][told[0][0]];
}

// Groups of kinds, for colours.
function group(r) {
  if (hole(r)) return "hole";
  const k = kind(r);
  if (k === USER || k === SYSTEM || k === SUMMARY) return "user";
  if (k === ASSISTANT || k === DELTA) return "assistant";
  if (k === ASKED || k === ANSWERED || k === STARTED || k === FINISHED) return "tool";
  return "other";
}

// callsOf are the calls that a row is about.
function callsOf(p, r) {
  const out = [];
  const list = r[EVENTS] || [];
  for (let i = 0; i < list.length; i += 6) {
    const c = list[i + 4] - 1;
    if (c >= 0 && !out.includes(c)) out.push(c);
  }
  return out;
}

function turnOf(p, row) {
  const list = p.rows[row][EVENTS] || [];
  let turn = 0, step = 0;
  for (let i = 0; i < list.length; i += 6) {
    turn = turn || list[i + 2];
    step = step || list[i + 3];
  }
  if (!turn) {
    const at = spanAt(p.turns, row);
    if (at >= 0) turn = p.turns[at][2] || at + 1;
  }
  return [turn, step];
}

// spanAt is the turn or step that holds a row, -1 = none.
function spanAt(list, row) {
  let lo = 0, hi = list.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (list[mid][0] <= row) lo = mid + 1;
    else hi = mid;
  }
  const s = list[lo - 1];
  return s && (s[1] < 0 || row <= s[1]) ? lo - 1 : -1;
}

// gist is what a record says, in one line.
function gist(p, r, most) {
  if (hole(r)) return r[LEN] ? "no record: " + plural(r[LEN], "byte") : "nothing stands here";
  const said = [];
  for (const m of r[TOLD] || []) {
    if (m[3]) said.push(m[3]);
    for (let i = 5; i < m.length; i++) {
      const b = m[i];
      if (b[1] & INNER) continue;
      said.push((b[0] === CALL || b[0] === RESULT ? [b[4], b[0] === RESULT && b[1] & FAILED ? "failed" : ""].filter(Boolean).join(" ") + " " :
        b[0] > 0 ? blocks[b[0]] + " " : "") + (b[1] & HIDDEN ? bytes(b[2]) + " #" + b[3] : String(b[3] || "").slice(0, most) || (b[2] ? bytes(b[2]) : "")));
      if (said.length > 8) break;
    }
  }
  if (said.length) return said.join(" · ").slice(0, most);
  const calls = callsOf(p, r).map((c) => p.calls[c]);
  return calls.slice(0, 8).map((c) => (c[C.name] ? c[C.name] + " " : "") + c[C.id]).join(" · ").slice(0, most);
}

const kindName = (r) => (hole(r) ? (r[LEN] ? "damaged bytes" : "missing") : r[EVENTS] || r[TOLD] ? model.kinds[kind(r)] : "bookkeeping");

// place is where a row stands, in words.
function place(p, r) {
  const at = [];
  if (r[LINE]) at.push("line " + number(r[LINE]));
  if (r[FRAME]) at.push("frame " + number(r[FRAME]));
  at.push("offset " + number(r[OFF]));
  return at.join(", ");
}

const severityOrder = { error: 0, warning: 1, note: 2 };

function worst(p, list) {
  let out = "note";
  for (const i of list) if (severityOrder[p.findings[i].severity] < severityOrder[out]) out = p.findings[i].severity;
  return out;
}
