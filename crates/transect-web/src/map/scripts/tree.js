// Navigation from an entry to its children, its parent, its name and its path.

const TOP = 0;
const MORE = about.types.indexOf('more');
const DIRECTORY = about.types.indexOf('directory');
const ABOVE_ROOTS = about.types.indexOf('top');

let first;
let parent;
/** The total size of a directory's entries, without the directory itself. */
let inside;
/** The entry reached by always following the largest child. */
let largest;
let names;
/** The start of each name. */
let begins;

function connect() {
  first = new Uint32Array(total);
  parent = new Uint32Array(total);
  inside = new Float64Array(total);
  largest = new Uint32Array(total);
  for (let at = 0, next = 1; at < total; at += 1) {
    first[at] = next;
    next += children[at];
    parent.fill(at, first[at], next);
  }
  for (let at = total - 1; at >= 0; at -= 1) {
    if (at > 0) inside[parent[at]] += size[at];
    largest[at] = children[at] > 0 ? largest[first[at]] : at;
  }
  names = new TextDecoder().decode(columns.names);
  begins = beginningsOf(names);
}

function beginningsOf(text) {
  const all = new Uint32Array(total + 1);
  for (let at = 0, next = 0; at < total; at += 1) {
    all[at] = next;
    next = text.indexOf('\0', next) + 1;
  }
  all[total] = text.length;
  return all;
}

function isDirectory(at) {
  return type[at] === DIRECTORY || type[at] === ABOVE_ROOTS;
}

/** The name as stored; empty for aggregates. */
function plainNameOf(at) {
  return names.slice(begins[at], begins[at + 1] - 1);
}

function nameOf(at) {
  if (type[at] === MORE) {
    return about.reading ? `${counted(entries[at], 'entry', 'entries')} not listed yet` : counted(entries[at], 'smaller entry', 'smaller entries');
  }
  if (type[at] === ABOVE_ROOTS) return counted(children[at], 'path', 'paths');
  return visible(plainNameOf(at));
}

/** The name without the directories before it in the path of a root. */
function lastNameOf(at) {
  return nameOf(at).split(about.separator).filter(Boolean).at(-1) ?? nameOf(at);
}

/** The ancestors of an entry from the top, and the entry itself. */
function wayTo(at) {
  const way = [at];
  while (way[0] !== TOP) way.unshift(parent[way[0]]);
  return way;
}

function pathOf(at) {
  if (type[at] === ABOVE_ROOTS) return nameOf(at);
  const steps = wayTo(at).filter((step) => type[step] !== ABOVE_ROOTS).map(nameOf);
  return steps.reduce((path, step) => path + (path.endsWith(about.separator) ? '' : about.separator) + step);
}

/** The names on the path to an entry. */
function stepsTo(at) {
  return wayTo(at).slice(1).map((step) => [type[step] === MORE, plainNameOf(step)]);
}

/** Follows a path as far as it exists: the last entry, and whether it is the target. */
function follow(steps) {
  let at = TOP;
  for (const [isMore, name] of steps) {
    const end = first[at] + children[at];
    let child = first[at];
    while (child < end && ((type[child] === MORE) !== isMore || plainNameOf(child) !== name)) child += 1;
    if (child === end) return [at, false];
    at = child;
  }
  return [at, true];
}

/** Returns whether an entry is `above` or lies below it. */
function isIn(at, above) {
  let step = at;
  // Children have larger indices.
  while (step > above) step = parent[step];
  return step === above;
}

/** The index of an entry in a sorted sparse column, or -1. */
function sparseIndex(places, at) {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle] < at) low = middle + 1;
    else high = middle;
  }
  return places[low] === at ? low : -1;
}

/** Why an entry is incomplete; empty if it is complete. */
function lackOf(at) {
  const place = sparseIndex(columns.partial_at, at);
  if (place < 0) return '';
  const why = about.unread[columns.why[place]];
  if (why) return why.replaceAll('_', ' ');
  return `partial: ${counted(columns.errors[place], 'error', 'errors')}`;
}

/** The size shared with names elsewhere, as text. */
function sharingOf(at) {
  const place = sparseIndex(columns.shared_at, at);
  if (place < 0) return '';
  const shared = `${bytes(columns.shared[place])} shared with names elsewhere`;
  if (children[at] > 0) return `${shared}, ${bytes(columns.exclusive[place])} exclusive`;
  return size[at] === 0 ? `${shared}, charged to another name` : shared;
}

/** What the page says about an entry, unless it is a page of changes. */
const PLAIN_TEXTS = {
  /** The titles of the columns of the table, and the cells after the name. */
  columns: ['Name', 'Size', 'Share', 'Entries', 'Changed'],
  cells: (at, whole) => [
    bytes(size[at]), percent(whole > 0 ? size[at] / whole : 0),
    isDirectory(at) ? count(entries[at] - 1) : type[at] === MORE ? count(entries[at]) : '', h('span', { class: 'date' }, day(time[at])),
  ],
  /** The texts on an area. */
  name: nameOf,
  /** From the longest to the shortest. */
  amounts: (at) => [bytes(size[at])],
  facts: (at) => [bytes(size[at])],
  help: 'Area shows size, colour shows file type, age or owner.',
};

performance.mark('unpack');
takeColumns(await unpacked(embedded(), about.columns));
connect();
