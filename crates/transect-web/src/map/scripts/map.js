// Builds the page.

const KEYS = [
  ['click', 'open the next directory; click a name to open that one'],
  ['wheel, pinch, + −', 'zoom; opens a directory that fills the screen'],
  ['drag, Shift + arrows', 'move the zoomed map'],
  ['arrows, Enter', 'select an entry, open it'],
  ['Backspace, Escape', 'go to the parent directory'],
  ['Home', 'go to the top'],
  ['/', 'search'],
  ['c, t', 'change colours; light or dark'],
];

const field = h('input', {
  id: 'search', type: 'search', placeholder: 'Search names  /', 'aria-label': 'Search names', autocomplete: 'off', spellcheck: 'false',
});
const colourSelect = h('select', { id: 'colours', 'aria-label': 'Colour by', change: () => colourBy(colourSelect.value) },
  Object.entries(COLOUR_MODES).map(([value, { label }]) => h('option', { value }, `by ${label}`)));
const theme = h('button', { type: 'button', class: 'quiet', id: 'theme', 'aria-label': 'Light or dark', title: 'Light or dark (t)', click: turnTheme }, '◐');
const helpOfLimits = h('p', {});
const help = h('dialog', { class: 'help', 'aria-labelledby': 'help-title' },
  h('header', {}, h('h2', { id: 'help-title' }, 'The map'), h('button', { type: 'button', class: 'quiet', click: () => help.close() }, 'Close')),
  h('p', {}, `Area shows size (${MEASURE_NAME}), colour shows file type, age or owner. A file with several names counts once, at one of them.`),
  h('dl', {}, KEYS.flatMap(([key, what]) => [h('dt', {}, key), h('dd', {}, what)])),
  helpOfLimits);
const helpButton = h('button', { type: 'button', class: 'quiet', id: 'help', 'aria-label': 'Help', title: 'Help (?)', click: () => help.showModal() }, '?');

function limits() {
  if (about.reading) return 'Directories appear as they are read, other entries at the end.';
  const beyond = about.entries - about.shown;
  if (beyond === 0) return `All ${counted(about.entries, 'entry', 'entries')} are shown.`;
  return `The ${counted(about.shown, 'largest entry', 'largest entries')} are shown (--max-entries ${count(about.max_entries)}); ${counted(beyond, 'smaller one is', 'smaller ones are')} summed up by directory.`;
}

/** Why the result is partial; empty if it is complete. */
function problems() {
  const found = [];
  if (about.interrupted) found.push('interrupted');
  if (about.errors > 0) found.push(counted(about.errors, 'error', 'errors'));
  else if (!about.complete && !about.interrupted && !about.reading) found.push('some entries not read');
  if (found.length > 0) found.unshift('Partial');
  return found.join(', ');
}

function turnTheme() {
  document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
  applyTheme();
}

/** Applies the light or dark theme to everything. */
function applyTheme() {
  prepareTones();
  drawLegend();
  redraw();
  drawSide();
}

let answer = null;

function drawSide() {
  if (answer) drawFound(answer, field.value);
  else drawListing();
}

function find() {
  answer = field.value === '' ? null : searchFor(field.value);
  found = answer?.marks ?? null;
}

function search() {
  find();
  if (answer) spoken.textContent = `${counted(answer.hits.length, 'entry', 'entries')} found`;
  redraw();
  drawSide();
}

let typing = 0;
field.addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(search, 120);
});
field.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') field.value = '';
  else if (event.key !== 'Enter') return;
  clearTimeout(typing);
  search();
  if (event.key === 'Escape') picture.focus();
  else body.querySelector('button')?.focus();
});

document.addEventListener('keydown', (event) => {
  if (event.target.closest('input, select, dialog') || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '/') field.focus();
  else if (event.key === 'c') {
    colourSelect.selectedIndex = (colourSelect.selectedIndex + 1) % colourSelect.length;
    colourBy(colourSelect.value);
    drawSide();
  } else if (event.key === 't') turnTheme();
  else if (event.key === '?') help.showModal();
  else return;
  event.preventDefault();
});
colourSelect.addEventListener('change', drawSide);
darkness.addEventListener('change', applyTheme);

let shownDirectory = -1;
listeners.push(() => {
  if (shownDirectory !== view.at) {
    shownDirectory = view.at;
    drawPath();
    drawLegendSoon();
    drawSide();
    spoken.textContent = `${nameOf(view.at)}, ${bytes(size[view.at])}, ${counted(children[view.at], 'entry', 'entries')}`;
  }
  for (const row of body.querySelectorAll('.chosen')) row.classList.remove('chosen');
  const row = body.querySelector(`[data-at="${view.chosen}"]`);
  row?.classList.add('chosen');
  row?.scrollIntoView({ block: 'nearest' });
  updateDetail();
});

const footer = h('footer', {});
/** The progress while the tree is being read. */
const reading = h('span', { class: 'reading', hidden: true });

/** The totals, and what is missing. */
function drawFooter() {
  const doubt = problems();
  const whole = `${counted(about.entries, 'entry', 'entries')}, ${bytes(size[TOP])} ${MEASURE_NAME}; read ${day(about.read_at)}`;
  footer.replaceChildren(...[
    doubt ? h('strong', { class: 'doubt' }, doubt) : null, about.reading ? null : h('span', {}, whole),
    about.entries === about.shown && !about.reading ? null : h('span', {}, limits()),
  ].filter(Boolean));
  helpOfLimits.textContent = `${limits()} Ages are relative to ${day(about.read_at)}. This page works offline.`;
}

const app = document.getElementById('app');
app.append(
  h('header', { class: 'top' },
    h('span', { class: 'brand' }, h('span', { class: 'mark' }), 'transect map'), pathNav, reading,
    h('form', { class: 'tools', role: 'search', submit: (event) => event.preventDefault() }, field, colourSelect, theme, helpButton)),
  h('main', {}, h('section', { class: 'chart', 'aria-label': 'Map' }, stage, detail, legend), listing),
  footer, help, spoken);
document.getElementById('plain').remove();
app.hidden = false;
classify(colourSelect.value);
prepareTones();
drawFooter();
draw();
notifyListeners();
new ResizeObserver(redraw).observe(stage);
document.documentElement.dataset.ready = 'yes';
performance.measure('unpack', 'unpack');
