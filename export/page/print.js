// What is printed: the card, all findings, and the transcript up to a bound, without a list that scrolls.

const mostPrinted = 2000;
let screenTheme;

function fillPaper() {
  const box = byId("paper");
  if (!box.hidden) return;
  box.hidden = false;
  box.textContent = "";
  screenTheme = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  for (const b of bands) b.render(); // now: a frame may come too late
  const some = allFindings.slice(0, mostPrinted);
  box.append(el("h2", null, plural(allFindings.length, "finding")));
  for (const [p, i] of some) {
    const card = findingCard(p, i);
    if (parts.length > 1) card.prepend(say("p", p.file, "quiet"));
    box.append(card);
  }
  for (const p of parts) {
    if (!p.plan) continue;
    box.append(el("h2", null, "What a repair would do to ", say("span", p.file)));
    const list = el("ul");
    p.rows.forEach((r, i) => {
      if (p.marks[i]) list.append(el("li", null, `${markSigns[p.marks[i]]} ${place(p, r)}, ${plural(r[LEN] || 0, "byte")}: ${markWords[p.marks[i]]}`));
    });
    for (const x of p.inserts) list.append(el("li", null, "+ ", say("span", insertTitle(p, x) + (x.insert.call ? " " + x.insert.call : ""))));
    box.append(list);
  }
  const talk = parts[model.session.talk] || parts[0];
  if (!talk) return;
  const items = itemsOf(talk, "before").filter((i) => talk.rows[i][TOLD] || talk.rows[i][FINDINGS]);
  box.append(el("h2", null, "Transcript of ", say("span", talk.file)));
  if (items.length > mostPrinted) box.append(el("p", null, `The first ${number(mostPrinted)} of ${number(items.length)} records that say something.`));
  for (const i of items.slice(0, mostPrinted)) {
    const r = talk.rows[i];
    const tags = [place(talk, r)];
    if (r[STATE] !== SENT && talk.talks && !hole(r)) tags.push(states[r[STATE] || 0]);
    for (const f of r[FINDINGS] || []) tags.push(talk.findings[f].code);
    for (const c of callsOf(talk, r)) tags.push(fates[talk.calls[c][C.fate]]);
    box.append(el("div", { class: "printed" }, el("p", { class: "quiet" }, tags.join(" · ")), ...(r[TOLD] ? toldOf(r, 2000) : [el("p", null, kindName(r))])));
  }
  for (const b of box.querySelectorAll("button")) b.remove();
}

function emptyPaper() {
  if (byId("paper").hidden) return;
  document.documentElement.dataset.theme = screenTheme;
  redraw();
  byId("paper").hidden = true;
  byId("paper").textContent = "";
}

function bindPrint() {
  addEventListener("beforeprint", fillPaper);
  addEventListener("afterprint", emptyPaper);
  matchMedia("print").addEventListener("change", (e) => (e.matches ? fillPaper() : emptyPaper()));
}
