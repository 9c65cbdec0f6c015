// The page, put together.

const KEYS = [
  ['click', 'open a directory; its name opens it however deep it lies'],
  ['wheel, pinch, + −', 'magnify; what fills the screen is opened'],
  ['drag, Shift + arrows', 'move a magnified map'],
  ['arrows, Enter', 'choose an entry, open it'],
  ['Backspace, Escape', 'back to the directory above'],
  ['Home', 'all of it'],
  ['/', 'search'],
  ['c, t', 'other colours; light or dark'],
];

const field = h('input', {
  id: 'search', type: 'search', placeholder: 'Search names  /', 'aria-label': 'Search names', autocomplete: 'off', spellcheck: 'false',
});
const ways = h('select', { id: 'colours', 'aria-label': 'Colour by', change: () => colourBy(ways.value) },
  Object.entries(WAYS).map(([value, { label }]) => h('option', { value }, `by ${label}`)));
const theme = h('button', { type: 'button', class: 'quiet', id: 'theme', 'aria-label': 'Light or dark', title: 'Light or dark (t)', click: turnTheme }, '◐');
const helpOfLimits = h('p', {});
const help = h('dialog', { class: 'help', 'aria-labelledby': 'help-title' },
  h('header', {}, h('h2', { id: 'help-title' }, 'The map'), h('button', { type: 'button', class: 'quiet', click: () => help.close() }, 'Close')),
  h('p', {}, `Areas are as large as what they stand for: bytes ${MEASURE}, among the entries of one directory. A file with several names is charged to one of them; the others are told to share it.`),
  h('dl', {}, KEYS.flatMap(([key, what]) => [h('dt', {}, key), h('dd', {}, what)])),
  helpOfLimits);
const helpButton = h('button', { type: 'button', class: 'quiet', id: 'help', 'aria-label': 'Help', title: 'Help (?)', click: () => help.showModal() }, '?');

function limits() {
  if (about.reading) return 'Directories are shown as they are read, what else is in them at the end.';
  const beyond = about.entries - about.shown;
  if (beyond === 0) return `All ${counted(about.entries, 'entry', 'entries')} are shown.`;
  return `The ${counted(about.shown, 'largest entry', 'largest entries')} are shown one by one (--max-entries ${count(about.max_entries)}); ${counted(beyond, 'smaller one is', 'smaller ones are')} summed up in their directories.`;
}

/** What speaks against the numbers, in words. */
function doubts() {
  const told = [];
  if (about.interrupted) told.push('interrupted before its end');
  if (about.errors > 0) told.push(counted(about.errors, 'error', 'errors'));
  else if (!about.complete && !about.interrupted && !about.reading) told.push('something could not be read');
  if (told.length > 0) told.unshift('Partial');
  return told.join(', ');
}

function turnTheme() {
  document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
  dress();
}

/** Everything in the colours of light or dark. */
function dress() {
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
    ways.selectedIndex = (ways.selectedIndex + 1) % ways.length;
    colourBy(ways.value);
    drawSide();
  } else if (event.key === 't') turnTheme();
  else if (event.key === '?') help.showModal();
  else return;
  event.preventDefault();
});
ways.addEventListener('change', drawSide);
darkness.addEventListener('change', dress);

let looked = -1;
listeners.push(() => {
  if (looked !== view.at) {
    looked = view.at;
    drawWay();
    drawLegendSoon();
    drawSide();
    spoken.textContent = `${nameOf(view.at)}, ${bytes(size[view.at])}, ${counted(children[view.at], 'entry', 'entries')}`;
  }
  for (const row of body.querySelectorAll('.chosen')) row.classList.remove('chosen');
  const row = body.querySelector(`[data-at="${view.chosen}"]`);
  row?.classList.add('chosen');
  row?.scrollIntoView({ block: 'nearest' });
  tellDetail();
});

const footer = h('footer', {});
/** How far the reading is, in words, as long as it goes on. */
const reading = h('span', { class: 'reading', hidden: true });

/** What holds of all that is shown. */
function drawFooter() {
  const doubt = doubts();
  const whole = `${counted(about.entries, 'entry', 'entries')}, ${bytes(size[TOP])} ${MEASURE}; read ${day(about.read_at)}`;
  footer.replaceChildren(...[
    doubt ? h('strong', { class: 'doubt' }, doubt) : null, about.reading ? null : h('span', {}, whole),
    about.entries === about.shown && !about.reading ? null : h('span', {}, limits()),
  ].filter(Boolean));
  helpOfLimits.textContent = `${limits()} Ages are those of ${day(about.read_at)}, when it was read. This page holds all its data and asks no network.`;
}

const app = document.getElementById('app');
app.append(
  h('header', { class: 'top' },
    h('span', { class: 'brand' }, h('span', { class: 'mark' }), 'transect map'), way, reading,
    h('form', { class: 'tools', role: 'search', submit: (event) => event.preventDefault() }, field, ways, theme, helpButton)),
  h('main', {}, h('section', { class: 'chart', 'aria-label': 'Map' }, stage, detail, legend), listing),
  footer, help, spoken);
document.getElementById('plain').remove();
app.hidden = false;
classify(ways.value);
prepareTones();
drawFooter();
draw();
tell();
new ResizeObserver(redraw).observe(stage);
document.documentElement.dataset.ready = 'yes';
performance.measure('unpack', 'unpack');
