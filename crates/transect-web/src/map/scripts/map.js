// Builds the page.

const KEYS = [
  ['click', 'open the next directory; click a name to open that one'],
  ['wheel, pinch, + −', 'zoom; opens a directory that fills the screen'],
  ['drag, Shift + arrows', 'move the zoomed map'],
  ['arrows, Enter', 'select an entry, open it'],
  ['Backspace, Escape', 'go to the parent directory'],
  ['Home', 'go to the top'],
  ['/', 'search'],
  ['1, 2, …', 'open a list beside the map'],
  ['y', 'copy the path'],
  ['d', 'show the tree within the disk'],
  ['c, t', 'change colours; light or dark'],
];

const field = h('input', {
  id: 'search', type: 'search', placeholder: 'Search names  /', 'aria-label': 'Search names', autocomplete: 'off', spellcheck: 'false',
});
const colourSelect = h('select', { id: 'colours', 'aria-label': 'Colour by', change: () => colourBy(colourSelect.value) },
  Object.entries(COLOUR_MODES).map(([value, { label }]) => h('option', { value }, `by ${label}`)));
const theme = h('button', { type: 'button', class: 'quiet', id: 'theme', 'aria-label': 'Light or dark', title: 'Light or dark (t)', click: turnTheme }, '◐');
const frameButton = h('button', {
  type: 'button', class: 'quiet', id: 'frame', 'aria-pressed': 'false', title: 'Show the tree within the disk (d)', click: toggleFrame,
}, 'Disk');
const keyList = h('dl', {}, KEYS.flatMap(([key, what]) => [h('dt', {}, key), h('dd', {}, what)]));
const helpOfLimits = h('p', {});
const help = h('dialog', { class: 'help', 'aria-labelledby': 'help-title' },
  h('header', {}, h('h2', { id: 'help-title' }, 'The map'), h('button', { type: 'button', class: 'quiet', click: () => help.close() }, 'Close')),
  h('p', {}, `${texts.help} Sizes are ${MEASURE_NAME}. A file with several names counts once, at one of them.`),
  keyList, helpOfLimits);
const helpButton = h('button', { type: 'button', class: 'quiet', id: 'help', 'aria-label': 'Help', title: 'Help (?)', click: () => help.showModal() }, '?');

function limits() {
  if (about.reading) return 'Directories and large files appear as they are read, other entries at the end.';
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

/** Shows or hides the disk around the tree. */
function toggleFrame() {
  view.framed = !view.framed && canFrame();
  frameButton.setAttribute('aria-pressed', String(view.framed));
  if (view.framed && view.at !== TOP) goTo(TOP);
  else redraw();
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

/** Whether the table shows another list than that of the directory. */
function isListOpen() {
  return answer !== null || tab !== 'directory';
}

function drawSide() {
  setTitles(answer ? COLUMNS : tabs[tab].heads);
  if (answer) drawFound(answer, field.value);
  else tabs[tab].draw();
}

/** Draws the list again with as many rows as before, at the same position. */
function redrawList() {
  const shown = body.rows.length;
  const rows = body.closest('.rows');
  const scrolled = rows.scrollTop;
  drawSide();
  while (body.rows.length < shown && !others.hidden) others.click();
  rows.scrollTop = scrolled;
}

function find() {
  answer = field.value === '' ? null : searchFor(field.value);
  found = answer ? answer.marks : tabs[tab].marks();
}

/** Shows a list beside the map. A search ends. */
function openTab(name) {
  field.value = '';
  selectTab(name);
  find();
  redraw();
  drawSide();
}

/** Highlights an extension; all entries if it is highlighted. */
function highlight(name) {
  extension = extension === name ? null : name;
  find();
  redraw();
  redrawList();
  body.querySelector(`[data-extension="${CSS.escape(name)}"] button`)?.focus({ preventScroll: true });
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
  else if (Object.keys(tabs)[event.key - 1]) openTab(Object.keys(tabs)[event.key - 1]);
  else if (event.key === 'y') copyPath.click();
  else if (event.key === 'd') toggleFrame();
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
    // The other lists are those of the directory.
    if (tab !== 'directory' && !answer) {
      find();
      redraw();
    }
    if (answer || tab === 'duplicates') redrawList();
    else drawSide();
    spoken.textContent = `${nameOf(view.at)}, ${texts.facts(view.at).filter(Boolean).join(', ')}, ${counted(children[view.at], 'entry', 'entries')}`;
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

const disk = h('span', { class: 'disk', id: 'disk' });

/** The space of the file system that the tree is on, the tree's share of it, and files with holes. */
function diskFacts() {
  if (!about.disk) return [];
  const { size: all, used, available, disk_usage: usage, apparent_size: apparent } = about.disk;
  const space = `${bytes(available)} available of ${bytes(all)}`;
  // More than what is in use is possible if the tree contains mounts of other file systems.
  const share = usage <= used && !about.reading ? `; this tree is ${percent(used > 0 ? usage / used : 0)} of what is used` : '';
  const sparse = apparent > all ? `Sparse: apparent ${bytes(apparent)} on a disk of ${bytes(all)}: files with holes` : null;
  return [space, `Disk: ${space}${share}`, sparse];
}

/** The totals, the disk, and what is missing. */
function drawFooter() {
  const doubt = problems();
  const [space, diskText, sparse] = about.changes ? CHANGE_TEXTS.summary() : diskFacts();
  frameButton.hidden = !canFrame();
  disk.hidden = !space;
  disk.textContent = space ?? '';
  const number = counted(about.entries, 'entry', 'entries');
  const whole = about.changes ? number : `${number}, ${bytes(size[TOP])} ${MEASURE_NAME}; ${about.followed ? 'live' : `read ${day(about.read_at)}`}`;
  footer.replaceChildren(...[
    doubt ? h('strong', { class: 'doubt' }, doubt) : null, about.reading ? null : h('span', {}, whole),
    diskText ? h('span', {}, diskText) : null, sparse ? h('span', {}, sparse) : null,
    about.entries === about.shown && !about.reading ? null : h('span', {}, limits()),
  ].filter(Boolean));
  helpOfLimits.textContent = `${limits()} Ages are relative to ${day(about.read_at)}. This page works offline.`;
}

listTools.append(tabBar);
entryTools.append(copyPath);
const app = document.getElementById('app');
app.append(
  h('header', { class: 'top' },
    h('span', { class: 'brand' }, h('span', { class: 'mark' }), 'transect map'), pathNav, disk, reading,
    h('form', { class: 'tools', role: 'search', submit: (event) => event.preventDefault() }, field, colourSelect, frameButton, theme, helpButton)),
  h('main', {}, h('section', { class: 'chart', 'aria-label': 'Map' }, stage, detail, legend), listing),
  footer, help, spoken);
document.getElementById('plain').remove();
app.hidden = false;
classify(colourSelect.value);
prepareTones();
drawFooter();
draw();
notifyListeners();
openAddress();
new ResizeObserver(redraw).observe(stage);
document.documentElement.dataset.ready = 'yes';
performance.measure('unpack', 'unpack');
