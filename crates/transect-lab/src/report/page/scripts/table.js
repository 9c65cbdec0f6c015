// All numbers: sortable, and to be taken along.

const CPU = (row) => row.user_ns + row.system_ns;
const RANKS = ['base', 'again', 'floor', 'faster', 'no_difference', 'undecided', 'slower'];

const told = (value, of) => (typeof value === 'number' ? of(value) : '');
const RATE = (row) => place().expected.bytes / row.time.median;

/** What only passes over files have. */
const COLUMNS_OF_FILES = [
  UNIT === 'byte' && ['rate', 'MB/s', RATE, (row) => whole(RATE(row) * 1e3), 'a million bytes of the input in a second'],
  ['each', `per ${UNIT}`, (row) => row.time.median, (row) => each(row.time.median / unitsOf(place())), 'the median over what there is'],
  ['user', 'user', (row) => row.user_ns, (row) => duration(row.user_ns), 'of the whole process'],
  ['system', 'sys', (row) => row.system_ns, (row) => duration(row.system_ns), 'in the kernel, for the whole process'],
  ['faults', 'faults', (row) => row.faults, (row) => told(row.faults, whole), 'pages touched first, or fetched from a device'],
  ['switches', 'switches', (row) => row.switches, (row) => told(row.switches, whole), 'how often its first thread waited, or was made to'],
  ['unwritten', 'unwritten', (row) => row.unwritten, (row) => told(row.unwritten, bytes), 'what of the output was not on the device at the end'],
  ['read', 'read', (row) => row.device_read, (row) => told(row.device_read, bytes), 'from devices'],
  ['written', 'written', (row) => row.device_written, (row) => told(row.device_written, bytes), 'for devices to write, sooner or later'],
  ['fresh', 'fresh', (row) => row.fresh, (row) => told(row.fresh, ratio), 'processor time of the run before over that of the measured one'],
].filter(Boolean);

/** Columns: key, title, what it is sorted by, what is shown, and what it means. */
const COLUMNS = [
  ['method', 'method', (row) => row.cell.name.toLowerCase(), null, ''],
  ['verdict', 'verdict', (row) => RANKS.indexOf(verdictOf(row)), (row) => (
    h('span', {}, h('span', { class: `badge v-${verdictOf(row)}` }, WORDS[verdictOf(row)]),
      row.below_the_floor ? h('span', { class: 'badge alarm' }, 'below the floor?') : null)), 'beside the base'],
  ['median', 'median', (row) => row.time.median, (row) => duration(row.time.median), 'of all rounds: of time, or of processor time where that is compared'],
  ['mad', 'MAD', (row) => row.time.mad / row.time.median, (row) => percent(row.time.mad / row.time.median), 'median absolute deviation'],
  ['to_base', '× base', (row) => row.to_base?.median, (row) => row.to_base && interval(row.to_base), 'with its 95 % interval'],
  ['to_floor', '× floor', (row) => row.to_floor?.median, (row) => row.to_floor && interval(row.to_floor), 'with its 95 % interval'],
  ['slowest', '× slowest', (row) => row.against_the_slowest, (row) => ratio(row.against_the_slowest), 'how many times as fast as the slowest'],
  ['cpu', 'cpu', CPU, (row) => duration(CPU(row)), 'user and system, of the whole process'],
  ['memory', 'memory', (row) => row.peak_memory, (row) => (row.peak_memory ? bytes(row.peak_memory) : ''), 'the most that its process held'],
  ...(isOfQuestions ? [['held', 'cache per name', (row) => row.held_each, (row) => told(row.held_each, bytes), 'the memory that a cache takes for each name of which it knows something']] : []),
  ['calls', 'calls', (row) => row.accesses?.calls, (row) => row.accesses && (row.accesses.calls / row.accesses.entries).toFixed(2), `system calls for each ${CALLER[0]}`],
  ...(isOfFiles ? COLUMNS_OF_FILES : []),
  ['min', 'min', (row) => row.time.min, (row) => duration(row.time.min), ''],
  ['max', 'max', (row) => row.time.max, (row) => duration(row.time.max), ''],
  ['n', 'n', (row) => row.time.n, (row) => String(row.time.n), 'rounds'],
  ['language', 'language', (row) => row.cell.language.toLowerCase(), (row) => named(row.cell.language), ''],
  ['contract', 'contract', (row) => row.cell.contract.join(' '), (row) => named(row.cell.contract.join(' ')), 'rows of the seed contract'],
];
const TEXTS = ['method', 'verdict', 'language', 'contract'];
/** What a sheet of paper has no room for. */
const MINOR = ['user', 'system', 'switches', 'read', 'written', 'fresh', 'slowest', 'memory', 'min', 'max', 'n', 'language', 'contract'];

function kindOf(key) {
  return [TEXTS.includes(key) ? '' : 'number', MINOR.includes(key) ? 'minor' : ''].join(' ').trim() || null;
}

function tableCard() {
  const { section, body } = card('table', 'All numbers',
    'Sorted by a click on a title; a method opens all that is known of it.',
    copyButton('Copy as CSV', csvOfShown));
  const title = section.querySelector('h2');
  return {
    section,
    draw() {
      title.textContent = isByProcessor() ? 'All numbers, by processor time' : 'All numbers';
      const table = h('table', { class: 'all' }, h('thead', {}, h('tr', {}, COLUMNS.map(heading))),
        h('tbody', {}, sorted().map((row) => line(row, COLUMNS)), shownUnranked().map(unrankedLine)));
      const focused = document.activeElement?.dataset?.column;
      body.replaceChildren(h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'All numbers' }, table));
      if (focused) table.querySelector(`[data-column="${focused}"]`)?.focus();
    },
  };
}

/** Those that did more than the base: what compares them with it has no column. */
function apartCard() {
  const columns = COLUMNS.filter(([key]) => !['verdict', 'to_base', 'to_floor'].includes(key));
  const { section, body } = card('apart', 'Apart',
    'They leave nothing unwritten where the base does: they did more, so they are compared with nobody.');
  return {
    section,
    draw() {
      section.hidden = ranking().apart.length === 0;
      const titles = columns.map(([key, title, , , about]) => (
        h('th', { scope: 'col', class: kindOf(key), title: about || null }, title)));
      body.replaceChildren(h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Apart' },
        h('table', { class: 'all' }, h('thead', {}, h('tr', {}, titles)),
          h('tbody', {}, shownApart().map((row) => line(row, columns))))));
    },
  };
}

function heading([key, title, , , about]) {
  const { column, down } = view.sort;
  const isBy = column === key;
  return h('th', {
    scope: 'col', class: kindOf(key),
    'aria-sort': isBy ? (down ? 'descending' : 'ascending') : null,
  }, h('button', {
    type: 'button', 'data-column': key, title: about || null,
    click: () => {
      view.sort = { column: key, down: isBy && !down };
      redraw();
    },
  }, title, h('span', { class: 'arrow', 'aria-hidden': 'true' }, isBy ? (down ? '▼' : '▲') : '')));
}

/** The rows in the order asked for; what has no value is last in both directions. */
function sorted() {
  const by = COLUMNS.find(([key]) => key === view.sort.column)[2];
  const sign = view.sort.down ? -1 : 1;
  return shown().map((row, at) => ({ row, at, key: by(row) })).sort((a, b) => {
    const lacks = (value) => value === undefined || value === null;
    if (lacks(a.key) || lacks(b.key)) return lacks(a.key) - lacks(b.key) || a.at - b.at;
    return sign * (a.key < b.key ? -1 : a.key > b.key ? 1 : 0) || a.at - b.at;
  }).map(({ row }) => row);
}

function opener(name) {
  return h('button', { type: 'button', class: 'link', click: () => openDetail(name) }, named(name));
}

function line(row, columns) {
  const cells = columns.slice(1).map(([key, , , text]) => (
    h('td', { class: kindOf(key) }, text(row) || '')));
  return h('tr', { 'data-method': row.cell.name, class: colourOf(row) },
    h('th', { scope: 'row' }, opener(row.cell.name)), cells);
}

function unrankedLine({ cell, reason }) {
  return h('tr', { class: 'unranked', 'data-method': cell.name },
    h('th', { scope: 'row' }, opener(cell.name)),
    h('td', {}, h('span', { class: 'badge v-unranked' }, WORDS.unranked)),
    h('td', { colspan: COLUMNS.length - 2, class: 'reason' }, named(reason)));
}

/** What is shown, in the order of the ranking. */
function csvOfShown() {
  const { rows, apart, unranked } = ranking();
  const cells = [...[...rows, ...apart].map((row) => row.cell.name), ...unranked.map(({ cell }) => cell)];
  const there = new Set([...shown(), ...shownApart(), ...shownUnranked()].map(({ cell }) => cell.name));
  const lines = csv[index()].filter((_, at) => there.has(cells[at]));
  return [csvHead, ...lines, ''].join('\n');
}
