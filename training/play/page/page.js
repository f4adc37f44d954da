// One page for replays and for play: shows a position and leads through those of a game.
//
// A replay holds its game in the element `data`; without it the page is a table to play at, and
// live.js fills in the game and what can be done.
"use strict";

const STEP = 800; // ms from one position to the next, when they play by themselves
const MOVE = 450; // ms that each move of others is shown for
// px that the board is wide; one that is too small to be read isn't shown at first.
const BOARDS = [760, 1140, 1520, 1900];
const READABLE = 700;

const page = {
  game: { players: [] },
  frames: [],
  at: 0,
  table: null, // at a table: {act(action), explain(mark)}, see live.js
  hint: null, // {agent, action, probabilities, value} for the last position
  digits: "", // typed so far
  timer: 0,
  size: null, // px that the board was made wide; 0: as there is room; null: nobody has said
};
const board = new Board(byId("scene"), pick);

function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

function frameNow() {
  return page.frames[page.at];
}

function isLast() {
  return page.at === page.frames.length - 1;
}

// Whether the person at the page can do something in the position that is shown.
function canAct() {
  return Boolean(page.table && isLast() && page.game.persons.includes(frameNow().to_move));
}

function playerName(seat) {
  const held = page.game.players[seat] ?? `seat ${seat}`;
  const alone = page.table && page.game.persons.length === 1 && page.game.persons[0] === seat;
  const name = alone && held === "person" ? "you" : held; // a game that is over may be of others
  return page.game.players.length > 1 ? `${name} (seat ${seat})` : name;
}

// The same where a sentence begins.
function subject(seat) {
  return playerName(seat).replace(/^you/, "You");
}

// A sentence, however what it begins with is written.
function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

function say(text) {
  const said = byId("said");
  said.textContent = "";
  said.textContent = text;
}

// A button that leads nowhere now keeps the focus if it has it.
function enable(id, enabled) {
  byId(id).setAttribute("aria-disabled", String(!enabled));
}

function focusActions() {
  (byId("actions").querySelector("button") ?? byId("actions")).focus();
}

// Frames come with the shapes that many of them share apart.
function unpacked(frames, shapes) {
  for (const frame of frames) frame.scene.shapes = frame.scene.shapes.map((k) => shapes[k]);
  return frames;
}

// Showing ------------------------------------------------------------------------------------

function show(at, { speak = true } = {}) {
  page.at = Math.max(0, Math.min(at, page.frames.length - 1));
  page.digits = "";
  const frame = frameNow();
  byId("heading").textContent = [frame.heading, frame.asked, page.game.deal].filter(Boolean).join(" · ");
  const hinted = isLast() && frame.legal.find((legal) => legal.action === page.hint?.action);
  board.draw(frame.scene, marksOf(frame), canAct(), hinted?.mark);
  showTimeline();
  showScores(frame);
  showActions(frame);
  showNote(frame);
  showMoves();
  const graph = drawGraph(byId("graph"), page.frames, page.at);
  graph?.addEventListener("click", (event) => {
    const box = graph.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width * GRAPH.width - GRAPH.left)
      / (GRAPH.width - GRAPH.left - GRAPH.right);
    stop();
    show(Math.round(share * (page.frames.length - 1)));
  });
  if (speak) say(wordsOf(frame));
}

function wordsOf(frame) {
  return `${frame.done ? doneOf(frame) : "The game begins."} ${nowOf(frame)}`;
}

function doneOf(frame) {
  return `${subject(frame.done.seat)}: ${frame.done.label}.`;
}

// Who is asked what, or how the game has ended.
function nowOf(frame) {
  return frame.to_move === null ? resultOf(frame) : `Now ${playerName(frame.to_move)}: ${frame.asked}.`;
}

function resultOf(frame) {
  if (frame.scores.length === 1) return `The game is over: ${frame.scores[0]} points.`;
  const best = Math.max(...frame.scores);
  const winners = frame.scores.flatMap((score, seat) => (score === best ? [playerName(seat)] : []));
  return `The game is over: ${winners.join(" and ")} ${winners.length > 1 ? "share the win" : winners[0].startsWith("you") ? "win" : "wins"} with ${best} points.`;
}

function marksOf(frame) {
  const marks = new Map();
  for (const legal of frame.legal) {
    if (!legal.mark) continue;
    if (!marks.has(legal.mark)) marks.set(legal.mark, []);
    marks.get(legal.mark).push(legal);
  }
  return marks;
}

function showTimeline() {
  const last = page.frames.length - 1;
  const slider = byId("slider");
  slider.max = last;
  slider.value = page.at;
  const { heading, asked } = frameNow();
  slider.setAttribute("aria-valuetext", [`position ${page.at} of ${last}`, heading, asked].filter(Boolean).join(", "));
  byId("where").textContent = `${page.at} / ${last}`;
  for (const id of ["first", "back"]) enable(id, page.at > 0);
  for (const id of ["forward", "last"]) enable(id, page.at < last);
}

function showScores(frame) {
  byId("scores").replaceChildren(
    ...frame.scores.map((score, seat) => {
      const entry = htmlElement(
        "li",
        { className: seat === frame.to_move ? "to-move" : "" },
        htmlElement("span", { className: `chip ${SEAT_CLASSES[seat % 4]}`, ariaHidden: "true" }),
        htmlElement("span", { className: "name", textContent: playerName(seat) }),
        htmlElement("strong", { textContent: score }),
      );
      if (seat === frame.to_move) entry.setAttribute("aria-current", "true");
      return entry;
    }),
  );
}

function showActions(frame) {
  const active = canAct();
  const played = page.frames[page.at + 1]?.done?.action;
  const hint = isLast() ? page.hint : null;
  const hadFocus = byId("actions").contains(document.activeElement);
  byId("asked").replaceChildren(...asked(frame, active));
  byId("actions").classList.toggle("active", active);
  byId("actions").replaceChildren(
    ...frame.legal.map((legal, k) => {
      const box = active
        ? htmlElement("button", { type: "button", tabIndex: k ? -1 : 0, onclick: () => page.table.act(legal.action) })
        : htmlElement("div", { className: "plain" });
      box.append(
        htmlElement("span", { className: "number", textContent: k + 1, ariaHidden: "true" }),
        htmlElement("span", { className: "label", textContent: legal.label }),
        ...numbersOf(legal, hint, box),
      );
      if (legal.action === played) {
        box.classList.add("played");
        box.append(htmlElement("span", { className: "tag", textContent: "played" }));
      }
      if (hint?.action === legal.action) {
        box.append(htmlElement("span", { className: "tag tip", textContent: `${hint.agent}’s choice` }));
      }
      return htmlElement("li", {}, box);
    }),
  );
  if (hadFocus) focusActions();
}

function asked(frame, active) {
  if (frame.to_move === null) return [resultOf(frame)];
  const who = playerName(frame.to_move);
  if (page.table && !isLast()) {
    const go = htmlElement("button", { type: "button", className: "link", textContent: "Back to the game", onclick: () => { show(page.frames.length - 1); focusActions(); } });
    return [`You are looking at an earlier position. `, go];
  }
  if (!page.table && isLast()) return [`The replay ends here, and the game isn’t over. ${who} is to move: ${frame.asked}.`];
  if (active && page.game.persons.length === 1) return [`It is your turn: ${frame.asked}.`];
  return [`${who} is to move: ${frame.asked}.`];
}

// An agent's probability and value of an action, where they are known.
function numbersOf(legal, hint, box) {
  const probability = hint?.probabilities?.[legal.action] ?? legal.probability;
  const value = hint?.values?.[legal.action] ?? legal.value;
  const parts = [];
  if (Number.isFinite(probability)) {
    box.style.setProperty("--share", probability);
    parts.push(htmlElement("span", { className: "figure", textContent: percent(probability), title: "probability" }));
  }
  if (Number.isFinite(value)) {
    parts.push(htmlElement("span", { className: "figure", textContent: signed(value), title: "value" }));
  }
  return parts;
}

function percent(share) {
  return share > 0 && share < 0.005 ? "<1 %" : `${Math.round(100 * share)} %`;
}

function signed(value) {
  return value.toFixed(2).replace("-", "−");
}

function showNote(frame) {
  const note = frame.note ?? {};
  const hint = isLast() ? page.hint : null;
  const rows = [
    ["Value of the position, as the player sees it", note.value],
    ["Regret of the move that led here", note.regret],
    ["Luck of what was drawn then", note.luck],
    [hint ? `Value of the position, as ${hint.agent} sees it` : "", hint?.value],
  ].filter(([, value]) => Number.isFinite(value));
  byId("note-part").hidden = rows.length === 0;
  byId("note").replaceChildren(
    ...rows.map(([name, value]) =>
      htmlElement("div", {}, htmlElement("dt", { textContent: name }), htmlElement("dd", { textContent: signed(value) })),
    ),
  );
}

function showMoves() {
  const list = byId("moves");
  const wanted = page.frames.slice(1);
  if (page.listed !== page.frames || list.children.length !== wanted.length) {
    page.listed = page.frames;
    list.replaceChildren(
      ...wanted.map((frame, k) => {
        const button = htmlElement("button", { type: "button", tabIndex: -1, onclick: () => { stop(); show(k + 1); } });
        if (page.game.players.length > 1) {
          button.append(htmlElement("span", { className: `chip ${SEAT_CLASSES[frame.done.seat % 4]}`, title: playerName(frame.done.seat) }));
        }
        button.append(htmlElement("span", { className: "label", textContent: frame.done.label }));
        return htmlElement("li", {}, button);
      }),
    );
  }
  [...list.querySelectorAll("button")].forEach((button, k) => {
    const here = k + 1 === page.at;
    button.tabIndex = here || (page.at === 0 && k === 0) ? 0 : -1;
    if (!here) return button.removeAttribute("aria-current");
    button.setAttribute("aria-current", "true");
    list.scrollTop += button.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2;
  });
}

// Choosing -----------------------------------------------------------------------------------

function pick(mark, thing) {
  const legal = marksOf(frameNow()).get(mark) ?? [];
  if (legal.length === 0) page.table.explain(mark);
  else if (legal.length === 1) page.table.act(legal[0].action);
  else choose(thing, legal);
}

// A small list beside a thing with which several things can be done.
function choose(thing, legal) {
  const dialog = byId("choice");
  byId("choice-title").textContent = `${legal.length} things can be done here`;
  byId("choices").replaceChildren(
    ...legal.map((each, k) => {
      const button = htmlElement("button", {
        type: "button", tabIndex: k ? -1 : 0,
        onclick: () => { dialog.close(); page.table.act(each.action); },
      });
      button.append(
        htmlElement("span", { className: "number", textContent: k + 1, ariaHidden: "true" }),
        htmlElement("span", { className: "label", textContent: each.label }),
      );
      return htmlElement("li", {}, button);
    }),
  );
  dialog.showModal();
  const box = thing.getBoundingClientRect();
  const own = dialog.getBoundingClientRect();
  const within = (value, size, room) => Math.max(8, Math.min(value, room - size - 8));
  dialog.style.left = `${within(box.left + box.width / 2 - own.width / 2, own.width, innerWidth)}px`;
  dialog.style.top = `${within(box.bottom + 8, own.height, innerHeight)}px`;
  byId("choices").querySelector("button").focus();
}

// The size of the board ----------------------------------------------------------------------

// Sizes that there are, from the one that fits.
function sizes() {
  return [0, ...BOARDS.filter((width) => width > 1.05 * byId("scene").clientWidth)];
}

function sizeBoard() {
  const scene = byId("scene");
  const fitting = scene.clientWidth < READABLE ? BOARDS[0] : 0;
  const size = sizes().includes(page.size ?? fitting) ? (page.size ?? fitting) : 0;
  const middle = (scene.scrollLeft + scene.clientWidth / 2) / scene.scrollWidth;
  scene.style.setProperty("--board", `${size}px`);
  scene.classList.toggle("enlarged", size > 0);
  scene.scrollLeft = page.size === null ? 0 : middle * scene.scrollWidth - scene.clientWidth / 2;
  enable("smaller", size !== 0);
  enable("larger", size !== sizes().at(-1));
  return size;
}

function resize(steps) {
  const all = sizes();
  const at = all.indexOf(sizeBoard()) + steps;
  page.size = all[Math.max(0, Math.min(at, all.length - 1))];
  sizeBoard();
}

// Going through positions --------------------------------------------------------------------

function stop() {
  clearTimeout(page.timer);
  page.timer = 0;
  byId("auto").setAttribute("aria-pressed", "false");
  byId("auto").setAttribute("aria-label", "Play by itself");
}

function go(at) {
  stop();
  show(at);
}

// Show one position after the other, up to the last.
function run(delay, last) {
  page.timer = setTimeout(() => {
    show(page.at + 1, { speak: delay === STEP });
    if (page.at < page.frames.length - 1) return run(delay, last);
    stop();
    last?.();
  }, delay);
}

function toggleAuto() {
  if (page.timer) return stop();
  if (isLast()) show(0);
  byId("auto").setAttribute("aria-pressed", "true");
  byId("auto").setAttribute("aria-label", "Stop");
  run(STEP);
}

// Keys ---------------------------------------------------------------------------------------

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || !page.frames.length) return;
  const list = event.target.closest?.("#actions, #choices, #moves");
  if (list && alongList(list, event.key)) return event.preventDefault();
  const open = document.querySelector("dialog[open]");
  if (event.target.matches?.("input:not([type=range]), select")) return;
  if (/^[0-9]$/.test(event.key) && (!open || open.id === "choice")) {
    typed(event.key, open ? byId("choices") : byId("actions"));
  } else if (event.key === "Enter" && page.digits && !open) {
    numbered(byId("actions"), Number(page.digits));
  } else if (!open && KEYS[event.key] && !(event.target.id === "slider" && /^(Arrow|Home|End|Page)/.test(event.key))) {
    KEYS[event.key]();
  } else {
    return;
  }
  event.preventDefault();
}

const KEYS = {
  ArrowLeft: () => go(page.at - 1),
  ArrowRight: () => go(page.at + 1),
  Home: () => go(0),
  End: () => go(page.frames.length - 1),
  p: toggleAuto,
  "?": () => byId("keys").showModal(),
  "+": () => resize(1),
  "-": () => resize(-1),
  Escape: () => { page.digits = ""; stop(); },
};

function alongList(list, key) {
  const buttons = [...list.querySelectorAll("button")];
  const at = buttons.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[key];
  if (to === undefined || at < 0) return false;
  const next = buttons[Math.max(0, Math.min(to, buttons.length - 1))];
  buttons[at].tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
  return true;
}

// A digit settles an action unless another one's number begins with the same digits.
function typed(digit, list) {
  const most = list.querySelectorAll("button").length;
  if (!most) return; // nothing can be done in this position
  page.digits += digit;
  const number = Number(page.digits);
  if (number < 1 || number > most) {
    say(`There is no action ${page.digits}.`);
    page.digits = "";
  } else if (10 * number > most) {
    numbered(list, number);
  } else {
    list.querySelectorAll("button")[number - 1].focus();
    say(`${page.digits}: Enter, or another digit.`);
  }
}

function numbered(list, number) {
  page.digits = "";
  list.querySelectorAll("button")[number - 1]?.click();
}

function wire() {
  const steps = {
    first: () => go(0),
    back: () => go(page.at - 1),
    forward: () => go(page.at + 1),
    last: () => go(page.frames.length - 1),
    auto: toggleAuto,
    smaller: () => resize(-1),
    larger: () => resize(1),
    help: () => byId("keys").showModal(),
  };
  addEventListener("resize", sizeBoard);
  for (const [id, done] of Object.entries(steps)) byId(id).addEventListener("click", done);
  byId("slider").addEventListener("input", (event) => go(Number(event.target.value)));
  document.addEventListener("keydown", onKey);
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.querySelector(".close").addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    dialog.addEventListener("close", () => { page.digits = ""; });
  }
}

function nameGame(game) {
  page.game = game;
  const title = `${game.game[0].toUpperCase()}${game.game.slice(1)}`;
  byId("game").textContent = game.edition === game.game ? title : `${title}, ${game.edition}`;
  document.title = `${title} · incunabula`;
}

// A replay's game is in the page itself.
function startReplay(data) {
  document.body.classList.add("replay");
  nameGame(data);
  page.frames = unpacked(data.frames, data.shapes);
  show(0);
  sizeBoard();
}

wire();
const given = byId("data");
if (given) startReplay(JSON.parse(given.textContent));
