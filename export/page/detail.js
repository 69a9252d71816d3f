// What is known of one record, with its findings beside it.

function fact(list, name, value, cls) {
  if (value === undefined || value === null || value === "" || value === false) return;
  list.append(el("dt", null, name), value instanceof Node ? el("dd", { class: cls }, value) : put(el("dd", { class: "text " + (cls || "") }), value));
}

const go = (p, row, words) => el("button", { type: "button", class: "link", onclick: () => chooseRow(p, row, { focus: true }) }, words);

function findingCard(p, i, level = "h3") {
  const f = p.findings[i], c = codes.get(f.code) || {};
  const card = el("article", { class: "finding severity-" + f.severity });
  card.append(el(level, null, severityIcon(f.severity), el("span", { class: "code" }, f.code), el("span", { class: "quiet" }, f.severity)));
  card.append(el("p", { class: "title" }, c.title || ""));
  if (f.message) card.append(say("p", f.message));
  const list = el("dl", { class: "advice" });
  if (f.call) fact(list, "Call", f.call, "mono");
  fact(list, "Where", [f.line ? "line " + number(f.line) : f.logical ? "line " + number(f.logical) : "", f.frame ? "frame " + number(f.frame) : "", `offset ${number(f.off)}, ${plural(f.len, "byte")}`].filter(Boolean).join(", "));
  fact(list, "Means", c.means);
  fact(list, "Next", f.client);
  fact(list, "Repair", f.repair || c.repair);
  fact(list, "Never", f.never || c.never, "never");
  if (f.because) fact(list, "Because", f.because, "code");
  card.append(list);
  return card;
}

function insertCard(p, x, level = "h3") {
  const card = el("article", { class: "planned adds" }, el(level, null, el("b", null, "+ "), insertTitle(p, x)));
  const list = el("dl", { class: "advice" });
  if (x.insert.call) fact(list, "Call", x.insert.call, "mono");
  fact(list, "At", `offset ${number(x.edit.at)} of the text, ${plural(x.insert.bytes, "byte")}`);
  fact(list, "Cures", (x.edit.cures || []).join(", "));
  card.append(list);
  if (x.moved !== undefined) {
    card.append(go(p, x.moved, "Go to where it stands"), ...toldOf(p.rows[x.moved], 4000));
    return card;
  }
  if (x.insert.text && x.insert.text.trim()) card.append(el("pre", { class: "adds" }, say("code", x.insert.text.replace(/\n$/, ""))));
  else if (x.insert.text === undefined) card.append(el("p", { class: "quiet" }, `content hidden: ${bytes(x.insert.bytes)} #${x.insert.hash}`));
  return card;
}

function editCard(p, row, e) {
  const what = hole(p.rows[row]) ? "These bytes are " : "This record is ";
  const whole = p.marks[row] === MOVES ? "This record moves to another place" : what + (p.marks[row] === GOES ? "taken out" : "changed");
  const card = el("article", { class: "planned" + (e.del ? " takes" : " adds") }, el("h3", null, whole));
  const list = el("dl", { class: "advice" });
  if (e.del) fact(list, "Out", `${plural(e.del, "byte")} at offset ${number(e.at)}` + (e.aside ? ", to quarantine" : ", replaced"));
  if (e.blank) fact(list, "In", plural(e.blank, "space") + ", so that nothing moves");
  for (const x of e.ins || []) {
    fact(list, "In", x.text !== undefined ? (x.text.trim() === "" ? "a newline" : x.text) : `${bytes(x.bytes)} #${x.hash}`, "mono");
  }
  fact(list, "Cures", (e.cures || []).join(", "));
  card.append(list);
  return card;
}

function eventTable(p, r) {
  const list = r[EVENTS] || [];
  const body = el("tbody");
  for (let i = 0; i < list.length && i < 6 * 200; i += 6) {
    const call = p.calls[list[i + 4] - 1];
    const flags = [list[i + 1] & 1 ? "synthetic" : "", list[i + 1] & 2 ? "ignorable" : "", list[i + 1] & 4 ? "inherited" : ""].filter(Boolean).join(", ");
    body.append(el("tr", null, el("td", null, model.kinds[list[i]] || "?"), el("td", null, list[i + 2] ? String(list[i + 2]) + (list[i + 3] ? "." + list[i + 3] : "") : ""),
      call ? say("td", call[C.id] || "(empty id)", "mono") : say("td", list[i + 5] || "", "mono"), el("td", null, flags)));
  }
  return el("table", null, el("thead", null, el("tr", null, ...["Event", "Turn", "Id", ""].map((h) => el("th", { scope: "col" }, h)))), body);
}

function callCard(p, c) {
  const x = p.calls[c], fate = x[C.fate];
  const list = el("dl", { class: "advice" });
  const step = (name, row) => {
    if (row > 0) fact(list, name, go(p, row - 1, p.rows[row - 1][LINE] ? "line " + number(p.rows[row - 1][LINE]) : "record " + number(p.rows[row - 1][N])));
    else if (row < 0) fact(list, name, "in a record that this page does not hold");
  };
  step("Asked", x[C.asked]);
  step("Started", x[C.started]);
  step("Result", x[C.ended]);
  if (x[C.again]) fact(list, "Also", "answered more than once");
  return el("article", { class: "call-card" }, el("h3", null, fateIcon(fate), say("span", x[C.name] || "call"), el("span", { class: "quiet" }, fates[fate])), say("p", x[C.id] || "(empty id)", "mono"), el("p", { class: "quiet" }, fateHints[fate]), list);
}

const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];

function toldBlock(b, most) {
  const [k, flags, size, said, name, media, data] = b;
  const head = el("div", { class: "block-head" }, el("span", { class: "tag" }, blocks[k]), name ? say("b", name) : "", flags & FAILED ? el("span", { class: "tag severity-error" }, "failed") : "",
    flags & MADE_UP ? el("span", { class: "tag" }, "synthetic") : "", flags & SEALED ? el("span", { class: "tag" }, "sealed") : "", media ? say("span", media, "quiet") : "", el("span", { class: "quiet" }, bytes(size)));
  const out = el("div", { class: `block block-${blocks[k]}` + (flags & INNER ? " inner" : "") }, head);
  if (flags & HIDDEN) {
    head.append(el("span", { class: "quiet mono" }, "#" + said));
    return out;
  }
  if (data && imageTypes.includes(media) && /^[A-Za-z0-9+/=\s]+$/.test(data)) out.append(el("img", { src: `data:${media};base64,${data.replace(/\s+/g, "")}`, alt: "image of the session" }));
  if (said) {
    let text = String(said);
    const short = text.length > most ? most : text.length;
    const pre = el("pre", null, say("code", text.slice(0, short)));
    out.append(pre);
    if (text.length > short) out.append(el("button", { type: "button", class: "small", onclick: (e) => { put(pre.firstChild, text); e.target.remove(); } }, `Show ${number(text.length - short)} more`));
    if (flags & CUT) out.append(el("p", { class: "quiet" }, "The page holds no more of it."));
  }
  return out;
}

function toldOf(r, most) {
  const out = [];
  for (const m of r[TOLD] || []) {
    const box = el("div", { class: "told role-" + roles[m[0]] }, el("div", { class: "told-head" }, el("b", null, roles[m[0]]), m[3] ? say("span", m[3]) : "", m[4] ? say("span", m[4], "quiet") : "",
      m[1] ? el("span", { class: "tag" }, audiences[m[1]]) : "", m[2] & 1 ? el("span", { class: "tag" }, "stands for what was said before") : "", m[2] & 2 ? el("span", { class: "tag" }, "copy") : ""));
    for (let i = 5; i < m.length; i++) box.append(toldBlock(m[i], most));
    out.push(box);
  }
  return out;
}

function showDetail(p, row) {
  const box = byId("detail"), r = p.rows[row];
  box.textContent = "";
  box.scrollTop = 0;
  const list = el("dl", { class: "facts" });
  box.append(el("h2", null, kindName(r)), list);
  fact(list, "Place", place(p, r) + ", " + plural(r[LEN] || 0, "byte"), "mono");
  if (p.framed && r[TEXT]) fact(list, "In the text", "offset " + number(r[TEXT]), "mono");
  if (!hole(r)) fact(list, "Record", number(r[N]) + (r[SEQ] ? ", sequence " + number(r[SEQ] - 1) : ""), "mono");
  fact(list, "Id", r[ID] || "", "mono");
  if (r[PARENT]) {
    const up = r[UP] ? rowOfNumber(p, r[UP]) : -1;
    fact(list, "Under", up >= 0 ? el("span", null, say("span", r[PARENT], "mono"), " ", go(p, up, "go")) : r[PARENT] + " (not here)", "mono");
  }
  if (r[TIME]) fact(list, "Time", clock(r[TIME]), "mono");
  if (p.talks && !hole(r)) fact(list, "In the talk", states[r[STATE] || 0]);
  const marks = [[1, "cut out of a faulty line or frame"], [2, "no newline at its end"], [4, "something stands behind it on its line"], [8, "a key stands twice in it"]].filter(([m]) => r[MARKS] & m).map(([, w]) => w);
  fact(list, "Found", marks.join("; "));
  for (const f of r[FINDINGS] || []) box.append(findingCard(p, f));
  if (view !== "before") for (const e of p.edits.get(row) || []) box.append(editCard(p, row, e));
  const told = toldOf(r, 4000);
  if (told.length) box.append(el("h3", { class: "sub" }, "Says"), ...told);
  const calls = callsOf(p, r);
  if (calls.length) box.append(el("h3", { class: "sub" }, "Calls"), ...calls.slice(0, 50).map((c) => callCard(p, c)));
  if (r[EVENTS]) box.append(el("h3", { class: "sub" }, "Events"), eventTable(p, r));
}

function rowOfNumber(p, n) {
  let lo = 0, hi = p.rows.length;
  // Holes have no number: they count as what stands in front of them.
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    let at = mid;
    while (at < hi && hole(p.rows[at])) at++;
    if (at < hi && p.rows[at][N] < n) lo = at + 1;
    else hi = mid;
  }
  while (lo < p.rows.length && hole(p.rows[lo])) lo++;
  return p.rows[lo] && p.rows[lo][N] === n ? lo : -1;
}

function showInsert(p, x) {
  const box = byId("detail");
  box.textContent = "";
  box.scrollTop = 0;
  box.append(el("h2", null, "What a repair adds"), insertCard(p, x));
}

// showLoose shows a finding that no record has.
function showLoose(p, i) {
  const box = byId("detail");
  box.textContent = "";
  box.scrollTop = 0;
  box.append(el("h2", null, "About the session as a whole"), findingCard(p, i));
}
