// Requests to the program that serves the page. Whatever takes long is a task, whose state the page
// asks for.

/** Milliseconds between progress requests. */
const PROGRESS_INTERVAL = 250;

class ConnectionLost extends Error {}

/** The program refused a request; the message is the reason. */
class Refused extends Error {}

/** Returns the response as bytes, which may be empty. */
async function request(path) {
  try {
    const response = await fetch(path, { cache: 'no-store' });
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
  } catch {
    // Any error means that the program has ended.
  }
  throw new ConnectionLost();
}

/** Requests an action; returns the answer, which may be null. */
async function act(path) {
  let response;
  let answer = null;
  try {
    response = await fetch(path, { cache: 'no-store', method: 'POST' });
    if (response.status !== 204) answer = await response.json();
  } catch {
    throw new ConnectionLost();
  }
  if (!response.ok) throw new Refused(answer?.error ?? 'refused');
  return answer;
}

function parsed(json) {
  return JSON.parse(new TextDecoder().decode(json));
}

function pause(milliseconds) {
  return new Promise((resolve) => { setTimeout(resolve, milliseconds); });
}

/** What a failed request means, for the user. */
function reasonOf(error) {
  if (error instanceof ConnectionLost) return 'transect has ended.';
  if (error instanceof Refused) return `${error.message[0].toUpperCase()}${error.message.slice(1)}.`;
  throw error;
}

/** Waits for the end of a task, and calls `show` with its progress. Returns its outcome; null if another task followed. */
async function outcomeOf(number, show) {
  for (;;) {
    const state = parsed(await request('task'));
    if (state.number !== number) return null;
    if (!state.running) return state.outcome;
    show(state.progress);
    await pause(PROGRESS_INTERVAL);
  }
}

/** Called when the program begins or ends what excludes all other tasks. */
const busyListeners = [];
let isBusy = true;

function setBusy(busy) {
  isBusy = busy;
  for (const listener of busyListeners) listener();
}

/** Runs a function while other tasks cannot be requested. */
async function whileBusy(work) {
  setBusy(true);
  try {
    return await work();
  } finally {
    setBusy(false);
  }
}
