// Draws a position's scene as SVG, and makes its things ones to click, tab and walk to.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const CAPITALS = 0.7; // height of capitals; texts stand with their capitals centred on y
const FONTS = "Aileron, 'Helvetica Neue', Helvetica, Arial, sans-serif";

function byId(id) {
  return document.getElementById(id);
}

function svgElement(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) element.setAttribute(key, value);
  }
  return element;
}

function htmlElement(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function shapeElement(shape) {
  const paint = {
    fill: shape.fill ?? "none",
    stroke: shape.stroke,
    "stroke-width": shape.stroke ? (shape.width ?? 1) : null,
    "stroke-linejoin": shape.stroke ? "round" : null,
    "stroke-linecap": shape.stroke ? "round" : null,
    opacity: shape.opacity,
    "data-mark": shape.mark,
  };
  const points = shape.points?.map((point) => point.join(",")).join(" ");
  switch (shape.kind) {
    case "rect":
      return svgElement("rect", {
        x: shape.x, y: shape.y, width: shape.w, height: shape.h, rx: shape.radius, ...paint,
      });
    case "circle":
      return svgElement("circle", { cx: shape.x, cy: shape.y, r: shape.r, ...paint });
    case "polygon":
      return svgElement("polygon", { points, ...paint });
    case "line":
      return svgElement(shape.closed ? "polygon" : "polyline", { points, ...paint });
    case "text": {
      const text = svgElement("text", {
        x: shape.x,
        y: shape.y + (CAPITALS / 2) * shape.size,
        "font-size": shape.size,
        "font-weight": shape.bold ? "bold" : null,
        "text-anchor": shape.anchor ?? "middle",
        textLength: shape.length,
        lengthAdjust: shape.length ? "spacingAndGlyphs" : null,
        ...paint,
      });
      text.textContent = shape.text;
      return text;
    }
    default:
      throw new Error(`unknown kind of shape: ${shape.kind}`);
  }
}

// What a thing is called, for those who hear the page: what is written on it.
function nameOfThing(mark, texts) {
  const words = mark.replaceAll(":", " ");
  const written = texts.join(", ");
  return written ? `${words}: ${written.slice(0, 80)}` : words;
}

class Board {
  // `onPick(mark, element)` is called when a thing is clicked or chosen by key.
  constructor(container, onPick) {
    this.container = container;
    this.onPick = onPick;
    this.focused = "";
    container.addEventListener("click", (event) => {
      const found = event.target.closest("[data-mark]");
      if (found && this.interactive) this.onPick(found.dataset.mark, this.things.get(found.dataset.mark));
    });
    container.addEventListener("keydown", (event) => this.key(event));
    container.addEventListener("focusin", (event) => {
      const mark = event.target.dataset?.mark;
      if (mark) this.makeReachable(mark);
    });
  }

  // `legal`: {mark: what can be done there}; without `interactive` the things can't be chosen;
  // `tip`: the mark of what an agent would use.
  draw(scene, legal, interactive, tip) {
    const hadFocus = this.container.contains(document.activeElement);
    this.interactive = interactive;
    const root = svgElement("svg", {
      viewBox: `0 0 ${scene.width} ${scene.height}`,
      role: interactive ? "group" : "img",
      "font-family": FONTS,
    });
    const title = svgElement("title", { id: "scene-title" });
    title.textContent = scene.title;
    root.setAttribute("aria-labelledby", "scene-title");
    const picture = svgElement("g", { "aria-hidden": interactive ? "true" : null });
    const parts = new Map();
    const texts = new Map();
    for (const shape of scene.shapes) {
      const element = shapeElement(shape);
      picture.append(element);
      if (!shape.mark) continue;
      if (!parts.has(shape.mark)) parts.set(shape.mark, []);
      parts.get(shape.mark).push(element);
      if (shape.kind === "text") {
        if (!texts.has(shape.mark)) texts.set(shape.mark, []);
        texts.get(shape.mark).push(shape.text);
      }
    }
    root.append(title, picture);
    this.container.replaceChildren(root);
    this.things = new Map();
    if (!interactive) {
      if (hadFocus) this.container.focus({ preventScroll: true }); // until there are things again
      return;
    }
    for (const [mark, elements] of parts) {
      const name = nameOfThing(mark, texts.get(mark) ?? []);
      root.append(this.thing(mark, elements, name, legal.get(mark)));
    }
    this.things.get(tip)?.classList.add("tip");
    root.classList.add("interactive");
    this.makeReachable(this.things.has(this.focused) ? this.focused : this.firstMark(legal));
    if (hadFocus) this.things.get(this.focused)?.focus();
  }

  thing(mark, elements, name, actions) {
    const boxes = elements.map((element) => element.getBBox());
    const left = Math.min(...boxes.map((box) => box.x));
    const top = Math.min(...boxes.map((box) => box.y));
    const right = Math.max(...boxes.map((box) => box.x + box.width));
    const bottom = Math.max(...boxes.map((box) => box.y + box.height));
    const frame = svgElement("rect", {
      x: left - 2, y: top - 2, width: right - left + 4, height: bottom - top + 4, rx: 5,
      class: actions ? "thing legal" : "thing",
      "data-mark": mark,
      role: "button",
      tabindex: "-1",
      "aria-label": actions
        ? `${name}. ${actions.length === 1 ? actions[0].label : `${actions.length} actions`}`
        : `${name}. Nothing can be done here now`,
    });
    if (actions) for (const element of elements) element.classList.add("on-legal");
    this.things.set(mark, frame);
    return frame;
  }

  // Move a board that is larger than its place until a thing is in sight.
  reveal(mark) {
    const thing = this.things.get(mark)?.getBoundingClientRect();
    if (!thing) return;
    const place = this.container.getBoundingClientRect();
    if (thing.left < place.left || thing.right > place.right) {
      this.container.scrollLeft += (thing.left + thing.right - place.left - place.right) / 2;
    }
  }

  firstMark(legal) {
    for (const mark of this.things.keys()) if (legal.has(mark)) return mark;
    return this.things.keys().next().value ?? "";
  }

  // One thing at a time is reached by Tab; the arrows lead from it to the others.
  makeReachable(mark) {
    this.things.get(this.focused)?.setAttribute("tabindex", "-1");
    this.focused = mark;
    this.things.get(mark)?.setAttribute("tabindex", "0");
  }

  key(event) {
    const mark = event.target.dataset?.mark;
    if (!mark || !this.interactive || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") {
      this.onPick(mark, event.target);
    } else if (event.key.startsWith("Arrow")) {
      this.nearest(event.target, event.key)?.focus();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  // The thing that lies next in a direction: near, and not far off to the side.
  nearest(from, arrow) {
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[arrow];
    const centre = (element) => {
      const box = element.getBBox();
      return [box.x + box.width / 2, box.y + box.height / 2];
    };
    const [x, y] = centre(from);
    let best = null;
    let least = Infinity;
    for (const other of this.things.values()) {
      if (other === from) continue;
      const [ox, oy] = centre(other);
      const ahead = (ox - x) * dx + (oy - y) * dy;
      const aside = Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx);
      if (ahead <= 1) continue;
      const cost = ahead + 2 * aside;
      if (cost < least) [best, least] = [other, cost];
    }
    return best;
  }
}
