// The graph of scores, values, regret and luck over the positions of a game.
"use strict";

const GRAPH = { width: 360, height: 130, left: 30, right: 6, top: 8, bottom: 16 };
const SEAT_CLASSES = ["seat0", "seat1", "seat2", "seat3"];

// Values among several are in a unit of their own, as who is to move sees them: below the scores.
const VALUES = { height: 70, top: 16, bottom: 6 };

// What is drawn below the lines: one bar a position where it is known.
const BARS = [
  ["luck", "luck of the draws"],
  ["regret", "regret of the move"],
];

function drawGraph(container, frames, at) {
  container.replaceChildren();
  if (frames.length < 2) return;
  const barred = BARS.filter(([name]) => frames.some((frame) => Number.isFinite(frame.note?.[name])));
  const values = frames.map((frame) => frame.note?.value);
  const known = values.filter(Number.isFinite);
  const alone = frames[0].scores.length === 1;
  const lines = GRAPH.height + (known.length && !alone ? VALUES.height : 0); // where these end
  const height = lines + 44 * barred.length;
  const root = svgElement("svg", {
    viewBox: `0 0 ${GRAPH.width} ${height}`, role: "img", "aria-label": graphWords(frames, at), class: "graph",
  });
  const x = (k) => GRAPH.left + ((GRAPH.width - GRAPH.left - GRAPH.right) * k) / (frames.length - 1);
  const all = [...frames.flatMap((frame) => frame.scores), ...(alone ? known : [])];
  const low = Math.floor(Math.min(0, ...all));
  const high = Math.ceil(Math.max(low + 1, ...all));
  const y = (score) => GRAPH.top + ((GRAPH.height - GRAPH.top - GRAPH.bottom) * (high - score)) / (high - low);
  axis(root, low, high, y);
  frames[0].scores.forEach((_, seat) => {
    const points = frames.map((frame, k) => `${x(k).toFixed(1)},${y(frame.scores[seat]).toFixed(1)}`);
    root.append(svgElement("polyline", { points: points.join(" "), class: `line ${SEAT_CLASSES[seat % 4]}` }));
  });
  if (known.length && alone) {
    valueLine(root, values, x, y);
    words(root, GRAPH.height - 4, "dashed: value of the position");
  } else if (known.length) {
    seatValues(root, frames, known, x);
  }
  root.append(svgElement("line", { x1: x(at), x2: x(at), y1: GRAPH.top, y2: height - 4, class: "now" }));
  frames[at].scores.forEach((score, seat) => {
    root.append(svgElement("circle", { cx: x(at), cy: y(score), r: 3, class: `dot ${SEAT_CLASSES[seat % 4]}` }));
  });
  barred.forEach(([name, text], k) => bars(root, frames, name, text, lines + 44 * k, x));
  container.append(root);
  return root;
}

function axis(root, low, high, y) {
  for (const value of new Set([low, Math.round((low + high) / 2), high])) {
    root.append(svgElement("line", {
      x1: GRAPH.left, x2: GRAPH.width - GRAPH.right, y1: y(value), y2: y(value), class: "grid",
    }));
    const label = svgElement("text", { x: GRAPH.left - 5, y: y(value) + 3.5, class: "tick" });
    label.textContent = value;
    root.append(label);
  }
}

// The value at each position, in pieces where some are not known.
function valueLine(root, values, x, y) {
  let piece = [];
  [...values, undefined].forEach((value, k) => {
    if (Number.isFinite(value)) {
      piece.push(`${x(k).toFixed(1)},${y(value).toFixed(1)}`);
    } else {
      if (piece.length) root.append(svgElement("polyline", { points: piece.join(" "), class: "line value" }));
      piece = [];
    }
  });
}

// What each seat could expect when it was to move, one line a seat.
function seatValues(root, frames, known, x) {
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const [top, bottom] = [GRAPH.height + VALUES.top, GRAPH.height + VALUES.height - VALUES.bottom];
  const y = (value) => bottom - ((bottom - top) * (value - least)) / Math.max(most - least, 1e-9);
  words(root, GRAPH.height + 8, "value to each seat, when it is to move");
  for (const value of new Set([least, most])) {
    root.append(svgElement("line", {
      x1: GRAPH.left, x2: GRAPH.width - GRAPH.right, y1: y(value), y2: y(value), class: "grid",
    }));
    const label = svgElement("text", { x: GRAPH.left - 5, y: y(value) + 3.5, class: "tick" });
    label.textContent = value.toFixed(1).replace("-", "−");
    root.append(label);
  }
  frames[0].scores.forEach((_, seat) => {
    const points = frames.flatMap((frame, k) => (
      frame.to_move === seat && Number.isFinite(frame.note?.value) ? [`${x(k).toFixed(1)},${y(frame.note.value).toFixed(1)}`] : []
    ));
    root.append(svgElement("polyline", { points: points.join(" "), class: `line own ${SEAT_CLASSES[seat % 4]}` }));
  });
}

function words(root, y, text) {
  const label = svgElement("text", { x: GRAPH.left, y, class: "words" });
  label.textContent = text;
  root.append(label);
}

function bars(root, frames, name, text, top, x) {
  const numbers = frames.map((frame) => frame.note?.[name]).filter(Number.isFinite);
  const most = Math.max(1e-9, ...numbers.map(Math.abs));
  const middle = name === "regret" ? top + 36 : top + 24;
  const long = name === "regret" ? 24 : 12;
  words(root, top + 8, text);
  root.append(svgElement("line", {
    x1: GRAPH.left, x2: GRAPH.width - GRAPH.right, y1: middle, y2: middle, class: "grid",
  }));
  frames.forEach((frame, k) => {
    const value = frame.note?.[name];
    if (!Number.isFinite(value) || value === 0) return;
    const size = (long * Math.abs(value)) / most;
    const up = name === "regret" || value > 0;
    root.append(svgElement("rect", {
      x: x(k) - 1, width: 2, y: up ? middle - size : middle, height: size,
      class: name === "regret" || value < 0 ? "bad" : "good",
    }));
  });
}

function graphWords(frames, at) {
  const last = frames[frames.length - 1];
  return `Scores over ${frames.length} positions: now ${frames[at].scores.join(", ")}, at the last ${last.scores.join(", ")}`;
}
