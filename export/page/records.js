// The list of records.

let view = parts.some((p) => p.plan) ? "diff" : "before";
let part = parts[0];
let items = new Int32Array(0); // of the part, in the view
let shownItems = items; // of those, the ones that are searched for
const chosenRow = { part: null, row: -1 };
let records;

const markWords = { [GOES]: "taken out", [CHANGES]: "changed", [MOVES]: "moves" };
const markSigns = { [GOES]: "−", [CHANGES]: "~", [MOVES]: "↕" };

function makeRecordLine() {
  const cell = (cls) => el("span", { class: cls });
  return el("div", { class: "record" }, cell("sign"), cell("no"), cell("turn"), cell("kind"), cell("gist text"), cell("flags"));
}

function fillRecordLine(line, i) {
  const item = shownItems[i], p = part;
  const [sign, no, turn, kindCell, words, flags] = line.children;
  flags.textContent = "";
  sign.textContent = "";
  let label;
  if (item < 0) {
    const x = p.inserts[-1 - item];
    line.className = "line record added";
    sign.textContent = x.moved !== undefined ? markSigns[MOVES] : "+";
    no.textContent = "";
    turn.textContent = "";
    kindCell.textContent = x.insert.closer ? "closer" : x.moved !== undefined ? "moved" : "added";
    put(words, insertTitle(p, x) + (x.insert.call ? " " + x.insert.call : ""));
    flags.append(el("span", { class: "quiet" }, bytes(x.insert.bytes)));
    label = "added: " + insertTitle(p, x);
  } else {
    const r = p.rows[item], mark = view === "diff" ? p.marks[item] : 0;
    line.className = `line record group-${group(r)} state-${r[STATE] || 0}` + (mark === GOES || mark === MOVES ? " gone" : mark ? " changed" : "");
    if (mark) sign.textContent = markSigns[mark];
    no.textContent = r[LINE] ? number(r[LINE]) : hole(r) ? "" : number(r[N]);
    const [t, s] = turnOf(p, item);
    turn.textContent = t ? t + (s ? "." + s : "") : "";
    kindCell.textContent = kindName(r);
    put(words, gist(p, r, 180));
    for (const c of callsOf(p, r).slice(0, 4)) {
      const fate = p.calls[c][C.fate];
      const f = fateIcon(fate);
      flags.append(f);
    }
    if (p.talks && r[STATE] !== SENT && r[STATE]) flags.append(el("span", { class: "tag" }, states[r[STATE]]));
    const found = r[FINDINGS];
    if (found) {
      const severity = worst(p, found);
      flags.append(el("span", { class: "tag code severity-" + severity }, icon(severityShapes[severity], "severity-" + severity), p.findings[found[0]].code + (found.length > 1 ? " +" + (found.length - 1) : "")));
    }
    label = `${place(p, r)}: ${kindName(r)}` + (mark ? ", " + markWords[mark] : "") + (r[STATE] && p.talks ? ", " + states[r[STATE]] : "") +
      (found ? ", " + found.map((f) => p.findings[f].code).join(", ") : "") + ". " + gist(p, r, 120);
  }
  line.setAttribute("aria-label", safe(label));
}

// refresh shows the list anew after a change of part, view or filter; the chosen row stays.
function refresh() {
  items = itemsOf(part, view);
  shownItems = searched(items);
  byId("bench").style.setProperty("--lines", Math.max(items.length, 13));
  records.set(shownItems.length, chosenRow.part === part ? indexOf(chosenRow.row) : -1);
  count();
}

function count() {
  const n = shownItems.length, all = items.length;
  byId("records-count").textContent = n === all ? number(n) : `${number(n)} of ${number(all)}`;
  byId("records").classList.toggle("empty", n === 0);
}

// indexOf is where a row stands in the list, -1 where it is not shown.
function indexOf(row) {
  let lo = 0, hi = shownItems.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    const v = rowAbout(shownItems[mid]);
    if (v < row) lo = mid + 1;
    else hi = mid;
  }
  while (lo < shownItems.length && shownItems[lo] < 0 && rowAbout(shownItems[lo]) <= row) lo++;
  return shownItems[lo] === row ? lo : -1;
}

const rowAbout = (item) => (item >= 0 ? item : part.inserts[-1 - item].before);

// openPart shows the records of a part.
function openPart(p) {
  if (part === p && records.count) return;
  part = p;
  partChoices();
  kindChoices();
  byId("time").hidden = !p.calls.length && !p.turns.length;
  timeline.part(p);
  const runs = p.tree ? branches.part(p) : 0;
  byId("tree").hidden = runs < 2;
  if (runs > 1) {
    byId("tree").style.setProperty("--runs", Math.min(runs, 9));
    branches.list.set(runs, -1);
  }
  refresh();
}

function partChoices() {
  if (parts.length < 2) return;
  choices(byId("parts"), parts.filter((p) => p.rows.length || p.findings.length).map((p) => [p, safe(p.file), p.role]), part, openPart);
}

// chooseRow shows a row: in the list, in the bands, and what is known of it.
function chooseRow(p, row, { focus = false, keep = false, quiet = false } = {}) {
  openPart(p);
  let i = indexOf(row);
  if (i < 0 && view === "after") {
    setView("diff");
    i = indexOf(row);
  }
  if (i < 0) {
    clearSearch();
    i = indexOf(row);
  }
  chosenRow.part = p;
  chosenRow.row = row;
  if (i >= 0 && !quiet) records.choose(i, { focus, center: true, quiet: true });
  bands[p.index].point(row);
  timeline.stick();
  if (!byId("tree").hidden && !keep) branches.point(row);
  showDetail(p, row);
}

function setView(to) {
  view = to;
  viewChoices();
  refresh();
}

function viewChoices() {
  if (!parts.some((p) => p.plan)) return;
  choices(byId("views"), [["before", "Before", "As it lies on disk"], ["diff", "Diff", "What a repair would change (d)"], ["after", "After", "As a repair would leave it"]], view, setView);
}
