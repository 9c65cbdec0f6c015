// Pages of what changed: sizes before and now, and colours by growth. Areas show sizes now; what is gone has
// its size before.

const sizeBefore = whole(columns.before, columns.before_at, columns.before_high);
const sizeNow = whole(columns.after, columns.after_at, columns.after_high);

/** The states of entries, by number. */
const [SAME, MODIFIED, MOVED, NOT_COMPARABLE] = [0, 1, 2, 3];

/** The classes of changes by number; a sign shows the class where colours do not. */
const CHANGES = [
  ['added', '+'], ['more than doubled', '▲'], ['grew', '▲'], ['changed, same size', '~'], ['moved', '→'],
  ['unchanged', ''], ['shrank', '▼'], ['less than half left', '▼'], ['removed', '−'], ['several or unknown', ''],
];
const [ADDED, DOUBLED, GREW, CHANGED, MOVED_HERE, UNCHANGED, SHRANK, HALVED, REMOVED, UNKNOWN] = CHANGES.keys();

function changeOf(at) {
  const [was, is] = [sizeBefore[at], sizeNow[at]];
  if (states[at] === NOT_COMPARABLE) return UNKNOWN;
  if (Number.isNaN(was)) return ADDED;
  if (Number.isNaN(is)) return REMOVED;
  if (is > was) return is > 2 * was ? DOUBLED : GREW;
  if (is < was) return 2 * is < was ? HALVED : SHRANK;
  if (states[at] === MOVED) return MOVED_HERE;
  return states[at] === SAME ? UNCHANGED : CHANGED;
}

const { states } = columns;

/** The growth in bytes; negative if it shrank. */
function growthOf(at) {
  return (sizeNow[at] || 0) - (sizeBefore[at] || 0);
}

/** +1.50 GiB, −3 B. */
function signed(difference) {
  if (difference === 0) return '±0 B';
  return `${difference > 0 ? '+' : '−'}${bytes(Math.abs(difference))}`;
}

/** The minute of a time; UTC. */
function minute(seconds) {
  if (seconds === null || seconds === undefined) return 'unknown time';
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? day(seconds) : date.toISOString().slice(0, 16).replace('T', ' ');
}

/** Where an entry was, if it moved. */
function movedFrom(at) {
  const place = sparseIndex(columns.moved_at, at);
  if (place < 0) return null;
  const paths = new TextDecoder().decode(columns.moved_from).split('\0');
  return `moved from ${visible(paths[place])}`;
}

/** Colours that differ in lightness, too, and in orange and blue, which colour-blind people distinguish. */
const CHANGE_TONES = {
  light: [
    [0.71, 0.17, 50], [0.79, 0.135, 58], [0.885, 0.085, 68], [0.86, 0.06, 110], [0.81, 0.075, 310],
    [0.915, 0.006, 260], [0.87, 0.06, 245], [0.77, 0.1, 250], [0.63, 0.14, 255], [0.87, 0.012, 260],
  ],
  dark: [
    [0.6, 0.155, 48], [0.52, 0.115, 52], [0.445, 0.07, 60], [0.46, 0.045, 110], [0.5, 0.085, 310],
    [0.325, 0.008, 260], [0.43, 0.07, 248], [0.5, 0.1, 250], [0.6, 0.13, 252], [0.38, 0.012, 260],
  ],
};

const CHANGE_MODE = {
  label: 'change',
  classes: CHANGES.map(([name]) => name),
  of: changeOf,
  tone: (name, dark, place) => tone(...CHANGE_TONES[dark ? 'dark' : 'light'][place]),
  /** A directory has a class of its own, not that of its largest entry. */
  isOfDirectories: true,
  isOrdered: true,
  hatched: [REMOVED],
  /** What the legend says of a class: its growth, or its size if there is none. */
  weigh: (at) => (changeOf(at) === UNCHANGED || changeOf(at) === UNKNOWN ? size[at] : growthOf(at)),
  amount: (sum, place) => (place === UNCHANGED || place === UNKNOWN || place === MOVED_HERE || place === CHANGED ? '' : signed(sum)),
};

function changeText(at) {
  const change = changeOf(at);
  if (change === UNKNOWN) return '';
  return growthOf(at) === 0 ? '' : signed(growthOf(at));
}

const CHANGE_TEXTS = {
  columns: ['Name', 'Size now', 'Change', 'Entries', 'Before'],
  name: (at) => {
    const change = changeOf(at);
    const [, sign] = CHANGES[change];
    const isWhole = change === ADDED || change === REMOVED || change === MOVED_HERE;
    return sign === '' || (isDirectory(at) && !isWhole) ? nameOf(at) : `${sign} ${nameOf(at)}`;
  },
  amounts: (at) => {
    const change = changeOf(at);
    if (growthOf(at) === 0 || change === UNKNOWN) return [bytes(size[at])];
    const short = signed(growthOf(at));
    if (change === ADDED || change === REMOVED) return [short];
    const [, sign] = CHANGES[change];
    return [`${bytes(sizeNow[at])} ${sign} ${bytes(Math.abs(growthOf(at)))}`, short];
  },
  cells: (at) => {
    const change = changeOf(at);
    const known = (amount) => (Number.isNaN(amount) ? '–' : bytes(amount));
    const difference = h('span', { class: growthOf(at) > 0 ? 'grew' : 'shrank' }, changeText(at));
    return [
      type[at] === MORE ? bytes(size[at]) : change === REMOVED ? 'gone' : known(sizeNow[at]), difference,
      isDirectory(at) ? count(entries[at] - 1) : type[at] === MORE ? count(entries[at]) : '',
      type[at] === MORE ? '' : change === ADDED ? 'new' : known(sizeBefore[at]),
    ];
  },
  facts: (at) => {
    const [was, is] = [sizeBefore[at], sizeNow[at]];
    const change = changeOf(at);
    if (change === UNKNOWN) return [bytes(size[at])];
    if (change === ADDED) return [`added: ${bytes(is)}`];
    if (change === REMOVED) return [`removed: ${bytes(was)}`];
    const difference = is - was;
    const share = was > 0 && difference !== 0 ? ` (${difference > 0 ? '+' : '−'}${percent(Math.abs(difference) / was)})` : '';
    const words = difference === 0 ? CHANGES[change][0] : `${signed(difference)}${share}`;
    return [`${bytes(is)} now`, difference === 0 ? null : `${bytes(was)} before`, words, movedFrom(at)];
  },
  /** The text at the top, and the first one of the footer. */
  summary: () => {
    const { before_read_at: then, before, after } = about.changes;
    return [`${signed(after - before)} since ${minute(then)}`,
      `${bytes(after)} ${MEASURE_NAME}, read ${minute(about.read_at)} UTC; before ${bytes(before)}, read ${minute(then)} UTC`];
  },
  help: 'Area shows size now, colour shows growth: orange grew, blue shrank. What is gone is hatched, with its size before.',
};

/** The entries that changed most below the current directory; what is added or removed with all below it is one. */
function largestChanges() {
  const hits = [];
  visitBelow((at) => {
    const change = changeOf(at);
    if (type[at] === MORE || growthOf(at) === 0 || change === UNKNOWN) return;
    const isWhole = change === ADDED || change === REMOVED;
    if (isWhole ? changeOf(parent[at]) !== change : !isDirectory(at)) hits.push(at);
  });
  hits.sort((a, b) => Math.abs(growthOf(b)) - Math.abs(growthOf(a)) || a - b);
  return hits;
}

function drawLargestChanges() {
  const { hits } = listTab();
  const sum = (wanted) => hits.filter(wanted).reduce((all, at) => all + growthOf(at), 0);
  heading.replaceChildren('Changes below ', h('bdi', {}, lastNameOf(view.at)));
  facts.textContent = `${counted(hits.length, 'change', 'changes')}: ${signed(sum((at) => growthOf(at) > 0))}, ${signed(sum((at) => growthOf(at) < 0))}`;
  warning.hidden = true;
  caption.textContent = `Changes below ${pathOf(view.at)}, largest first`;
  const shown = hits.slice(0, MOST_FILES);
  fillTable(shown, 0, shown.length, size[view.at], (at) => (at === TOP ? null : pathOf(parent[at])));
}
