"use strict";
// The graphs of the page: two panes, before and after, that open layer by layer and point at each other.
(() => {
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
  }
  const kinds = data.kinds; // name, the titles of its classes, and the class of some nodes of the file
  for (const kind of kinds) kind.of = new Map(kind.values.map(([graph, node, value]) => [nodeAt(AFTER, graph, node), value]));

  const classColour = (number) => `hsl(${(number * 137.5 + 210) % 360} 62% 58%)`;
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
    if (!values.length) return "";
    const value = measure.unit ? values.reduce((sum, each) => sum + each, 0) : Math.max(...values);
    return tinted("rgb(222 70 40)", `${(6 + 66 * Math.min(1, value / (measure.most || 1))).toFixed(1)}%`);
  };

  class Pane {
    constructor(number, place) {
      this.number = number;
      this.side = data.sides[number];
      this.crumbs = element("div", { class: "crumbs" });
      this.svg = drawn("svg", { role: "application", tabindex: "0", "aria-label": this.side.title });
      const tool = (text, label, action) => {
        const made = element("button", { type: "button", title: label, "aria-label": label }, text);
        made.addEventListener("click", action);
        return made;
      };
      const bar = element("div", { class: "bar-of-pane" }, element("b", {}, this.side.title), this.crumbs,
        tool("↑", "One layer up", () => this.up()), tool("−", "Zoom out", () => this.zoom(1.3)),
        tool("+", "Zoom in", () => this.zoom(1 / 1.3)), tool("⤢", "Fit the whole graph", () => this.fit()));
      place.append(element("div", { class: "pane" }, bar, this.svg));
      this.svg.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
      this.svg.addEventListener("pointerdown", (event) => this.drag(event));
      this.svg.addEventListener("keydown", (event) => this.key(event));
      this.graph = null;
    }

    open(graph, view = 0) {
      this.graph = this.side.graphs[graph];
      this.view = this.graph.views[view];
      this.draw();
      this.begin();
    }

    only() { // the one layer beside which there is nothing but inputs and outputs; -1 if there are others
      const inside = this.view.boxes.filter((box) => !box.outside);
      const layers = inside.filter((box) => box.view >= 0);
      const rest = inside.filter((box) => box.view < 0).map((box) => this.graph.nodes[box.node]);
      const ends = rest.every((node) => node.mark === "input" || node.mark === "output" || node.op === "Identity");
      return layers.length === 1 && ends ? layers[0].view : -1;
    }

    nodesOf(box) { // all nodes that a box stands for
      if (box.view < 0 || box.outside) return [this.graph.nodes[box.node]];
      return this.graph.views[box.view].boxes.filter((each) => !each.outside).flatMap((each) => this.nodesOf(each));
    }

    draw() {
      const children = [];
      const edges = drawn("g");
      this.edges = this.view.edges.map(([from, to, way]) => {
        const path = drawn("path", { d: this.way(this.view.boxes[from], this.view.boxes[to], way) });
        edges.append(path);
        return { from, to, path };
      });
      children.push(edges);
      this.boxes = this.view.boxes.map((box, number) => {
        const group = drawn("g", { transform: `translate(${box.x - WIDTH / 2} ${box.y})`, tabindex: "-1", role: "button" });
        const node = this.graph.nodes[box.node];
        const folded = box.view >= 0 && !box.outside;
        const [title, sub] = this.texts(box, node, folded);
        group.setAttribute("class", ["box", folded ? "group" : node.mark, box.outside ? "outside" : ""].join(" "));
        group.setAttribute("aria-label", `${title}, ${sub}`);
        const rect = drawn("rect", { width: WIDTH, height: HEIGHT });
        const colour = this.number === AFTER && !box.outside ? colourOf(this.nodesOf(box)) : "";
        if (colour) {
          rect.style.fill = colour;
          group.classList.add("tinted");
        }
        const tip = drawn("title");
        tip.textContent = folded ? this.graph.views[box.view].title : `${node.op}\n${node.name}`;
        const first = drawn("text", { x: 9, y: 16 });
        first.textContent = fitted(title, 12);
        const second = drawn("text", { x: 9, y: 30, class: "sub" });
        second.textContent = fitted(sub, 10.5);
        group.append(tip, rect, first, second);
        group.addEventListener("click", () => { if (!this.dragged) select(this, number); });
        group.addEventListener("dblclick", () => this.enter(number));
        children.push(group);
        return group;
      });
      this.svg.replaceChildren(...children);
      this.trail();
    }

    texts(box, node, folded) {
      if (box.outside) return [node.layer ? lastPart(node.layer) : node.op, "outside of this layer"];
      if (folded) return [lastPart(this.graph.views[box.view].title), counted(box.count, "node")];
      if (node.mark === "input" || node.mark === "output") return [node.name, node.mark === "input" ? node.op : "output"];
      // A layer of one op has no box of its own: its name is that of the op.
      const scope = this.view.title ? `${this.view.title}/` : "";
      const inside = (name) => (scope && name.startsWith(scope) ? name.slice(scope.length) : name);
      const named = this.number === AFTER && node.layer !== this.view.title && node.layer ? inside(node.layer)
        : node.name.startsWith(scope) && !node.name.includes(";") ? inside(node.name) : lastPart(node.name);
      return [node.op, node.opens.length ? `${named} ▸` : named];
    }

    way(from, to, points) {
      const places = [[from.x, from.y + HEIGHT]];
      for (let i = 0; i < points.length; i += 2) places.push([points[i], points[i + 1]], [points[i], points[i + 1] + HEIGHT]);
      places.push([to.x, to.y]);
      let path = `M${places[0]}`;
      for (let i = 1; i < places.length; i++) {
        const [x0, y0] = places[i - 1], [x1, y1] = places[i];
        const middle = (y0 + y1) / 2;
        path += x0 === x1 ? `L${x1} ${y1}` : `C${x0} ${middle} ${x1} ${middle} ${x1} ${y1}`;
      }
      return path;
    }

    trail() {
      const views = [];
      for (let view = this.view; view; view = this.graph.views[view.parent]) views.unshift(view);
      const choice = element("select", { "aria-label": "Function or subgraph" });
      for (const graph of this.side.graphs) {
        const option = element("option", { value: graph.number }, shortened(graph.title, 44));
        option.selected = graph === this.graph;
        choice.append(option);
      }
      choice.addEventListener("change", () => this.open(Number(choice.value)));
      const parts = views.filter((view, place) => place || views.length > 1).map((view, place) => {
        const made = element("button", { type: "button" }, place ? lastPart(view.title) : lastPart(view.title) || "all");
        made.addEventListener("click", () => this.open(this.graph.number, view.number));
        return made;
      });
      this.crumbs.replaceChildren(...(this.side.graphs.length > 1 ? [choice, " "] : []),
        ...parts.flatMap((each, place) => (place ? [" / ", each] : [each])));
      if (this.graph.left) this.crumbs.append(` (${counted(this.graph.left, "node")} more, not drawn)`);
    }

    // Shows the whole width, or as much as can be read, from the top.
    begin() {
      const size = this.svg.getBoundingClientRect();
      const width = Math.min(Math.max(this.view.width + 40, size.width * 0.8), size.width * 1.9 || 800);
      this.look(-20 - Math.max(0, (width - this.view.width - 40) / 2), -20, width);
      if (this.view.width + 40 > width) { // wider than can be read: begin at the inputs
        const first = this.view.boxes.find((box) => !box.outside);
        if (first) this.look(first.x - width / 2, -20, width);
      }
    }

    fit() {
      const size = this.svg.getBoundingClientRect();
      const width = Math.max(this.view.width + 40, ((this.view.height + 40) * size.width) / size.height);
      this.look(-20 - (width - this.view.width - 40) / 2, -20, width);
    }

    look(x, y, width) {
      const size = this.svg.getBoundingClientRect();
      const height = (width * (size.height || 500)) / (size.width || 500);
      this.frame = { x, y, width, height };
      this.svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    }

    zoom(factor, at = null) {
      const { x, y, width, height } = this.frame;
      const wanted = Math.min(Math.max(width * factor, 120), 60000);
      const [fx, fy] = at ?? [0.5, 0.5];
      this.look(x + (width - wanted) * fx, y + (height - (wanted * height) / width) * fy, wanted);
    }

    wheel(event) {
      event.preventDefault();
      const size = this.svg.getBoundingClientRect();
      if (event.ctrlKey || event.metaKey) {
        this.zoom(Math.exp(event.deltaY / 300), [(event.clientX - size.left) / size.width, (event.clientY - size.top) / size.height]);
      } else {
        const scale = this.frame.width / size.width;
        this.look(this.frame.x + event.deltaX * scale, this.frame.y + event.deltaY * scale, this.frame.width);
      }
    }

    drag(event) {
      const { x, y, width } = this.frame;
      const scale = width / this.svg.getBoundingClientRect().width;
      this.dragged = false;
      const move = (moved) => {
        if (Math.hypot(moved.clientX - event.clientX, moved.clientY - event.clientY) > 4) this.dragged = true;
        if (this.dragged) this.look(x - (moved.clientX - event.clientX) * scale, y - (moved.clientY - event.clientY) * scale, width);
      };
      const stop = () => {
        window.removeEventListener("pointermove", move);
        window.removeEventListener("pointerup", stop);
      };
      window.addEventListener("pointermove", move);
      window.addEventListener("pointerup", stop);
    }

    key(event) {
      const step = { ArrowDown: 1, ArrowUp: -1, ArrowLeft: 0, ArrowRight: 0 }[event.key];
      if (step !== undefined) {
        event.preventDefault();
        const next = this.chosen === undefined ? this.boxes.length ? 0 : undefined : this.neighbour(event.key);
        if (next !== undefined) select(this, next, true);
      } else if (event.key === "Enter" && this.chosen !== undefined) this.enter(this.chosen);
      else if (event.key === "Backspace" || event.key === "u") this.up();
      else if (event.key === "+" || event.key === "=") this.zoom(1 / 1.3);
      else if (event.key === "-") this.zoom(1.3);
      else if (event.key === "0") this.fit();
      else return;
      event.preventDefault();
    }

    neighbour(key) {
      const here = this.view.boxes[this.chosen];
      const away = (number) => Math.abs(this.view.boxes[number].x - here.x);
      let others;
      if (key === "ArrowDown") others = this.edges.filter((each) => each.from === this.chosen).map((each) => each.to);
      else if (key === "ArrowUp") others = this.edges.filter((each) => each.to === this.chosen).map((each) => each.from);
      else {
        const right = key === "ArrowRight";
        others = this.view.boxes.map((_, number) => number).filter((number) => {
          const box = this.view.boxes[number];
          return box.y === here.y && (right ? box.x > here.x : box.x < here.x);
        });
      }
      return others.sort((one, other) => away(one) - away(other))[0];
    }

    enter(number) {
      const box = this.view.boxes[number], node = this.graph.nodes[box.node];
      if (box.outside) reveal(node);
      else if (box.view >= 0) this.open(this.graph.number, box.view);
      else if (node.opens.length) this.open(node.opens[0]);
      else return;
      mark();
    }

    up() {
      if (this.view.parent >= 0) this.open(this.graph.number, this.view.parent);
      else {
        const caller = this.side.graphs.flatMap((graph) => graph.nodes).find((node) => node.opens.includes(this.graph.number));
        if (caller) this.open(caller.graph, caller.view);
      }
      mark();
    }

    show(node) { // opens the view with a node, and returns its box
      if (this.graph !== this.side.graphs[node.graph] || this.view.number !== node.view) this.open(node.graph, node.view);
      return this.view.boxes.findIndex((box) => !box.outside && box.view < 0 && box.node === node.number);
    }

    centre(number) {
      const box = this.view.boxes[number];
      if (!box) return;
      const { width, height } = this.frame;
      // What fits is shown whole.
      const within = (middle, size, whole) => (whole + 40 <= size ? (whole - size) / 2
        : Math.min(Math.max(middle - size / 2, -20), whole + 20 - size));
      const y = this.view.height + 40 <= height ? -20 : within(box.y + HEIGHT / 2, height, this.view.height);
      this.look(within(box.x, width, this.view.width), y, width);
    }

    mark(chosen, linked) {
      this.chosen = undefined;
      this.boxes.forEach((group, number) => {
        const box = this.view.boxes[number];
        const nodes = box.outside ? [] : this.nodesOf(box);
        const isChosen = nodes.length > 0 && nodes.every((node) => chosen.has(node));
        const isLinked = !isChosen && nodes.some((node) => chosen.has(node) || linked.has(node));
        group.classList.toggle("selected", isChosen);
        group.classList.toggle("linked", isLinked);
        group.setAttribute("tabindex", isChosen && this.chosen === undefined ? "0" : "-1");
        if (isChosen && this.chosen === undefined) this.chosen = number;
      });
      for (const edge of this.edges) edge.path.classList.toggle("on", edge.from === this.chosen || edge.to === this.chosen);
    }
  }

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
  const recolour = () => {
    colouring = choice.value;
    const kind = kinds.find((each) => each.name === colouring);
    legend.replaceChildren(...(kind ? kind.classes.map((title, number) => {
      const patch = element("i");
      patch.style.background = tinted(classColour(number), "var(--tint)");
      return element("span", {}, patch, title);
    }) : colouring ? [element("span", {}, "the redder, the more")] : []));
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
})();
