// A band for each part: the whole file, its records by who speaks, damaged bytes hatched. It can be zoomed.

class Band {
  constructor(p, choose) {
    this.p = p;
    this.choose = choose;
    this.from = 0;
    this.to = Math.max(p.size, 1);
    this.cursor = -1;
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.hits = el("div", { class: "hits", role: "group", "aria-label": "Damaged ranges" });
    this.pin = el("i", { class: "pin", hidden: true });
    this.view = el("div", { class: "band-view", tabindex: "0", role: "group" }, this.canvas, this.hits, this.pin);
    this.axis = el("div", { class: "axis", "aria-hidden": "true" });
    this.readout = el("span", { class: "readout" });
    const tool = (label, title, run) => el("button", { type: "button", class: "small", title, "aria-label": title, onclick: run }, label);
    this.box = el("div", { class: "band" },
      el("div", { class: "band-head" },
        say("span", p.file, "file"),
        p.role ? el("span", { class: "quiet" }, p.role) : "",
        el("span", { class: "quiet" }, p.missing ? "missing" : bytes(p.size) + (p.framed ? ", compressed" : "")),
        this.readout,
        el("span", { class: "grow" }),
        tool("−", "Zoom out", () => this.zoom(2)), tool("+", "Zoom in", () => this.zoom(0.5)), tool("Fit", "Show the whole file", () => this.show(0, Math.max(p.size, 1)))),
      this.view, this.axis);
    this.draw = soon(() => this.render());
    new ResizeObserver(this.draw).observe(this.view);
    this.view.addEventListener("pointermove", (e) => this.hover(e));
    this.view.addEventListener("pointerleave", () => this.read(null));
    this.view.addEventListener("pointerdown", (e) => this.press(e));
    this.view.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
    this.view.addEventListener("dblclick", () => this.show(0, Math.max(p.size, 1)));
    this.view.addEventListener("keydown", (e) => this.key(e));
  }

  show(from, to) {
    const size = Math.max(this.p.size, 1), least = Math.min(size, 64);
    let wide = Math.min(Math.max(to - from, least), size);
    from = Math.min(Math.max(from, 0), size - wide);
    this.from = from;
    this.to = from + wide;
    this.draw();
  }

  zoom(by, around) {
    const mid = around === undefined ? (this.cursor >= this.from && this.cursor <= this.to ? this.cursor : (this.from + this.to) / 2) : around;
    this.show(mid - (mid - this.from) * by, mid + (this.to - mid) * by);
  }

  x(offset) { return (offset - this.from) / (this.to - this.from) * this.width; }
  offset(e) {
    const box = this.view.getBoundingClientRect();
    return this.from + Math.min(Math.max((e.clientX - box.left) / box.width, 0), 1) * (this.to - this.from);
  }

  // rowAt is the row at an offset, or the last one in front of it.
  rowAt(offset) {
    const begins = this.p.begins || [];
    let lo = 0, hi = begins.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (begins[mid] <= offset) lo = mid + 1;
      else hi = mid;
    }
    return lo - 1;
  }

  hover(e) {
    const at = this.offset(e), i = this.rowAt(at);
    this.read(at, i);
    if (this.pressed === undefined || !e.buttons) return;
    this.selected = at;
    this.draw();
  }

  read(at, i) {
    this.readout.textContent = "";
    if (at === null) {
      this.readout.append(this.from > 0 || this.to < this.p.size ? `bytes ${number(this.from)} to ${number(this.to)}` : "");
      return;
    }
    const r = this.p.rows[i];
    const on = r && at < Math.max(this.p.ends[i], this.p.begins[i] + 1);
    this.readout.append(`offset ${number(at)}` + (on ? `, ${r[LINE] ? "line " + number(r[LINE]) + ", " : ""}${kindName(r)}` : ""));
  }

  press(e) {
    if (e.button !== 0 || e.target.closest("button")) return;
    this.pressed = this.offset(e);
    this.selected = undefined;
    this.view.setPointerCapture(e.pointerId);
    const done = () => {
      this.view.removeEventListener("pointerup", done);
      const [a, b] = [this.pressed, this.selected];
      this.pressed = this.selected = undefined;
      if (b !== undefined && Math.abs(this.x(b) - this.x(a)) > 6) this.show(Math.min(a, b), Math.max(a, b));
      else {
        const i = this.rowAt(a);
        if (i >= 0) this.choose(this.p, i);
      }
      this.draw();
    };
    this.view.addEventListener("pointerup", done);
  }

  wheel(e) {
    if (!e.ctrlKey && !e.shiftKey) return;
    e.preventDefault();
    if (e.ctrlKey) this.zoom(e.deltaY > 0 ? 1.25 : 0.8, this.offset(e));
    else {
      const by = (e.deltaY || e.deltaX) / this.width * (this.to - this.from);
      this.show(this.from + by, this.to + by);
    }
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const hits = [...this.hits.children];
    const on = hits.indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (step && on >= 0) hits[(on + step + hits.length) % hits.length].focus();
    else if (step) {
      const i = Math.min(Math.max(this.rowAt(this.cursor) + step, 0), this.p.rows.length - 1);
      if (i < 0) return;
      this.point(i);
      this.read(this.cursor, i);
      tell(`${place(this.p, this.p.rows[i])}, ${kindName(this.p.rows[i])}`);
    } else if (e.key === "Enter" && on < 0 && this.cursor >= 0) this.choose(this.p, this.rowAt(this.cursor));
    else if (e.key === "+" || e.key === "=") this.zoom(0.5);
    else if (e.key === "-") this.zoom(2);
    else if (e.key === "0") this.show(0, this.p.size);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }

  // point puts the cursor on a row, and moves the view there.
  point(i) {
    this.cursor = this.p.begins[i];
    if (this.cursor < this.from || this.cursor > this.to) {
      const wide = this.to - this.from;
      this.show(this.cursor - wide / 2, this.cursor + wide / 2);
    }
    this.stick();
  }

  // stick puts the pin where the cursor is.
  stick() {
    this.pin.hidden = !(this.cursor >= this.from && this.cursor <= this.to);
    this.pin.style.transform = `translateX(${this.x(this.cursor)}px)`;
  }

  render() {
    const wide = this.view.clientWidth, high = this.view.clientHeight, dense = window.devicePixelRatio || 1;
    if (!wide) return;
    this.width = wide;
    this.canvas.width = Math.round(wide * dense);
    this.canvas.height = Math.round(high * dense);
    const g = this.canvas.getContext("2d");
    g.scale(dense, dense);
    const body = high - 10; // the strip below is the plan's
    g.fillStyle = css("--sunk");
    g.fillRect(0, 0, wide, body);
    const colors = { user: css("--kind-user"), assistant: css("--kind-assistant"), tool: css("--kind-tool"), other: css("--kind-other"), hole: css("--sunk") };
    const rows = this.p.rows;
    let filled = -1;
    for (let i = Math.max(this.rowAt(this.from), 0); i < rows.length; i++) {
      const r = rows[i];
      if (this.p.begins[i] > this.to) break;
      if (hole(r)) continue;
      const a = this.x(this.p.begins[i]), b = this.x(this.p.ends[i]);
      if (Math.floor(b) <= filled) continue;
      const gap = b - a > 3 ? 0.5 : 0;
      g.fillStyle = colors[group(r)]; // one record stands for those that share its pixel
      const sent = r[STATE] === SENT || !this.p.talks;
      const tall = sent ? body : body / 2;
      g.fillRect(Math.max(a, filled), body - tall, Math.max(b - Math.max(a, filled) - gap, 0.6), tall);
      filled = Math.floor(b);
    }
    this.damage(g, body);
    this.planned(g, body, high);
    this.stick();
    if (this.selected !== undefined) {
      g.globalAlpha = 0.2;
      g.fillStyle = css("--accent");
      g.fillRect(this.x(Math.min(this.pressed, this.selected)), 0, Math.abs(this.x(this.selected) - this.x(this.pressed)), body);
      g.globalAlpha = 1;
    }
    this.ticks();
  }

  // damage hatches what findings are about, and puts a button over each.
  damage(g, body) {
    const spots = [];
    this.p.findings.forEach((f, i) => {
      if (!f.off && !f.len && !f.line) return;
      const row = this.p.framed && this.p.begins ? this.p.rowOfFinding.get(i) : undefined;
      const from = row === undefined ? f.off : this.p.begins[row], to = row === undefined ? f.off + f.len : this.p.ends[row];
      if (from > this.to || to < this.from) return;
      const a = Math.max(this.x(from), 0), b = Math.min(this.x(to), this.width);
      spots.push({ a: Math.min(a, this.width - 6), b: Math.max(b, Math.min(a, this.width - 6) + 6), list: [i] });
    });
    spots.sort((s, t) => s.a - t.a || s.b - t.b);
    const merged = [];
    for (const s of spots) {
      const m = merged[merged.length - 1];
      if (m && s.a < m.a + 6) { // too near to be two
        m.b = Math.max(m.b, s.b);
        m.list.push(...s.list);
      } else merged.push(s);
    }
    const focused = [...this.hits.children].indexOf(document.activeElement);
    this.hits.textContent = "";
    merged.forEach((s, k) => {
      const severity = worst(this.p, s.list);
      g.save();
      g.beginPath();
      g.rect(s.a, 0, s.b - s.a, body);
      g.clip();
      g.fillStyle = css(`--${severity}-soft`);
      g.fillRect(s.a, 0, s.b - s.a, body);
      g.strokeStyle = css(`--${severity}`);
      g.lineWidth = 1.2;
      g.beginPath();
      const lean = severity === "warning" ? -body : body; // errors and warnings lean to different sides, notes are level
      for (let x = Math.floor(s.a / 5) * 5 - body; severity !== "note" && x < s.b + body; x += 5) {
        g.moveTo(x, lean > 0 ? body : 0);
        g.lineTo(x + body, lean > 0 ? 0 : body);
      }
      for (let y = 2; severity === "note" && y < body; y += 5) {
        g.moveTo(s.a, y);
        g.lineTo(s.b, y);
      }
      g.stroke();
      g.restore();
      g.strokeStyle = css(`--${severity}`);
      g.lineWidth = 1;
      g.strokeRect(s.a + 0.5, 0.5, s.b - s.a - 1, body - 1);
      const first = this.p.findings[s.list[0]];
      const words = [...new Set(s.list.map((i) => this.p.findings[i].code))].slice(0, 4).join(", ");
      const label = `${plural(s.list.length, "finding")}: ${words}, at offset ${number(first.off)}, ${plural(first.len, "byte")}`;
      const hit = el("button", {
        type: "button", class: "hit", tabindex: k === 0 ? "0" : "-1", title: label, "aria-label": label,
        onclick: () => {
          const at = s.list.indexOf(chosenFinding.part === this.p ? chosenFinding.index : -1);
          chooseFinding(this.p, s.list[(at + 1) % s.list.length]);
        },
      });
      hit.style.left = s.a + "px";
      hit.style.width = s.b - s.a + "px";
      hit.style.height = body + "px";
      this.hits.append(hit);
    });
    if (focused >= 0 && this.hits.children.length) this.hits.children[Math.min(focused, this.hits.children.length - 1)].focus();
    this.view.setAttribute("aria-label", `${safe(this.p.file)}: bytes ${number(this.from)} to ${number(this.to)}, ${plural(merged.length, "damaged range")} in sight. Arrows go from record to record, + and - zoom`);
  }

  // planned marks below the band what a repair takes out, and where it adds something.
  planned(g, body, high) {
    const plan = this.p.plan;
    if (!plan || !this.p.marks) return;
    const mid = body + (high - body) / 2 + 1;
    const spot = (e) => {
      if (!this.p.framed) return e.at;
      let lo = 0, hi = this.p.rows.length;
      while (lo < hi) {
        const m = (lo + hi) >> 1;
        if ((this.p.rows[m][TEXT] || 0) <= e.at) lo = m + 1;
        else hi = m;
      }
      return e.at >= this.p.text || lo === 0 ? (lo === 0 ? 0 : this.p.size) : this.p.begins[lo - 1];
    };
    for (const e of this.p.framed ? plan.removed || [] : plan.edits) {
      const at = this.p.framed ? e.off : e.at, len = this.p.framed ? e.len : e.del || 0;
      if (!len || at > this.to || at + len < this.from) continue;
      g.fillStyle = css("--gone");
      g.fillRect(this.x(at), mid - 1.5, Math.max(this.x(at + len) - this.x(at), 3), 3);
    }
    g.fillStyle = css("--moved");
    for (let i = 0; i < this.p.rows.length; i++) {
      if (this.p.marks[i] !== CHANGES && this.p.marks[i] !== MOVES) continue;
      const at = this.p.framed ? this.p.begins[i] : this.p.edits.get(i)[0].at;
      if (at >= this.from && at <= this.to) g.fillRect(Math.min(this.x(at), this.width - 5), mid - 2.5, 5, 5);
    }
    for (const { edit: e } of this.p.inserts) {
      const at = spot(e);
      if (at < this.from || at > this.to) continue;
      const x = Math.min(Math.max(this.x(at), 4), this.width - 4);
      g.fillStyle = css("--added");
      g.beginPath();
      g.moveTo(x, body + 1);
      g.lineTo(x + 4, high - 1);
      g.lineTo(x - 4, high - 1);
      g.fill();
    }
  }

  ticks() {
    this.axis.textContent = "";
    const about = (this.to - this.from) / Math.max(Math.floor(this.width / 110), 2);
    const unit = 10 ** Math.floor(Math.log10(Math.max(about, 1)));
    const step = Math.max([1, 2, 5, 10].find((m) => m * unit >= about) * unit, 1);
    for (let at = Math.ceil(this.from / step) * step; at <= this.to; at += step) {
      const x = this.x(at);
      const tick = el("span", { class: x < 20 ? "first" : x > this.width - 30 ? "last" : "" }, number(at));
      tick.style.left = x + "px";
      this.axis.append(tick);
    }
  }
}

function bytesLegend() {
  const block = (cls) => el("i", { class: "swatch " + cls });
  const list = [
    [block("kind-user"), "user, system"], [block("kind-assistant"), "assistant"], [block("kind-tool"), "calls, results"], [block("kind-other"), "bookkeeping"],
    [block("half"), "half height: not sent"],
  ];
  const seen = new Set(allFindings.map(([p, i]) => p.findings[i].severity));
  for (const s of ["error", "warning", "note"]) if (seen.has(s)) list.push([block("hatch-" + s), s]);
  if (parts.some((p) => p.plan)) list.push([block("gone"), "taken out"], [icon("triangle", "added"), "added"], [block("moved"), "changed or moved"]);
  legend(byId("bytes-legend"), list);
}
