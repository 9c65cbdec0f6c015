// The data of the session, and the current selection.

const { report, kind, seed, csv, csv_head: csvHead } = JSON.parse(document.getElementById('data').textContent);
const session = report.session;
const passes = session.passes.length;

/** The current selection. */
const view = {
  place: 0,
  pass: 0,
  text: '',
  language: '',
  verdict: '',
  colour: 'verdict',
  // Chosen by the spread of the times until the user chooses.
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

/** Transforms of files instead of walks. */
const isOfFiles = kind === 'transform';
/** Attribute queries instead of walks. */
const isOfQuestions = kind === 'attributes';
/** Transforms of many small files: the cost per file matters. */
const isOfMany = session.places.some((somewhere) => somewhere.phase);

/** The unit of costs: a question, an entry, one of many files, or a byte of a large file. */
const UNIT = isOfQuestions ? 'question' : !isOfFiles ? 'entry' : isOfMany ? 'file' : 'byte';
const UNITS = { question: 'questions', entry: 'entries', file: 'files', byte: 'bytes' }[UNIT];

/** The number of units in a dataset. */
function unitsOf({ expected, asked }) {
  return { question: asked?.questions, entry: expected.files + expected.directories, file: expected.files, byte: expected.bytes }[UNIT];
}

/** The number of units as text. */
function amount(units) {
  return UNIT === 'byte' ? bytes(units) : `${whole(units)} ${units === 1 ? UNIT : UNITS}`;
}

const floors = new Set([session.floor, session.parallel_floor, session.cold_floor,
  ...session.cells.filter(({ kind }) => kind === 'floor').map(({ name }) => name)]);

function isFloor(name) {
  return floors.has(name);
}

const SIZES = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

/** The block size of a cell in bytes, and its name without it; null if the name has no block size. */
function blockOf({ method }) {
  const found = method.match(/^(.*),block=(\d+)([KMGT]?)(.*)$/);
  return found && { block: Number(found[2]) * SIZES[found[3]], rest: found[1] + found[4] };
}

/** The rows that are methods: without floors and without the repeated base. */
function methodsOf(rows) {
  return rows.filter((row) => !isFloor(row.cell.name) && row.cell.name !== session.again);
}

const WORDS = {
  faster: 'faster',
  less_cpu: 'less CPU',
  slower: 'slower',
  no_difference: 'no difference',
  undecided: 'undecided',
  more_cpu: 'more CPU',
  base: 'the base',
  again: 'the base again',
  floor: 'the floor',
  apart: 'listed separately',
  unranked: 'not ranked',
};

if (session.environment.wine) {
  for (const verdict of ['faster', 'less_cpu', 'slower', 'no_difference', 'undecided', 'more_cpu']) {
    WORDS[verdict] += ' (under Wine)';
  }
}

const STATES = {
  warm: 'warm',
  cold: session.dropped ? 'dropped, unproved' : isOfFiles && session.environment.hypervisor ? 'guest cold' : 'cold',
  as_is: 'as is',
};

/** The verdict of a row: a key of WORDS, which also selects the colour. */
function verdictOf(row) {
  const name = row.cell.name;
  if (name === session.base) return 'base';
  if (name === session.again) return 'again';
  if (isFloor(name)) return 'floor';
  if (ranking().apart.includes(row)) return 'apart';
  return row.judgement ? row.judgement.verdict : 'undecided';
}

/** The verdict of a row in words: if only the other comparisons leave it undecided, what it would be alone. */
function verdictInWords(row) {
  const { judgement, alone } = row;
  if (judgement?.verdict !== 'undecided') return WORDS[verdictOf(row)];
  if (!['undecided', 'no_difference'].includes(alone.verdict)) return `${WORDS[alone.verdict]}, if asked alone`;
  return row.time.n < 5 ? 'too few rounds' : WORDS.undecided;
}

const languages = [...new Set(session.cells.map((cell) => cell.language))].sort();

/** The class that colours a row. */
function colourOf(row) {
  return view.colour === 'language'
    ? `l${languages.indexOf(row.cell.language) % 12}`
    : `v-${verdictOf(row)}`;
}

/** Returns whether a cell matches the filters. */
function passesFilter(cell, verdict) {
  const words = view.text.toLowerCase().split(/\s+/).filter((word) => word !== '');
  const text = [cell.name, cell.language].join(' ').toLowerCase();
  return words.every((word) => text.includes(word))
    && (view.language === '' || cell.language === view.language)
    && (view.verdict === '' || verdict === view.verdict);
}

/** The rows that match the filters, fastest first. */
function shown() {
  return ranking().rows.filter((row) => passesFilter(row.cell, verdictOf(row)));
}

/** The rows listed separately that match the filters: methods that sync while the base does not. */
function shownApart() {
  return ranking().apart.filter((row) => passesFilter(row.cell, 'apart'));
}

/** Returns whether CPU time is compared, because too many samples were disturbed. Otherwise it is wall
 * time. */
function isByProcessor() {
  return ranking().by === 'processor';
}

/** Why a chart is empty. */
function emptyReason() {
  return ranking().rows.length > 0 ? 'No method matches the filters.' : 'No method has a time here.';
}

/** The cells without a rank that match the filters. */
function shownUnranked() {
  return ranking().unranked
    .map(({ cell, reason }) => ({ cell: session.cells.find(({ name }) => name === cell), reason }))
    .filter(({ cell }) => passesFilter(cell, 'unranked'));
}
