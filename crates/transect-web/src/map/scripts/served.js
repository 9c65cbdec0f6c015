// Served pages: they grow while the tree is being read. The program ends when no page is open; a page
// contains all its data and works without the program.

/** Milliseconds between updates, and between heartbeats. */
const UPDATE_INTERVAL = 1000;
const HEARTBEAT_INTERVAL = 10000;
/** Updates take at most a tenth of the time. */
const SHARE = 10;

/** Whether a pointer button is pressed. */
let pressed = false;
for (const event of ['pointerdown', 'pointermove', 'pointerup', 'pointercancel']) {
  document.addEventListener(event, ({ buttons }) => { pressed = buttons !== 0; }, true);
}

/** Fetches and shows an update. Returns false if there is none. */
async function fetchUpdate() {
  const all = await request(`columns/${about.version}`);
  if (all.length === 0) return false;
  const end = all.indexOf(10);
  const metadata = parsed(all.subarray(0, end));
  const newer = await unpacked(all.subarray(end + 1), metadata.columns);
  // Not during a click: the next update follows soon.
  if (!pressed) update(metadata, newer);
  return true;
}

/** The numbers of entries in the last two seconds, for the rate. */
const samples = [];

function showProgress(soFar) {
  const now = performance.now();
  samples.push([now, soFar]);
  while (now - samples[0][0] > 2000 && samples.length > 2) samples.shift();
  const [since, before] = samples[0];
  const rate = now > since ? Math.round((1000 * (soFar - before)) / (now - since)) : 0;
  reading.textContent = `${about.reading ? 'Reading' : 'Reading again'}: ${counted(soFar, 'entry', 'entries')}${rate > 0 ? `, ${count(rate)} a second` : ''}`;
  reading.hidden = false;
}

async function followReading() {
  let due = 0;
  while (about.reading) {
    const progress = parsed(await request('progress'));
    showProgress(progress.entries);
    const began = performance.now();
    if (began >= due || !progress.reading) {
      await fetchUpdate();
      const ended = performance.now();
      due = ended + Math.max(UPDATE_INTERVAL, (SHARE - 1) * (ended - began));
    }
    if (about.reading) await pause(PROGRESS_INTERVAL);
  }
  reading.hidden = true;
}

/** Shows what changes in a tree that a service follows. */
async function followChanges() {
  let due = 0;
  while (about.followed) {
    await pause(Math.max(UPDATE_INTERVAL, due));
    if (isBusy) continue;
    const began = performance.now();
    await fetchUpdate();
    due = (SHARE - 1) * (performance.now() - began);
  }
}

/** Waits until the tree has been read again, and shows it when all of it has been read. */
async function followRescan() {
  const before = about.version;
  samples.length = 0;
  for (;;) {
    const progress = parsed(await request('progress'));
    showProgress(progress.entries);
    if (!progress.reading) {
      // No newer version: the tree could not be read again.
      const isThere = await fetchUpdate();
      if (!isThere || about.version !== before) break;
    }
    await pause(PROGRESS_INTERVAL);
  }
  reading.hidden = true;
}

/** Has the tree read again. */
async function rescan() {
  try {
    await whileBusy(async () => {
      await act('rescan');
      await followRescan();
    });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    spoken.textContent = reasonOf(error);
  }
}

const rescanButton = h('button', {
  type: 'button', class: 'quiet', id: 'rescan', title: 'Read the tree again', disabled: true, click: () => rescan().catch(reportLoss),
}, 'Rescan');
frameButton.before(rescanButton);
busyListeners.push(() => { rescanButton.disabled = isBusy; });

/** Reports that the page is open, as long as the program runs. */
async function sendHeartbeats() {
  for (;;) {
    await pause(HEARTBEAT_INTERVAL);
    await request('alive');
  }
}

/** The program has ended: the page remains, but cannot change any more. */
function reportLoss(error) {
  if (!(error instanceof ConnectionLost)) throw error;
  setBusy(true);
  if (!about.reading && reading.hidden) return;
  reading.classList.add('doubt');
  reading.textContent = 'transect ended before reading was complete';
}

followReading().then(() => {
  setBusy(false);
  return Promise.all([sendHeartbeats(), followChanges()]);
}).catch(reportLoss);
