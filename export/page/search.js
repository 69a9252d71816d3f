// Search and filters. Long logs are searched in slices, so that the page stays fluid.

const filter = { words: [], kind: "", state: "" };
let found = null; // of the rows of the part: 1 where they match; null = all do
let searching = 0;

function haystack(p, i) {
  const r = p.rows[i];
  const out = [kindName(r), states[r[STATE] || 0], r[ID] || "", r[PARENT] || "", r[SEQ] ? "seq " + (r[SEQ] - 1) : "", r[LINE] ? "line " + r[LINE] : ""];
  const list = r[EVENTS] || [];
  for (let k = 0; k < list.length; k += 6) {
    out.push(model.kinds[list[k]] || "");
    if (list[k + 5]) out.push(list[k + 5]);
  }
  for (const c of callsOf(p, r)) out.push(p.calls[c][C.id], p.calls[c][C.name], fates[p.calls[c][C.fate]]);
  for (const f of r[FINDINGS] || []) out.push(p.findings[f].code, p.findings[f].severity, p.findings[f].call || "");
  for (const m of r[TOLD] || []) {
    out.push(roles[m[0]], m[3] || "", m[4] || "");
    for (let k = 5; k < m.length; k++) out.push(m[k][4] || "", String(m[k][3] || ""));
  }
  return out.join("\n").toLowerCase();
}

function matches(p, i) {
  const r = p.rows[i];
  if (filter.state !== "" && String(r[STATE] || 0) !== filter.state) return false;
  if (filter.kind === "damaged") {
    if (!r[FINDINGS]) return false;
  } else if (filter.kind === "changed") {
    if (!p.marks[i]) return false;
  } else if (filter.kind !== "") {
    const list = r[EVENTS] || [];
    let has = false;
    for (let k = 0; k < list.length && !has; k += 6) has = String(list[k]) === filter.kind;
    if (!has) return false;
  }
  if (!filter.words.length) return true;
  const text = haystack(p, i);
  return filter.words.every((w) => text.includes(w));
}

const filtering = () => filter.words.length > 0 || filter.kind !== "" || filter.state !== "";

// searched are the lines that match; what a plan adds stays in sight as long as nothing is searched for.
function searched(list) {
  if (!found) return list;
  return list.filter((item) => (item >= 0 ? found[item] : filter.kind === "changed" && !filter.words.length));
}

// search looks through the part, a slice at a time.
function search() {
  const mine = ++searching, p = part;
  if (!filtering()) {
    found = null;
    byId("records").removeAttribute("aria-busy");
    refresh();
    return;
  }
  const hits = new Uint8Array(p.rows.length);
  let i = 0, shown = false;
  byId("records").setAttribute("aria-busy", "true");
  const slice = () => {
    if (mine !== searching || p !== part) return;
    const until = performance.now() + 10;
    while (i < hits.length) {
      hits[i] = matches(p, i) ? 1 : 0;
      if (++i % 64 === 0 && performance.now() > until) break;
    }
    if (i < hits.length) {
      if (!shown) byId("records-count").textContent = "searching";
      shown = true;
      setTimeout(slice);
      return;
    }
    byId("records").removeAttribute("aria-busy");
    found = hits;
    refresh();
    records.box.scrollTop = records.at >= 0 ? records.box.scrollTop : 0;
  };
  slice();
}

function clearSearch() {
  byId("search").value = byId("kind").value = byId("state").value = "";
  Object.assign(filter, { words: [], kind: "", state: "" });
  searching++;
  found = null;
  byId("records").removeAttribute("aria-busy");
  refresh();
}

// kindChoices lists the kinds that the part has.
function kindChoices() {
  const has = new Map();
  for (const r of part.rows) {
    const list = r[EVENTS] || [];
    for (let k = 0; k < list.length; k += 6) has.set(list[k], (has.get(list[k]) || 0) + 1);
  }
  const box = byId("kind");
  box.textContent = "";
  box.append(el("option", { value: "" }, "every kind"));
  if (part.findings.length) box.append(el("option", { value: "damaged" }, "with findings"));
  if (part.plan) box.append(el("option", { value: "changed" }, "changed by a repair"));
  for (const k of [...has.keys()].sort((a, b) => a - b)) box.append(el("option", { value: String(k) }, `${model.kinds[k]} (${number(has.get(k))})`));
  const seen = new Set(part.rows.map((r) => r[STATE] || 0));
  const state = byId("state");
  state.textContent = "";
  state.append(el("option", { value: "" }, "every state"));
  if (part.talks) for (const s of [...seen].sort()) state.append(el("option", { value: String(s) }, states[s]));
  state.hidden = !part.talks;
  Object.assign(filter, { kind: "", state: "" });
  found = null;
  if (filter.words.length) search();
}

function bindSearch() {
  const read = () => {
    filter.words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    filter.kind = byId("kind").value;
    filter.state = byId("state").value;
    search();
  };
  let wait;
  byId("search").addEventListener("input", () => {
    clearTimeout(wait);
    wait = setTimeout(read, 120);
  });
  byId("search").addEventListener("keydown", (e) => {
    if (e.key === "Escape") {
      clearSearch();
      records.choose(Math.max(records.at, 0), { focus: true });
    } else if (e.key === "Enter" || e.key === "ArrowDown") {
      e.preventDefault();
      clearTimeout(wait);
      read();
      if (shownItems.length) records.choose(Math.max(records.at, 0), { focus: true });
    } else return;
    e.stopPropagation();
  });
  byId("kind").addEventListener("change", read);
  byId("state").addEventListener("change", read);
}
