// One side of the page: a view of a graph, drawn, moved and walked through. It needs nodes.js.
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
