// Shapes, so that nothing is told by colour alone.

const fates = ["finished", "failed", "not started", "outcome unknown", "synthetic result", "unanswered", "result without call"];
const fateHints = [
  "a result is stored", "the result says that it failed", "proved: it never began", "it may or may not have run: look before it is repeated",
  "some recovery wrote the result", "asked for; nothing says what became of it", "no call in front of it asks for it",
];

// Outlines in a box from -5 to 5.
const outlines = {
  disc: "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",
  cross: "M-4.5,-2.5L-2.5,-4.5L0,-2L2.5,-4.5L4.5,-2.5L2,0L4.5,2.5L2.5,4.5L0,2L-2.5,4.5L-4.5,2.5L-2,0Z",
  ring: "M-4.2,0a4.2,4.2 0 1,0 8.4,0a4.2,4.2 0 1,0 -8.4,0Z",
  diamond: "M0,-5L5,0L0,5L-5,0Z",
  square: "M-3.6,-3.6H3.6V3.6H-3.6Z",
  triangle: "M0,-4.6L4.8,3.8H-4.8Z",
  bar: "M-4.5,-1.6H4.5V1.6H-4.5Z",
  tee: "M-4.6,-3.8H4.8L0,4.6Z",
};
const fateShapes = ["disc", "cross", "ring", "diamond", "square", "triangle", "tee"];
const hollow = new Set(["ring", "square"]);
const severityShapes = { error: "cross", warning: "triangle", note: "disc" };

function shape(name, cls) {
  return svg("path", { d: outlines[name], class: "shape " + cls + (hollow.has(name) ? " hollow" : "") });
}

const icons = new Map();

function icon(name, cls) {
  const key = name + " " + cls;
  if (!icons.has(key)) icons.set(key, svg("svg", { viewBox: "-6 -6 12 12", class: "icon", "aria-hidden": "true" }, shape(name, cls)));
  return icons.get(key).cloneNode(true);
}

const fateIcon = (fate) => icon(fateShapes[fate], "fate-" + fate);
const severityIcon = (severity) => icon(severityShapes[severity], "severity-" + severity);

function badge(verdict) {
  const name = { clean: "disc", repairable: "diamond", refuse: "cross" }[verdict] || "ring";
  return el("span", { class: "badge verdict-" + verdict }, icon(name, "in"), { clean: "clean", repairable: "repairable", refuse: "refused" }[verdict] || verdict);
}

function legend(box, list) {
  box.textContent = "";
  for (const [mark, word, hint] of list) box.append(el("li", { title: hint }, mark, word));
}
