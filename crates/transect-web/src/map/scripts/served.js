// Where the page is served: what it shows grows while the tree is read. The program ends when nobody looks
// any more; the page holds all its data, and goes on without it.

/** Milliseconds: between two looks at how far it is, from one state to the next, between signs of life. */
const LOOK = 250;
const RENEWAL = 1000;
const STILL_HERE = 10000;
/** What a state takes, from asking for it to seeing it, is a tenth of the time at most. */
const SHARE = 10;

class Gone extends Error {}

/** What is answered, as bytes: there may be none. */
async function ask(what) {
  try {
    const response = await fetch(what, { cache: 'no-store' });
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
  } catch {
    // Whatever it is, nobody answers any more.
  }
  throw new Gone();
}

function parsed(json) {
  return JSON.parse(new TextDecoder().decode(json));
}

function pause(milliseconds) {
  return new Promise((resolve) => { setTimeout(resolve, milliseconds); });
}

/** Something is being pressed. */
let pressed = false;
for (const event of ['pointerdown', 'pointermove', 'pointerup', 'pointercancel']) {
  document.addEventListener(event, ({ buttons }) => { pressed = buttons !== 0; }, true);
}

/** Shows what is newer, if anything is. */
async function takeNewer() {
  const all = await ask(`columns/${about.version}`);
  if (all.length === 0) return;
  const end = all.indexOf(10);
  const news = parsed(all.subarray(0, end));
  const newer = await unpacked(all.subarray(end + 1), news.columns);
  // What is about to be clicked is not replaced: the next state comes soon.
  if (!pressed) renew(news, newer);
}

/** The entries there were at the last looks: the rate is that of two seconds. */
const looks = [];

function tellReading(soFar) {
  const now = performance.now();
  looks.push([now, soFar]);
  while (now - looks[0][0] > 2000 && looks.length > 2) looks.shift();
  const [since, before] = looks[0];
  const rate = now > since ? Math.round((1000 * (soFar - before)) / (now - since)) : 0;
  reading.textContent = `Still reading: ${counted(soFar, 'entry', 'entries')}${rate > 0 ? `, ${count(rate)} a second` : ''}`;
  reading.hidden = false;
}

async function watch() {
  let due = 0;
  while (about.reading) {
    const progress = parsed(await ask('progress'));
    tellReading(progress.entries);
    const began = performance.now();
    if (began >= due || !progress.reading) {
      await takeNewer();
      const ended = performance.now();
      due = ended + Math.max(RENEWAL, (SHARE - 1) * (ended - began));
    }
    if (about.reading) await pause(LOOK);
  }
  reading.hidden = true;
}

/** Tells the program that somebody looks, as long as it is there. */
async function stayHere() {
  for (;;) {
    await pause(STILL_HERE);
    await ask('alive');
  }
}

watch().then(stayHere).catch((error) => {
  if (!(error instanceof Gone)) throw error;
  if (!about.reading) return;
  reading.classList.add('doubt');
  reading.textContent = 'transect has ended before all of it was read';
});
