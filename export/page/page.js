// The page as a whole.

const bands = [];
let timeline, branches;

function header() {
  const s = model.session;
  document.title = "sessfix: " + safe(s.id || s.path);
  put(byId("who"), s.id || s.path);
  byId("badge").append(badge(s.verdict));
  const card = byId("card");
  fact(card, "Agent", s.agent + (s.format ? ", format " + s.format : ""));
  fact(card, "Id", s.id, "mono");
  fact(card, "Directory", s.cwd, "mono");
  fact(card, "Path", s.path, "mono");
  fact(card, "Parent", s.parent, "mono");
  const n = { error: 0, warning: 0, note: 0 };
  for (const [p, i] of allFindings) n[p.findings[i].severity]++;
  const told = ["error", "warning", "note"].filter((k) => n[k]).map((k) => plural(n[k], k));
  fact(card, "Findings", told.join(", ") || "none");
  fact(card, "Size", bytes(s.size) + (parts.length > 1 ? ` in ${parts.length} parts` : ""));
  fact(card, "Records", number(s.records));
  fact(card, "Turns", number(s.turns));
  for (const p of parts) {
    if (!p.tail) continue;
    const open = (p.tail.turn ? ` in turn ${p.tail.turn}` + (p.tail.step ? `, step ${p.tail.step}` : "") : " in an open turn");
    fact(card, "Ends", el("span", null, open.trim() + (p.tail.calls ? "; without result: " : ""), ...(p.tail.calls || []).slice(0, 20).map((c) => el("span", { class: "open-call" }, say("span", c.name || "call"), " ", say("span", c.id, "mono"), ` (${c.state})`))));
  }
  for (const b of model.bases || []) fact(card, "Begins in", safe(b.file) + (b.bytes ? `, the first ${number(b.bytes)} bytes` : ""), "mono");
  for (const p of parts) {
    if (!p.plan) continue;
    const a = p.plan.account, goes = p.plan.edits.length;
    fact(card, "Repair", (parts.length > 1 ? safe(p.file) + ": " : "") + `${plural(goes, "edit")}; ${bytes(a.size)} = ${number(a.kept)} kept + ${number(a.quarantined)} to quarantine + ${number(a.replaced)} replaced; ${number(a.added)} added`);
  }
  const notices = byId("notices");
  for (const p of parts) {
    for (const o of p.offers || []) {
      let does = `cuts the log in front of line ${number(o.line)}, keeps ${plural(o.keeps, "record")} and sets ${plural(o.sets, "record")} aside`;
      if (o.restores) does = `restores a frame with its ${plural(o.restores, "line")}`;
      if (o.rebuilds) does = "writes a header of what is known";
      if (o.moves) does = `mends line ${number(o.line)} and moves the bytes behind it: forks and reverts of this session that lie elsewhere lose their place`;
      notices.append(el("p", { class: "notice" }, "Offered, since it loses something: ", el("code", null, "repair --accept " + o.code), " " + does + "."));
    }
  }
  if (!model.content) notices.append(el("p", { class: "notice quiet" }, "Content is hidden: texts are shown as their length and the beginning of their SHA-256. ", el("code", null, "--show-content"), " makes a page that holds them."));
  byId("foot").textContent = model.tool;
}

function loaded() {
  const notices = byId("notices");
  for (const p of parts) {
    if (p.hidden) notices.append(el("p", { class: "notice" }, `This page holds no more text than it can show at once: ${bytes(p.hidden)} of `, say("span", p.file), " are shown as lengths and hashes."));
    if (p.left) notices.append(el("p", { class: "notice" }, `This page holds the first ${number(p.rows.length)} records of `, say("span", p.file), ` and those with findings; ${number(p.left)} are left out.`));
  }
}

function theme() {
  const root = document.documentElement;
  const now = root.dataset.theme === "auto" ? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light") : root.dataset.theme;
  root.dataset.theme = now === "dark" ? "light" : "dark";
  redraw();
  tell(root.dataset.theme);
}

function redraw() {
  for (const b of bands) b.draw();
  timeline.draw();
}

const keyHelp = [
  ["n, p", "next, previous finding"], ["/", "search"], ["Esc", "leave the search, and show all records"], ["j, k, ↓, ↑", "next, previous line of a list"],
  ["Page, Home, End", "move in a list"], ["Enter", "go to the record's findings and text"], ["d", "before, diff, after"], ["t", "light or dark"],
  ["b, c, g, r", "go to the bytes, the calls, the branches, the records"], ["←, →", "in the bytes: from record to record; in the calls: from call to call"],
  ["+, −, 0", "in both: zoom in, out, all; Ctrl and the wheel do so too"], ["?", "this list"],
];

function help() {
  const box = byId("help");
  if (!box.firstChild) {
    const list = el("dl", { class: "keys" });
    for (const [k, what] of keyHelp) list.append(el("dt", null, k), el("dd", null, what));
    box.append(el("h2", { id: "help-title" }, "Keys"), list, el("button", { type: "button", onclick: () => box.close() }, "Close"));
  }
  if (box.open) box.close();
  else box.showModal();
}

function key(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea")) return;
  if (byId("help").open && e.key !== "?") return;
  const to = (node) => {
    node.scrollIntoView({ block: "nearest" });
    node.focus();
  };
  const run = {
    n: () => nextFinding(1), p: () => nextFinding(-1), "/": () => to(byId("search")), "?": help, t: theme,
    d: () => parts.some((x) => x.plan) && setView({ before: "diff", diff: "after", after: "before" }[view]),
    b: () => to(bands[part.index].view),
    c: () => to(timeline.root.querySelector("[tabindex='0']") || timeline.slide),
    g: () => !byId("tree").hidden && to(branches.box.querySelector("[tabindex='0']")),
    r: () => shownItems.length && records.choose(Math.max(records.at, 0), { focus: true }),
  }[e.key];
  if (!run) return;
  e.preventDefault();
  run();
}

function start() {
  loadRecords();
  parts.forEach((p, i) => {
    p.talks = i === model.session.talk;
    prepare(p);
  });
  part = parts[model.session.talk] || parts.find((p) => p.rows.length) || parts[0];
  timeline = new Timeline(byId("timeline"), (p, row) => chooseRow(p, row));
  branches = new Branches(byId("branches"), (p, row, o) => chooseRow(p, row, o));
  records = new List(byId("records"), {
    height: 26, make: makeRecordLine, fill: fillRecordLine,
    onchoose: (i) => {
      const item = shownItems[i];
      if (item < 0) return showInsert(part, part.inserts[-1 - item]);
      chooseRow(part, item, { quiet: true });
    },
    onopen: () => byId("detail").focus(),
  });
  viewChoices();
  if (part) openPart(part);
  for (const b of bands) b.draw();
  loaded();
  document.documentElement.dataset.ready = "yes";
}

header();
bytesLegend();
byId("bytes").classList.toggle("bands-many", parts.length > 2);
for (const p of parts) {
  const b = new Band(p, (q, row) => chooseRow(q, row));
  bands.push(b);
  byId("bytes").append(b.box);
}
findings = new List(byId("findings"), {
  height: 54, make: makeFindingLine, fill: fillFindingLine,
  onchoose: (k) => chooseFinding(...allFindings[k], { focus: false }),
  onopen: (k) => chooseFinding(...allFindings[k]),
});
findings.set(allFindings.length, -1);
byId("findings-count").textContent = number(allFindings.length);
byId("bench").classList.toggle("sound", allFindings.length === 0);
byId("theme").addEventListener("click", theme);
byId("keys").addEventListener("click", help);
addEventListener("keydown", key);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
bindSearch();
bindPrint();
if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
else start();
