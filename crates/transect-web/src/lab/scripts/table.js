// All numbers, sortable and copyable.

const CPU = (row) => row.user_ns + row.system_ns;
const RANKS = ['base', 'again', 'floor', 'faster', 'less_cpu', 'no_difference', 'undecided', 'slower', 'more_cpu'];

const known = (value, of) => (typeof value === 'number' ? of(value) : '');
const RATE = (row) => place().expected.bytes / row.time.median;

/** Columns of transforms. */
const COLUMNS_OF_FILES = [
  UNIT === 'byte' && ['rate', 'MB/s', RATE, (row) => whole(RATE(row) * 1e3), 'millions of input bytes per second'],
  ['each', `per ${UNIT}`, (row) => row.time.median, (row) => each(row.time.median / unitsOf(place())), `median divided by the number of ${UNITS}`],
  ['user', 'user', (row) => row.user_ns, (row) => duration(row.user_ns), 'user time of the process'],
  ['system', 'sys', (row) => row.system_ns, (row) => duration(row.system_ns), 'kernel time of the process'],
  ['faults', 'faults', (row) => row.faults, (row) => known(row.faults, whole), 'page faults'],
  ['switches', 'switches', (row) => row.switches, (row) => known(row.switches, whole), 'context switches of the first thread'],
  ['unwritten', 'unwritten', (row) => row.unwritten, (row) => known(row.unwritten, bytes), 'output not yet on the device at the end'],
  ['read', 'read', (row) => row.device_read, (row) => known(row.device_read, bytes), 'bytes read from devices'],
  ['written', 'written', (row) => row.device_written, (row) => known(row.device_written, bytes), 'bytes queued for devices'],
].filter(Boolean);

const anyCell = (of) => session.cells.some((cell) => of(cell) !== undefined && of(cell) !== null);

/** Columns: key, title, sort value, text, and tooltip. */
const COLUMNS = [
  ['method', 'method', (row) => row.cell.name.toLowerCase(), null, ''],
  ['verdict', 'verdict', (row) => RANKS.indexOf(verdictOf(row)), (row) => (
    h('span', {}, h('span', { class: `badge v-${verdictOf(row)}` }, verdictInWords(row)),
      row.below_the_floor ? h('span', { class: 'badge alarm' }, 'below the floor?') : null)), 'against the base'],
  ['median', 'median', (row) => row.time.median, (row) => duration(row.time.median), 'median of all rounds, of the time that is compared'],
  ['mad', 'MAD', (row) => row.time.mad / row.time.median, (row) => percent(row.time.mad / row.time.median), 'median absolute deviation'],
  ['to_base', '× base', (row) => row.to_base?.median, (row) => row.to_base && interval(row.to_base), 'with its 95 % interval'],
  ['to_floor', '× floor', (row) => row.to_floor?.median, (row) => row.to_floor && interval(row.to_floor), 'with its 95 % interval'],
  ['slowest', '× slowest', (row) => row.against_the_slowest, (row) => ratio(row.against_the_slowest), 'speed relative to the slowest'],
  ['cpu', 'cpu', CPU, (row) => duration(CPU(row)), 'user and system time of the process'],
  ['cores', 'cores', (row) => row.cores, (row) => known(row.cores, (cores) => cores.toFixed(2)), 'CPU time of a run divided by its time'],
  ['memory', 'memory', (row) => row.peak_memory, (row) => (row.peak_memory ? bytes(row.peak_memory) : ''), 'peak memory of the process'],
  ...(isOfQuestions ? [['held', 'cache per name', (row) => row.held_each, (row) => known(row.held_each, bytes), 'memory of the cache per name']] : []),
  ['calls', 'calls', (row) => row.accesses?.calls, (row) => row.accesses && (row.accesses.calls / row.accesses.entries).toFixed(2), `system calls per ${CALLER[0]}`],
  ...(isOfFiles ? COLUMNS_OF_FILES : []),
  ['min', 'min', (row) => row.time.min, (row) => duration(row.time.min), ''],
  ['max', 'max', (row) => row.time.max, (row) => duration(row.time.max), ''],
  ['n', 'n', (row) => row.time.n, (row) => String(row.time.n), 'rounds'],
  ...(anyCell((cell) => cell.code) ? [
    ['lines', 'lines', (row) => row.cell.code?.lines, (row) => known(row.cell.code?.lines, whole), 'lines of code of its contender, all methods together'],
  ] : []),
  ['language', 'language', (row) => row.cell.language.toLowerCase(), (row) => named(row.cell.language), ''],
];
const TEXTS = ['method', 'verdict', 'language'];
/** Columns that are not printed on paper. */
const MINOR = ['cores', 'lines', 'user', 'system', 'switches', 'read', 'written', 'slowest', 'memory', 'min', 'max', 'n', 'language'];

function kindOf(key) {
  return [TEXTS.includes(key) ? '' : 'number', MINOR.includes(key) ? 'minor' : ''].join(' ').trim() || null;
}

function tableCard() {
  const { section, body } = card('table', 'All numbers',
    'Click a title to sort, a method for details.',
    copyButton('Copy as CSV', csvOfShown));
  const title = section.querySelector('h2');
  return {
    section,
    draw() {
      title.textContent = isByProcessor() ? 'All numbers, by CPU time' : 'All numbers';
      const table = h('table', { class: 'all' }, h('thead', {}, h('tr', {}, COLUMNS.map(heading))),
        h('tbody', {}, sorted().map((row) => line(row, COLUMNS)), shownUnranked().map(unrankedLine)));
      const focused = document.activeElement?.dataset?.column;
      body.replaceChildren(h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'All numbers' }, table));
      if (focused) table.querySelector(`[data-column="${focused}"]`)?.focus();
    },
  };
}

/** Methods that did more than the base, or do not prove that they did as much; without the columns that compare with it. */
function apartCard() {
  const columns = COLUMNS.filter(([key]) => !['verdict', 'to_base', 'to_floor'].includes(key));
  const { section, body } = card('apart', 'Listed separately',
    'These methods are not ranked: they wrote everything to the device and the base did not, or they give no digest of what they found.');
  return {
    section,
    draw() {
      section.hidden = ranking().apart.length === 0;
      const titles = columns.map(([key, title, , , about]) => (
        h('th', { scope: 'col', class: kindOf(key), title: about || null }, title)));
      body.replaceChildren(h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Listed separately' },
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

/** The rows in the selected order; rows without a value are last in both directions. */
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

/** The rows shown as CSV, in the order of the ranking. */
function csvOfShown() {
  const { rows, apart } = ranking();
  const cells = [...[...rows, ...apart].map((row) => row.cell.name), ...ranking().unranked.map(({ cell }) => cell)];
  const there = new Set([...shown(), ...shownApart(), ...shownUnranked()].map(({ cell }) => cell.name));
  const lines = csv[index()].filter((_, at) => there.has(cells[at]));
  return [csvHead, ...lines, ''].join('\n');
}
