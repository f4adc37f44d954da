// The table: talks to the program that shows this page, and does what the person chooses.
"use strict";

const POLL = 1500; // ms between questions whether another tab has changed the game
const SHORT = 700; // ms for which nothing is said of waiting
const LONG = 3000; // ms after which it is said why it may take long
const NO_ANSWER = "The program doesn’t answer; it may have been ended. Start it again to play on.";
const COMPILING = "What an agent needs is compiled when it is first used on a machine, which can take a minute.";

const live = {
  number: -1, // of the position that is known; every change names it
  serial: -1, // the latest frame that is known
  known: new Map(),
  busy: false,
  hint: null, // the hint that is waited for: {number, control}
  waits: [], // what is waited for, see `waiting`
  gone: false, // whether it was said that the program doesn't answer
  used: new Set(), // agents that have given a hint, and "others" once they have moved
};

async function call(path, body, signal) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(path, { cache: "no-store", signal, ...options });
  const answer = await response.json();
  live.gone = false;
  return { status: response.status, answer };
}

// Say that something is waited for, and show for how long; what is returned ends that. `user` is
// whose first time this may be; `cancel` is there if one need not wait.
function waiting(text, user, cancel) {
  const wait = { text, cancel, began: performance.now() };
  live.waits.push(wait);
  const timers = [
    setInterval(showWaits, 250),
    setTimeout(() => say(text), SHORT),
    setTimeout(() => live.used.has(user) || say(`${text} ${COMPILING}`), LONG),
  ];
  return (used) => {
    timers.forEach(clearTimeout);
    live.waits = live.waits.filter((other) => other !== wait);
    if (used) live.used.add(user);
    showWaits();
  };
}

function showWaits() {
  const wait = live.waits.find(({ began }) => performance.now() - began >= SHORT);
  const part = byId("waiting");
  if (!wait && part.contains(document.activeElement)) byId("hint").focus();
  part.hidden = !wait;
  if (!wait) return;
  const seconds = Math.floor((performance.now() - wait.began) / 1000);
  const free = wait.cancel ? " You can play on; a hint that comes too late is dropped." : "";
  byId("waited").textContent = `${wait.text} ${seconds} s.${free}`;
  byId("cancel").hidden = !wait.cancel;
}

// A change of the game; the page is told to be patient meanwhile. True if it was done.
async function change(path, body, done) {
  if (live.busy) return say("One moment: the last move is still being played.");
  live.busy = true;
  document.body.classList.add("busy");
  const end = waiting(path === "act" ? "The others are thinking…" : "The program is at work…", "others");
  let used = false;
  try {
    const { status, answer } = await call(path, { at: live.number, seen: live.serial, ...body });
    used = status === 200 && path === "act";
    if (answer.state) take(answer.state, path !== "save");
    if (status !== 200) return tell(answer);
    done?.(answer);
    return true;
  } catch {
    say(NO_ANSWER);
  } finally {
    end(used);
    live.busy = false;
    document.body.classList.remove("busy");
  }
}

// Ask an agent for a hint. One can play on meanwhile, and then it is dropped.
async function askHint() {
  if (live.busy) return say("One moment: the last move is still being played.");
  if (live.hint) return say("The agent is still thinking.");
  const agent = byId("adviser").value;
  const asked = { number: live.number, control: new AbortController() };
  live.hint = asked;
  const end = waiting(`${agent} is thinking…`, agent, dropHint);
  let used = false;
  try {
    const body = { at: asked.number, seen: live.serial, agent };
    const { status, answer } = await call("hint", body, asked.control.signal);
    used = status === 200;
    if (answer.state) take(answer.state, false);
    if (live.number !== asked.number) return;
    if (used) showHint(answer.hint);
    else tell(answer);
  } catch {
    if (!asked.control.signal.aborted) say(NO_ANSWER);
  } finally {
    end(used);
    if (live.hint === asked) live.hint = null;
  }
}

function dropHint() {
  live.hint?.control.abort();
  live.hint = null;
}

// Why the program refused.
function tell(answer) {
  if (!answer.reasons) return say(answer.error);
  byId("reasons").replaceChildren(
    ...answer.reasons.map(({ clause, reason, actions }) =>
      htmlElement(
        "li", {},
        htmlElement("strong", { textContent: clause }), `: ${reason}`,
        ...(actions > 1 ? [htmlElement("span", { className: "figure", textContent: ` (${actions} actions)` })] : []),
      ),
    ),
  );
  say(`That can’t be done now. ${answer.reasons.map(({ clause, reason }) => `${clause}: ${reason}`).join(". ")}.`);
  byId("why").showModal();
}

// Take over what the program says of the game, and show it.
function take(state, follow) {
  if (state.number <= live.number) return; // heard already
  const before = page.frames;
  const old = live.number;
  const atEnd = page.frames.length === 0 || isLast() || page.timer !== 0;
  stop();
  for (const frame of unpacked(state.frames, state.shapes)) live.known.set(frame.id, frame);
  page.frames = state.ids.map((id) => live.known.get(id));
  live.known = new Map(page.frames.map((frame) => [frame.id, frame]));
  live.number = state.number;
  live.serial = state.serial;
  document.body.dataset.number = state.number;
  page.hint = null;
  dropHint();
  nameGame(state.game);
  showMenu(state.game);
  let same = 0;
  while (same < before.length && before[same] === page.frames[same]) same += 1;
  if (!follow && !atEnd) return show(Math.min(page.at, page.frames.length - 1), { speak: false });
  const fresh = page.frames.slice(Math.max(same, 1));
  const anew = same === 0 ? [old < 0 ? "" : "A new game. ", welcome()].join("") : "";
  const words = anew || sayAll(fresh, same < before.length);
  const oneByOne = old >= 0 && same === before.length && fresh.length > 1 && !calm();
  show(oneByOne ? same : page.frames.length - 1, { speak: false });
  if (old < 0) sizeBoard();
  if (oneByOne) run(MOVE);
  say(words);
}

function welcome() {
  const frame = page.frames[page.frames.length - 1];
  return frame.to_move === null ? resultOf(frame) : `${sentence(frame.heading)} ${nowOf(frame)}`;
}

function sayAll(fresh, undone) {
  const moves = fresh.map(doneOf);
  if (undone && !fresh.length) moves.push("Taken back.");
  return [...moves, welcome()].join(" ");
}

function showMenu(game) {
  for (const [id, disabled] of [["undo", !game.undo], ["hint", game.over]]) {
    if (disabled && document.activeElement === byId(id)) byId("actions").focus();
    byId(id).disabled = disabled;
  }
  byId("as-page").hidden = !game.over;
  byId("undo").title = game.undo ? "Take the last move back" : game.undo_reason;
  const adviser = byId("adviser");
  if (adviser.options.length !== game.advisers.length) {
    adviser.replaceChildren(...game.advisers.map((name) => htmlElement("option", { value: name, textContent: name })));
  }
}

function showHint(hint) {
  page.hint = hint;
  show(page.frames.length - 1, { speak: false });
  const legal = frameNow().legal.find((each) => each.action === hint.action);
  const share = hint.probabilities?.[hint.action];
  board.reveal(legal.mark);
  say(`${hint.agent} would: ${legal.label}${Number.isFinite(share) ? ` (${percent(share)})` : ""}.`);
}

function save() {
  return change("save", {}, (answer) => say(`Saved as ${answer.saved}`));
}

async function loadFile(file) {
  if (file.size > page.game.most_bytes) return say(`${file.name} is too large for a replay of one game.`);
  await change("load", { text: await file.text(), name: file.name }, () => say(`${file.name} is loaded. ${welcome()}`));
}

// Why nothing can be done with a thing.
async function explain(mark) {
  try {
    tell((await call(`why?mark=${encodeURIComponent(mark)}`)).answer);
  } catch {
    say(NO_ANSWER);
  }
}

function startLive() {
  document.body.classList.add("at-table");
  page.table = {
    act: (action) => change("act", { action }),
    explain,
  };
  const buttons = {
    undo: () => change("undo", {}),
    hint: askHint,
    save,
    load: () => (page.frames.length > 1 && !page.game.over ? byId("swap").showModal() : byId("file").click()),
    "swap-yes": () => { byId("swap").close(); byId("file").click(); },
    cancel: () => { dropHint(); say("No hint is waited for any more."); },
    new: () => byId("anew").showModal(),
    "anew-yes": () => {
      const seed = byId("seed").value.trim();
      byId("anew").close();
      change("new", seed ? { seed } : {});
    },
  };
  for (const [id, done] of Object.entries(buttons)) byId(id).addEventListener("click", done);
  byId("seed").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    buttons["anew-yes"]();
  });
  byId("file").addEventListener("change", (event) => {
    const [file] = event.target.files;
    event.target.value = "";
    if (file) loadFile(file);
  });
  const escape = KEYS.Escape;
  const Escape = () => (live.hint ? buttons.cancel() : escape());
  Object.assign(KEYS, { u: buttons.undo, t: buttons.hint, s: save, Escape });
  look(true);
  setInterval(() => document.visibilityState === "visible" && look(), POLL);
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && look());
}

// Another tab waits for something: show that here too, until the next question at most.
function waitElsewhere(doing) {
  const wait = { text: doing.what === "act" ? "The others are thinking…" : "The program is at work…" };
  wait.began = performance.now() - 1000 * doing.seconds;
  live.waits.push(wait);
  showWaits();
  setTimeout(() => {
    live.waits = live.waits.filter((other) => other !== wait);
    showWaits();
  }, POLL);
}

// Ask whether the game has changed; while others move, each move is shown once it is made.
async function look(first) {
  try {
    const { status, answer } = await call(`state?seen=${live.serial}&number=${live.number}`);
    if (status === 200 && answer.state) take(answer.state, live.busy);
    else if (status !== 200 && first) say(answer.error);
    if (answer.doing && !live.busy) waitElsewhere(answer.doing);
  } catch {
    if (!live.gone) say(NO_ANSWER); // once, not at each question
    live.gone = true;
  }
}

if (!byId("data")) startLive();
