// What was measured, and which part of it is looked at.

const { report, seed, csv, csv_head: csvHead } = JSON.parse(document.getElementById('data').textContent);
const session = report.session;
const passes = session.passes.length;

/** What the user has chosen. */
const view = {
  place: 0,
  pass: 0,
  text: '',
  language: '',
  verdict: '',
  colour: 'verdict',
  // Decided by the spread until somebody decides.
  scale: null,
  against: 'base',
  every: false,
  cost: 'unit',
  sort: { column: 'median', down: false },
};

function index() {
  return view.place * passes + view.pass;
}

function ranking() {
  return report.rankings[index()];
}

function place() {
  return session.places[view.place];
}

/** Passes over files, and not walks of trees. */
const isOfFiles = Boolean(session.transform);
/** Questions about attributes. */
const isOfQuestions = session.places.some((somewhere) => somewhere.asked);
/** Passes over many small files: what counts is what one of them takes. */
const isOfMany = session.places.some((somewhere) => somewhere.phase);

/** What costs are told by: a question, an entry of a tree, a file of many, a byte of a large file. */
const UNIT = isOfQuestions ? 'question' : !isOfFiles ? 'entry' : isOfMany ? 'file' : 'byte';
const UNITS = { question: 'questions', entry: 'entries', file: 'files', byte: 'bytes' }[UNIT];

/** How many of them there are in a place. */
function unitsOf({ expected, asked }) {
  return { question: asked?.questions, entry: expected.files + expected.directories, file: expected.files, byte: expected.bytes }[UNIT];
}

/** How many there are, for people. */
function amount(units) {
  return UNIT === 'byte' ? bytes(units) : `${whole(units)} ${units === 1 ? UNIT : UNITS}`;
}

const floors = new Set([session.floor, session.parallel_floor,
  ...session.cells.filter(({ kind }) => kind === 'floor').map(({ name }) => name)]);

function isFloor(name) {
  return floors.has(name);
}

const SIZES = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

/** How much a cell reads and writes at once, in bytes, and the rest of what it is; nothing if it takes
 * no block, or chooses one. */
function blockOf({ method }) {
  const found = method.match(/^(.*),block=(\d+)([KMGT]?)(.*)$/);
  return found && { block: Number(found[2]) * SIZES[found[3]], rest: found[1] + found[4] };
}

/** The rows that are methods: neither a floor nor the base once more. */
function methodsOf(rows) {
  return rows.filter((row) => !isFloor(row.cell.name) && row.cell.name !== session.again);
}

const WORDS = {
  faster: 'faster',
  slower: 'slower',
  no_difference: 'no difference',
  undecided: 'undecided',
  base: 'the base',
  again: 'the base again',
  floor: 'the floor',
  apart: 'apart',
  unranked: 'not ranked',
};

const STATES = {
  warm: 'warm',
  cold: isOfFiles && session.environment.hypervisor ? 'guest cold' : 'cold',
  as_is: isOfFiles ? 'as it is' : 'as they are',
};

/** What is said of a row: the key of its word, and of its colour. */
function verdictOf(row) {
  const name = row.cell.name;
  if (name === session.base) return 'base';
  if (name === session.again) return 'again';
  if (isFloor(name)) return 'floor';
  if (ranking().apart.includes(row)) return 'apart';
  return row.judgement ? row.judgement.verdict : 'undecided';
}

const languages = [...new Set(session.cells.map((cell) => cell.language))].sort();

/** The class that colours a row. */
function colourOf(row) {
  return view.colour === 'language'
    ? `l${languages.indexOf(row.cell.language) % 12}`
    : `v-${verdictOf(row)}`;
}

/** Whether the filters let a cell pass. */
function passesFilter(cell, verdict) {
  const words = view.text.toLowerCase().split(/\s+/).filter((word) => word !== '');
  const text = [cell.name, cell.language, ...cell.contract].join(' ').toLowerCase();
  return words.every((word) => text.includes(word))
    && (view.language === '' || cell.language === view.language)
    && (view.verdict === '' || verdict === view.verdict);
}

/** The rows that the filters let pass, the fastest first. */
function shown() {
  return ranking().rows.filter((row) => passesFilter(row.cell, verdictOf(row)));
}

/** The rows that leave nothing unwritten where the base does, as far as the filters let them pass. */
function shownApart() {
  return ranking().apart.filter((row) => passesFilter(row.cell, 'apart'));
}

/** What is compared: the time by each method's own clock, or the processors' where others disturbed
 * too many samples. */
function isByProcessor() {
  return ranking().by === 'processor';
}

/** Why there is nobody to draw. */
function nobody() {
  return ranking().rows.length > 0 ? 'No method passes the filters.' : 'No method has a time here.';
}

/** What has no time, as far as the filters let it pass. */
function shownUnranked() {
  return ranking().unranked
    .map(({ cell, reason }) => ({ cell: session.cells.find(({ name }) => name === cell), reason }))
    .filter(({ cell }) => passesFilter(cell, 'unranked'));
}
