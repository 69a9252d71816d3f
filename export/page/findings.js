// The list of all findings. n and p go from one to the next; the focus goes to the record.

const chosenFinding = { part: null, index: -1, at: -1 };
let findings;

function makeFindingLine() {
  return el("div", { class: "finding-line" }, el("span", { class: "mark" }), el("span", { class: "what" }, el("span", { class: "code" }), el("span", { class: "where quiet" })), el("span", { class: "title text" }));
}

function fillFindingLine(line, k) {
  const [p, i] = allFindings[k], f = p.findings[i];
  const [mark, what, title] = line.children;
  line.className = "line finding-line severity-" + f.severity;
  mark.textContent = "";
  mark.append(severityIcon(f.severity));
  what.children[0].textContent = f.code;
  const where = f.line ? "line " + number(f.line) : f.frame ? "frame " + number(f.frame) : f.logical ? "line " + number(f.logical) : f.off || f.len ? "offset " + number(f.off) : "";
  what.children[1].textContent = (parts.length > 1 ? safe(p.file) + " " : "") + where;
  put(title, f.message || (codes.get(f.code) || {}).title || "");
  line.setAttribute("aria-label", safe(`${f.severity} ${f.code}, ${where || "no place"}. ${f.message || ""}`));
}

function findingAt(p, i) { return allFindings.findIndex(([q, k]) => q === p && k === i); }

// chooseFinding shows a finding beside its record, which gets the focus.
function chooseFinding(p, i, { focus = true } = {}) {
  const at = findingAt(p, i);
  Object.assign(chosenFinding, { part: p, index: i, at });
  findings.choose(at, { quiet: true, center: true });
  const row = p.rowOfFinding.get(i);
  const f = p.findings[i];
  if (row === undefined) {
    showLoose(p, i);
    if (focus) byId("detail").focus({ preventScroll: true });
  } else {
    chooseRow(p, row, { focus });
    const card = byId("detail").querySelectorAll("article.finding")[p.rows[row][FINDINGS].indexOf(i)];
    if (card) card.classList.add("chosen");
    if (card) byId("detail").scrollTop = Math.max(card.offsetTop - 90, 0);
  }
  byId("bench").scrollIntoView({ block: "nearest" });
  tell(`finding ${at + 1} of ${allFindings.length}: ${f.severity} ${f.code}`);
  byId("findings-count").textContent = `${number(at + 1)} of ${number(allFindings.length)}`;
}

function nextFinding(step) {
  if (!allFindings.length) return tell("no findings");
  const at = chosenFinding.at < 0 ? (step > 0 ? 0 : allFindings.length - 1) : (chosenFinding.at + step + allFindings.length) % allFindings.length;
  chooseFinding(...allFindings[at]);
}
