// The page: what is selected on either side, what is told of it, the search. It needs nodes.js and pane.js.
const place = document.getElementById("panes");
const panes = data.sides.map((_, number) => new Pane(number, place));
const details = document.getElementById("details");
if (panes.length < 2) { place.classList.add("one"); details.classList.add("one"); }

let chosen = new Set(), linked = new Set();

function mark() {
  for (const pane of panes) pane.mark(chosen, linked);
}

// Selects a box of a pane, and shows in the other what it is linked to.
function select(pane, number, move = false) {
  const box = pane.view.boxes[number];
  choose(pane, box.outside ? [pane.graph.nodes[box.node]] : pane.nodesOf(box), pane.graph.views[box.view]?.title);
  if (move) {
    pane.centre(number);
    pane.boxes[number]?.focus({ preventScroll: true });
  }
}

function choose(pane, nodes, layer = "") {
  chosen = new Set(nodes);
  linked = new Set(nodes.flatMap((node) => node.linked));
  const other = panes.find((each) => each !== pane);
  if (other && linked.size) follow(other, [...linked]);
  mark();
  tell(pane, nodes, layer);
  const name = layer || nodes[0].name.split(";")[0];
  history.replaceState(null, "", `#${pane.number === AFTER ? "after" : "before"}=${encodeURIComponent(name)}`);
}

// Opens the innermost view that has all of some nodes, or most of them.
function follow(pane, nodes) {
  const counts = new Map();
  for (const node of nodes) counts.set(node.graph, (counts.get(node.graph) ?? 0) + 1);
  const graph = [...counts].sort((one, other) => other[1] - one[1])[0][0];
  const views = pane.side.graphs[graph].views;
  const above = (view) => { const found = []; for (; view >= 0; view = views[view].parent) found.unshift(view); return found; };
  const trails = nodes.filter((node) => node.graph === graph).map((node) => above(node.view));
  let depth = 0;
  while (trails.every((trail) => trail.length > depth + 1 && trail[depth + 1] === trails[0][depth + 1])) depth++;
  const view = trails[0][depth];
  if (pane.graph.number !== graph || pane.view.number !== view) pane.open(graph, view);
  const wanted = new Set(nodes);
  pane.centre(pane.view.boxes.findIndex((box) => !box.outside && pane.nodesOf(box).some((node) => wanted.has(node))));
}

function reveal(node) {
  const pane = panes[node.side];
  const number = pane.show(node);
  choose(pane, [node]);
  pane.centre(number);
}

// The facts of what is selected, and of what it is linked to.
function tell(pane, nodes, layer) {
  const columns = panes.map((each) => {
    const mine = each === pane ? nodes : [...new Set(nodes.flatMap((node) => node.linked))];
    const column = element("div");
    if (!mine.length) {
      const why = each.number === AFTER ? "No op of the file is named after it: it was folded, fused or removed."
        : "The original has no node of its name: the converter made it.";
      column.append(element("p", { class: "note" }, why));
    }
    if (mine.length > 1) column.append(summary(mine, each === pane ? layer : ""));
    mine.slice(0, 40).forEach((node) => column.append(card(node)));
    if (mine.length > 40) column.append(element("p", { class: "note" }, `and ${counted(mine.length - 40, "node")} more`));
    return column;
  });
  details.replaceChildren(...columns);
}

function summary(nodes, layer) {
  const made = element("article", {}, element("h4", {}, layer || counted(nodes.length, "node")));
  const list = element("dl");
  for (const measure of measures) {
    const values = nodes.map((node) => measure.of.get(node)).filter((each) => each !== undefined);
    if (!values.length) continue;
    const value = measure.unit ? values.reduce((sum, each) => sum + each, 0) : Math.max(...values);
    list.append(element("dt", {}, measure.name), element("dd", {}, shown(measure, value)));
  }
  if (layer) list.append(element("dt", {}, "nodes"), element("dd", {}, String(nodes.length)));
  made.append(list);
  return made;
}

function card(node) {
  const title = element("h4", {}, node.op);
  const made = element("article", {}, title, element("div", { class: "name" }, node.name));
  const list = element("dl");
  const add = (name, text) => list.append(element("dt", {}, name), element("dd", {}, text));
  for (const measure of measures) if (measure.of.has(node)) add(measure.name, shown(measure, measure.of.get(node)));
  for (const kind of kinds) if (kind.of.has(node)) add(kind.name, kind.classes[kind.of.get(node)]);
  for (const [name, text] of node.facts) add(name, text);
  made.append(list);
  for (const opened of node.opens) {
    const graph = data.sides[node.side].graphs[opened];
    const button = element("button", { type: "button" }, `Open ${shortened(graph.title, 60)}`);
    button.addEventListener("click", () => { panes[node.side].open(opened); mark(); });
    made.append(element("p", {}, button));
  }
  const go = element("button", { type: "button" }, "Show in the graph");
  go.addEventListener("click", () => reveal(node));
  made.append(element("p", {}, go));
  return made;
}

// Search: layers first, then nodes by their names and ops.
const index = data.sides.flatMap((side, number) => side.graphs.flatMap((graph) => [
  ...(side.graphs.length > 1 ? [{ side: number, graph: graph.number, view: 0, text: graph.title, what: "graph" }] : []),
  ...graph.views.filter((view) => view.title).map((view) => ({ side: number, graph: graph.number, view: view.number, text: view.title, what: "layer" })),
  ...graph.nodes.map((node) => ({ side: number, node, text: node.name, what: node.op })),
]));
for (const each of index) each.folded = `${each.text} ${each.what}`.toLowerCase();
const input = document.querySelector("#search input"), found = document.getElementById("found");
let results = [], active = 0;

function find(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const [word] = words;
  // Keras and TensorFlow append numbers to names that are taken.
  const isNumbered = (part, stem) => part.startsWith(`${stem}_`) && /^_\d+$/.test(part.slice(stem.length));
  const near = (name) => {
    const last = lastPart(name);
    if (name === word) return 0;
    if (last === word) return 0.3;
    if (isNumbered(last, word)) return 0.4;
    if (name.split("/").some((part) => part === word || isNumbered(part, word))) return 1;
    return last.startsWith(word) ? 2 : name.includes(word) ? 3 : 4;
  };
  const score = (entry) => {
    const name = entry.text.toLowerCase();
    const names = entry.node ? [...name.split(";"), entry.what.toLowerCase()] : [name];
    const kind = entry.node ? 0.5 : entry.what === "graph" ? 0.7 : 0;
    return Math.min(...names.map(near)) + kind + (entry.side === AFTER ? 0 : 0.1) + Math.min(name.length, 400) / 10000;
  };
  return index.filter((entry) => words.every((word) => entry.folded.includes(word)))
    .map((entry) => [score(entry), entry]).sort((one, other) => one[0] - other[0]).slice(0, 60).map((each) => each[1]);
}

function list() {
  results = find(input.value);
  active = 0;
  found.replaceChildren(...results.map((entry, number) => {
    const made = element("li", { role: "option", id: `found-${number}`, "aria-selected": String(number === 0) },
      element("small", {}, `${data.sides[entry.side].title.split(":")[0]} · ${entry.what}`), entry.text);
    made.addEventListener("mousedown", (event) => { event.preventDefault(); go(entry); });
    return made;
  }));
  if (!results.length && input.value.trim()) found.append(element("li", { class: "note" }, "No layer, node or op has this name."));
  input.setAttribute("aria-expanded", String(results.length > 0));
  if (results.length) input.setAttribute("aria-activedescendant", "found-0");
  else input.removeAttribute("aria-activedescendant");
}

function close() {
  found.replaceChildren();
  input.setAttribute("aria-expanded", "false");
  input.removeAttribute("aria-activedescendant");
}

function go(entry) {
  close();
  input.blur();
  document.getElementById("graph").scrollIntoView();
  if (entry.node) reveal(entry.node);
  else openLayer(entry);
}

function openLayer({ side, graph, view, what }) {
  const pane = panes[side];
  if (what === "graph") {
    pane.open(graph);
    mark();
    return;
  }
  const parent = pane.side.graphs[graph].views[view].parent;
  pane.open(graph, Math.max(parent, 0));
  const number = pane.view.boxes.findIndex((box) => box.view === view && !box.outside);
  if (number < 0) choose(pane, pane.side.graphs[graph].nodes, pane.view.title);
  else { select(pane, number); pane.centre(number); }
}

input.addEventListener("input", list);
input.addEventListener("focus", list);
input.addEventListener("blur", close);
input.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && results[active]) go(results[active]);
  else if (event.key === "Escape") { input.value = ""; input.blur(); }
  else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    active = Math.max(0, Math.min(results.length - 1, active + (event.key === "ArrowDown" ? 1 : -1)));
    [...found.children].forEach((each, number) => each.setAttribute("aria-selected", String(number === active)));
    found.children[active]?.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", `found-${active}`);
  }
});

// Colours, theme, help, and names in tables that lead to the graph.
const choice = document.getElementById("colours"), legend = document.getElementById("legend");
for (const each of [...kinds, ...measures]) choice.append(element("option", { value: each.name }, each.name));
const forms = Object.entries({ composite: "composite", custom: "custom op", control: "loop or branch", call: "function" });
const marks = new Set(data.sides.flatMap((side) => side.graphs.flatMap((graph) => graph.nodes.map((node) => node.mark))));
const explained = (colour, title) => {
  const patch = element("i");
  patch.style.background = colour;
  return element("span", {}, patch, title);
};
const recolour = () => {
  colouring = choice.value;
  const kind = kinds.find((each) => each.name === colouring);
  legend.replaceChildren(...(kind ? kind.classes.map((title, number) => explained(tinted(classColour(number), "var(--tint)"), title))
    : colouring ? [element("span", {}, "the redder, the more")]
    : forms.filter(([form]) => marks.has(form)).map(([form, title]) => explained(`var(--${form})`, title))));
  if (panes[AFTER].graph) panes[AFTER].draw();
  mark();
};
choice.addEventListener("change", recolour);
document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
const help = document.getElementById("help");
document.getElementById("keys").addEventListener("click", () => help.showModal());
document.addEventListener("keydown", (event) => {
  if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) return;
  if (event.key === "/") { event.preventDefault(); input.focus(); }
  else if (event.key === "?") help.showModal();
  else if (event.key === "Escape" && !help.open) { chosen = new Set(); linked = new Set(); details.replaceChildren(); mark(); }
});
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("[data-layer]") : null;
  if (!link) return;
  event.preventDefault();
  jump("after", link.dataset.layer) || jump("before", link.dataset.layer);
});

// Selects the layer or node of a name; false if there is none.
function jump(side, name) {
  const number = side === "before" ? BEFORE : AFTER;
  const entry = index.find((each) => each.side === number && each.what === "layer" && each.text === name) ??
    index.find((each) => each.side === number && each.node && each.text.split(";").includes(name)) ??
    index.find((each) => each.side === number && each.node?.layer === name);
  if (!entry) return false;
  go(entry);
  return true;
}

// The header stays at the top, in as many lines as it needs: what is scrolled to is below it.
const header = document.querySelector("header");
new ResizeObserver(() => {
  document.documentElement.style.scrollPaddingTop = `${header.offsetHeight}px`;
}).observe(header);

for (const pane of panes) {
  const entry = pane.side.entries[0];
  pane.open(entry ? entry[1] : 0);
  for (let inner = pane.only(); inner >= 0; inner = pane.only()) pane.open(pane.graph.number, inner);
}
// What runs where is seen at once, if it is not all in one place.
choice.value = kinds.find((each) => each.classes.length > 1)?.name ?? "";
recolour();
const wanted = location.hash.match(/^#(before|after)=(.*)$/);
if (wanted) {
  try { jump(wanted[1], decodeURIComponent(wanted[2])); } catch { /* another's fragment */ }
}
