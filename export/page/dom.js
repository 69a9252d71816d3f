// What is shown. Text of a session gets into the page through put alone, and never as markup.

const byId = (id) => document.getElementById(id);

function el(tag, props, ...inside) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...inside.filter((n) => n !== null && n !== undefined && n !== ""));
  return node;
}

function svg(tag, attributes, ...inside) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  node.append(...inside);
  return node;
}

// Characters that show nothing, or change how others are shown: controls, format characters such as those that turn the
// direction of writing, line ends that only some know, bytes that are no UTF-8. Joiners stay, since scripts need them.
const unseen = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

function escaped(c) {
  const n = c.codePointAt(0);
  if (n >= 0xdc80 && n <= 0xdcff) return "\\x" + (n - 0xdc00).toString(16);
  if (n < 0x20 || n === 0x7f) return "\\x" + n.toString(16).padStart(2, "0");
  return "\\u{" + n.toString(16).padStart(4, "0") + "}";
}

const plain = /^[\x20-\x7e]*$/; // most texts are, and need no closer look

// safe is a text for labels, in one line.
function safe(text) {
  text = String(text);
  return plain.test(text) ? text : text.replace(unseen, escaped).replace(/[\n\t]+/g, " ");
}

// put shows a text in a node, with what cannot be seen spelled out.
function put(node, text) {
  text = String(text);
  if (plain.test(text)) {
    node.textContent = text;
    return node;
  }
  node.textContent = "";
  let at = 0;
  for (const m of text.matchAll(unseen)) {
    if (m.index > at) node.append(text.slice(at, m.index));
    node.append(el("span", { class: "esc" }, escaped(m[0])));
    at = m.index + m[0].length;
  }
  if (at === 0) node.textContent = text;
  else if (at < text.length) node.append(text.slice(at));
  return node;
}

// say is a node with a session's text.
const say = (tag, text, cls) => put(el(tag, { class: "text" + (cls ? " " + cls : "") }), text);

const number = (n) => Math.round(n).toLocaleString("en-US");

function bytes(n) {
  if (n < 10000) return number(n) + " B";
  for (const unit of ["kB", "MB", "GB"]) {
    n /= 1000;
    if (n < 1000 || unit === "GB") return (n < 100 ? n.toFixed(1) : number(n)) + " " + unit;
  }
}

const plural = (n, word) => number(n) + " " + word + (n === 1 ? "" : "s");

function clock(ms) {
  const d = new Date(ms);
  return isNaN(d) ? String(ms) : d.toISOString().replace("T", " ").replace("Z", " UTC");
}

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// tell says something to those who hear the page.
function tell(text) { byId("say").textContent = safe(text); }

// soon runs a function once before the next frame.
function soon(run) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; run(); });
  };
}

// choices makes a group of buttons of which one is pressed.
function choices(box, list, chosen, onchoose) {
  box.textContent = "";
  box.hidden = false;
  list.forEach(([value, label, title]) => {
    box.append(el("button", {
      type: "button", role: "radio", "aria-checked": String(value === chosen), tabindex: value === chosen ? "0" : "-1", title,
      onclick: () => onchoose(value),
      onkeydown: (e) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
        if (!step) return;
        e.preventDefault();
        e.stopPropagation();
        const at = list.findIndex(([v]) => v === value);
        onchoose(list[(at + step + list.length) % list.length][0]);
        box.querySelector("[aria-checked=true]").focus();
      },
    }, label));
  });
}
