// The table: talks to the program that shows this page, and does what the person chooses.
"use strict";

const POLL = 1500; // ms between questions whether another tab has changed the game

const live = {
  number: -1, // of the position that is known; every change names it
  serial: -1, // the latest frame that is known
  known: new Map(),
  busy: false,
};

async function call(path, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(path, { cache: "no-store", ...options });
  return { status: response.status, answer: await response.json() };
}

// A change of the game; the page is told to be patient meanwhile. True if it was done.
async function change(path, body, done) {
  if (live.busy) return say("One moment: the last move is still being played.");
  live.busy = true;
  document.body.classList.add("busy");
  const patience = setTimeout(
    () => say(path === "hint" ? "The agent is thinking…" : "The others are thinking…"),
    700,
  );
  try {
    const { status, answer } = await call(path, { at: live.number, seen: live.serial, ...body });
    clearTimeout(patience);
    if (answer.state) take(answer.state, path !== "hint" && path !== "save");
    if (status !== 200) return tell(answer);
    done?.(answer);
    return true;
  } catch {
    say("The program doesn’t answer; it may have been ended. Start it again to play on.");
  } finally {
    clearTimeout(patience);
    live.busy = false;
    document.body.classList.remove("busy");
  }
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
  if (state.number === live.number) return;
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
  nameGame(state.game);
  showMenu(state.game);
  let same = 0;
  while (same < before.length && before[same] === page.frames[same]) same += 1;
  if (!follow && !atEnd) return show(Math.min(page.at, page.frames.length - 1), { speak: false });
  const fresh = page.frames.slice(Math.max(same, 1));
  const words = old < 0 ? welcome() : sayAll(fresh, same < before.length);
  const oneByOne = old >= 0 && same === before.length && fresh.length > 1 && !calm();
  show(oneByOne ? same : page.frames.length - 1, { speak: false });
  if (oneByOne) run(MOVE);
  say(words);
}

function welcome() {
  const frame = page.frames[page.frames.length - 1];
  return frame.to_move === null ? resultOf(frame) : `${frame.heading}. ${playerName(frame.to_move)} to move.`;
}

function sayAll(fresh, undone) {
  const moves = fresh.map((frame) => `${playerName(frame.done.seat)}: ${frame.done.label}.`);
  if (undone && !fresh.length) moves.push("Taken back.");
  return [...moves, welcome()].join(" ");
}

function showMenu(game) {
  if (!game.undo && document.activeElement === byId("undo")) byId("actions").focus();
  byId("undo").disabled = !game.undo;
  byId("hint").disabled = game.over;
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
  say(`${hint.agent} would: ${legal.label}${Number.isFinite(share) ? ` (${percent(share)})` : ""}.`);
}

function save() {
  return change("save", {}, (answer) => say(`Saved as ${answer.saved}`));
}

async function loadFile(file) {
  if (file.size > page.game.most_bytes) return say(`${file.name} is too large for a replay of one game.`);
  await change("load", { text: await file.text(), name: file.name }, () => say(`${file.name} is loaded. ${welcome()}`));
}

function startLive() {
  document.body.classList.add("at-table");
  page.table = {
    act: (action) => change("act", { action }),
    explain: async (mark) => tell((await call(`why?mark=${encodeURIComponent(mark)}`)).answer),
  };
  const buttons = {
    undo: () => change("undo", {}),
    hint: () => change("hint", { agent: byId("adviser").value }, (answer) => showHint(answer.hint)),
    save,
    load: () => byId("file").click(),
    new: () => byId("anew").showModal(),
    "anew-yes": () => {
      const seed = byId("seed").value.trim();
      byId("anew").close();
      change("new", seed ? { seed } : {});
    },
  };
  for (const [id, done] of Object.entries(buttons)) byId(id).addEventListener("click", done);
  byId("file").addEventListener("change", (event) => {
    const [file] = event.target.files;
    event.target.value = "";
    if (file) loadFile(file);
  });
  Object.assign(KEYS, { u: buttons.undo, t: buttons.hint, s: save });
  look(true);
  setInterval(() => document.visibilityState === "visible" && look(), POLL);
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && look());
}

// Ask whether the game has changed.
async function look(first) {
  if (live.busy) return;
  try {
    const { status, answer } = await call(`state?seen=${live.serial}&number=${live.number}`);
    if (status === 200 && answer.state && !live.busy) take(answer.state, false);
    else if (status !== 200 && first) say(answer.error);
  } catch {
    say("The program doesn’t answer; it may have been ended. Start it again to play on.");
  }
}

if (!byId("data")) startLive();
