// A list of any length, of which only the lines in sight are in the page. The chosen line has the list's place in the tab order,
// and stays in the page while it has the focus.

class List {
  constructor(box, options) {
    this.box = box;
    this.o = options;
    this.count = 0;
    this.at = -1;
    this.lines = new Map();
    this.spare = [];
    this.sizer = el("div", { class: "sizer", role: "presentation" });
    box.append(this.sizer);
    this.draw = soon(() => this.render());
    box.addEventListener("scroll", this.draw, { passive: true });
    box.addEventListener("keydown", (e) => this.key(e));
    box.addEventListener("click", (e) => {
      const line = e.target.closest(".line");
      if (line) this.choose(line.index, { focus: true });
    });
    new ResizeObserver(this.draw).observe(box);
  }

  set(count, at) {
    this.count = count;
    this.at = at === undefined ? Math.min(this.at, count - 1) : at;
    this.sizer.style.height = count * this.o.height + "px";
    for (const [i, line] of this.lines) this.drop(i, line);
    this.render();
  }

  drop(i, line) {
    this.lines.delete(i);
    line.remove();
    this.spare.push(line);
  }

  render() {
    const h = this.o.height;
    const first = Math.max(Math.floor(this.box.scrollTop / h) - 4, 0);
    const last = Math.min(Math.ceil((this.box.scrollTop + this.box.clientHeight) / h) + 4, this.count);
    for (const [i, line] of this.lines) if ((i < first || i >= last) && !(i === this.at && line === document.activeElement)) this.drop(i, line);
    for (let i = first; i < last; i++) if (!this.lines.has(i)) this.line(i);
    const tab = this.at >= first && this.at < last ? this.at : first;
    for (const [i, line] of this.lines) line.tabIndex = i === tab || i === this.at ? 0 : -1;
  }

  line(i) {
    const line = this.spare.pop() || this.o.make();
    line.index = i;
    line.classList.add("line");
    line.style.transform = `translateY(${i * this.o.height}px)`;
    line.setAttribute("role", "option");
    line.setAttribute("aria-posinset", i + 1);
    line.setAttribute("aria-setsize", this.count);
    this.o.fill(line, i);
    line.setAttribute("aria-selected", i === this.at);
    this.lines.set(i, line);
    this.sizer.append(line);
    return line;
  }

  // choose makes a line the chosen one.
  choose(i, { focus = false, center = false, quiet = false } = {}) {
    if (i < 0 || i >= this.count) return;
    const before = this.lines.get(this.at);
    this.at = i;
    if (before) before.setAttribute("aria-selected", "false");
    const h = this.o.height, top = this.box.scrollTop, room = this.box.clientHeight;
    if (center && (i * h < top + h || (i + 2) * h > top + room)) this.box.scrollTop = i * h - (room - h) / 2;
    else if (i * h < top) this.box.scrollTop = i * h;
    else if ((i + 1) * h > top + room) this.box.scrollTop = (i + 1) * h - room;
    this.render();
    const line = this.lines.get(i) || this.line(i);
    line.setAttribute("aria-selected", "true");
    for (const [k, l] of this.lines) l.tabIndex = k === i ? 0 : -1;
    if (focus) line.focus({ preventScroll: true });
    if (!quiet) this.o.onchoose(i);
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const page = Math.max(Math.floor(this.box.clientHeight / this.o.height) - 1, 1);
    const from = e.target.closest(".line") ? e.target.closest(".line").index : this.at;
    const to = { ArrowDown: from + 1, ArrowUp: from - 1, j: from + 1, k: from - 1, PageDown: from + page, PageUp: from - page, Home: 0, End: this.count - 1 }[e.key];
    if (to === undefined) {
      if (e.key === "Enter" && this.o.onopen) this.o.onopen(from);
      return;
    }
    e.preventDefault();
    e.stopPropagation();
    this.choose(Math.min(Math.max(to, 0), this.count - 1), { focus: true });
  }
}
