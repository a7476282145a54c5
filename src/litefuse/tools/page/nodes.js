// The graphs of the page as objects: nodes, what they are linked to, their numbers and colors.
const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 168, HEIGHT = 38;
const data = JSON.parse(document.getElementById("data").textContent);
document.documentElement.classList.add("has-script");

const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};
const drawn = (name, attributes = {}) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};
const shortened = (text, length) => {
  if (text.length <= length) return text;
  const end = Math.floor((length - 1) / 2);
  return text.slice(0, length - 1 - end) + "…" + text.slice(text.length - end);
};
// As much of a text as fits a box, in the font that boxes have.
const pen = document.createElement("canvas").getContext("2d");
const fitted = (text, size) => {
  pen.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  const fits = (made) => pen.measureText(made).width <= WIDTH - 18;
  let least = 1, most = Math.min(text.length, 80);
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(shortened(text, middle))) least = middle;
    else most = middle - 1;
  }
  return shortened(text, least);
};
const lastPart = (name) => name.split(";")[0].split("/").pop();
const counted = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;

// Nodes as objects: what a page's size would suffer from is not repeated in its data.
for (const [sideNumber, side] of data.sides.entries()) {
  for (const [graphNumber, graph] of side.graphs.entries()) {
    graph.number = graphNumber;
    graph.nodes = graph.nodes.map(([op, name, layer, mark, opens, facts], number) => ({
      side: sideNumber, graph: graphNumber, number, op, name, layer, mark, opens, facts, view: 0, linked: [],
    }));
    graph.views.forEach((view, viewNumber) => {
      view.number = viewNumber;
      view.boxes = view.boxes.map(([node, opened, count, outside, x, y]) => ({
        node, view: opened, count, outside, x, y,
      }));
      for (const box of view.boxes) {
        if (!box.outside && box.view < 0) graph.nodes[box.node].view = viewNumber;
        if (!box.outside && box.view >= 0) graph.views[box.view].title ||= "";
      }
    });
  }
}
const nodeAt = (side, graph, node) => data.sides[side].graphs[graph].nodes[node];
const BEFORE = data.sides.length === 2 ? 0 : -1, AFTER = data.sides.length - 1;
for (const [graph, node, linked] of data.links) {
  for (const [otherGraph, other] of linked) {
    nodeAt(AFTER, graph, node).linked.push(nodeAt(BEFORE, otherGraph, other));
    nodeAt(BEFORE, otherGraph, other).linked.push(nodeAt(AFTER, graph, node));
  }
}
const measures = data.measures; // name, unit, and the value of some nodes of the file
for (const measure of measures) {
  measure.of = new Map(measure.values.map(([graph, node, value]) => [nodeAt(AFTER, graph, node), value ?? Infinity]));
  measure.most = Math.max(...[...measure.of.values()].filter(Number.isFinite), 0);
  measure.bad = measure.only && new Set(measure.only.map(([graph, node]) => nodeAt(AFTER, graph, node)));
}
const kinds = data.kinds; // name, the titles of its classes, and the class of some nodes of the file
for (const kind of kinds) kind.of = new Map(kind.values.map(([graph, node, value]) => [nodeAt(AFTER, graph, node), value]));

// Not red, which is for what is wrong.
const classColour = (number) => `hsl(${(number * 173 + 170) % 280 + 40} 62% 58%)`;
// A color over that of boxes, which hide the edges behind them; so much of it that their text can be read.
const tinted = (color, share) => `color-mix(in srgb, ${color} ${share}, var(--box))`;
const shown = (measure, value) => {
  if (measure.unit === "s") return value >= 1e-3 ? `${(value * 1e3).toFixed(2)} ms` : `${(value * 1e6).toFixed(1)} µs`;
  if (measure.unit === "bytes") return counted(value, "byte");
  return value === 0 ? "0" : Number.isFinite(value) ? value.toPrecision(2) : "infinite, or not a number";
};

let colouring = "";
const colourOf = (nodes) => {
  const kind = kinds.find((each) => each.name === colouring);
  if (kind) {
    const found = nodes.map((node) => kind.of.get(node)).find((each) => each !== undefined);
    return found === undefined ? "" : tinted(classColour(found), "var(--tint)");
  }
  const measure = measures.find((each) => each.name === colouring);
  if (!measure) return "";
  const values = nodes.map((node) => measure.of.get(node)).filter((each) => each !== undefined);
  if (!values.length || (measure.bad && !nodes.some((node) => measure.bad.has(node)))) return "";
  const value = measure.unit ? values.reduce((sum, each) => sum + each, 0) : Math.max(...values);
  return tinted("rgb(222 70 40)", `${(6 + 66 * Math.min(1, value / (measure.most || 1))).toFixed(1)}%`);
};
