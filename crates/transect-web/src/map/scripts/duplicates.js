// The tab with groups of files of the same content. The program searches when the user asks for it.

/** The groups found, below which directory, and in which state the search is. */
const groupSearch = { groups: null, where: null, note: '', progress: null, more: 0, isMine: false };
/** The selected group. */
let openGroup = null;

/** A file of a group: an entry of the map, or the path of one that is not shown individually. */
function fileOf({ entry, path, freed, clone, names: named }) {
  return { at: entry ?? -1, steps: entry === null ? null : stepsTo(entry), path, freed, clone, named };
}

/** Finds the files of the groups again after an update. */
function relocateGroups() {
  if (groupSearch.groups === null) return;
  for (const group of groupSearch.groups) {
    const before = group.files.length;
    group.files = group.files.filter((file) => {
      if (file.steps === null) return true;
      const [at, isThere] = follow(file.steps);
      file.at = at;
      return isThere;
    });
    group.count -= before - group.files.length;
    // The first one stays, whichever it is.
    if (group.files.length < before) group.freed = group.files.slice(1).reduce((sum, file) => sum + file.freed, 0);
  }
  groupSearch.groups = groupSearch.groups.filter((group) => group.count > 1 && group.files.length > 1);
  if (!groupSearch.groups.includes(openGroup)) openGroup = null;
}

function showSearchProgress({ phase, done, total: all, bytes: read }) {
  const what = phase === 'whole' ? 'whole files' : 'beginnings and ends';
  groupSearch.progress = phase === 'candidates' ? 'Searching…' : `Searching… ${count(done)} of ${count(all)} ${what}, ${bytes(read)} read`;
  drawSearchState();
}

async function findDuplicates() {
  const { at } = view;
  groupSearch.progress = 'Searching…';
  groupSearch.note = '';
  redrawSide();
  try {
    await whileBusy(async () => {
      const { number } = await act(`duplicates/${about.version}/${at}`);
      groupSearch.isMine = true;
      const outcome = await outcomeOf(number, showSearchProgress);
      if (outcome === null) throw new Refused('another page requested something else');
      openGroup = null;
      groupSearch.where = stepsTo(at);
      groupSearch.groups = outcome.groups.map(({ copies, ...group }) => ({ ...group, files: copies.map(fileOf) }));
      groupSearch.more = outcome.group_count - outcome.groups.length;
      groupSearch.note = [
        outcome.stopped ? 'Stopped: there may be more.' : '',
        outcome.errors > 0 ? `${counted(outcome.errors, 'file was', 'files were')} not compared: unreadable or changed.` : '',
      ].filter(Boolean).join(' ');
    });
  } catch (error) {
    groupSearch.note = reasonOf(error);
  }
  groupSearch.progress = null;
  groupSearch.isMine = false;
  if (tab === 'duplicates') {
    find();
    redraw();
  }
  redrawSide();
  const found = groupSearch.groups;
  if (found !== null) spoken.textContent = `${counted(found.length, 'group', 'groups')} of duplicates found`;
}

function redrawSide() {
  if (tab === 'duplicates') drawSide();
}

const searchButton = h('button', { type: 'button', class: 'quiet small', id: 'find-duplicates', click: findDuplicates }, 'Search');
const stopSearch = h('button', {
  type: 'button', class: 'quiet small', id: 'stop-search', click: () => act('stop').catch(reasonOf),
}, 'Stop');
const searchState = h('p', { class: 'facts' });
const searchTools = h('div', { class: 'search-tools', hidden: true }, searchButton, stopSearch, searchState);
entryTools.after(searchTools);

function drawSearchState() {
  searchState.textContent = groupSearch.progress ?? groupSearch.note;
  stopSearch.hidden = groupSearch.progress === null;
  searchButton.hidden = groupSearch.progress !== null;
  searchButton.disabled = isBusy || about.reading || type[view.at] === ABOVE_ROOTS;
  searchButton.textContent = groupSearch.groups === null ? 'Search' : 'Search again here';
}

/** Selects a group, and highlights its files; all groups if it is selected. */
function toggleGroup(group) {
  openGroup = openGroup === group ? null : group;
  find();
  redraw();
  redrawList();
  body.querySelector(`[data-group="${groupSearch.groups.indexOf(group)}"] button`)?.focus({ preventScroll: true });
}

/** A row for a group. */
function groupRow(group) {
  const first = group.files[0];
  const swatch = h('span', { class: 'swatch' });
  if (first.at >= 0) swatch.style.background = cssOf(toneOf(classes.mode, classes.of[first.at]));
  const whole = groupSearch.groups[0].freed;
  const bar = h('span', { class: 'bar' });
  bar.style.width = `${whole > 0 ? (100 * group.freed) / whole : 0}%`;
  const name = first.at >= 0 ? nameOf(first.at) : visible(first.path.split(about.separator).at(-1));
  return h('tr', { 'data-group': groupSearch.groups.indexOf(group), class: openGroup === group ? 'chosen' : null },
    h('th', { scope: 'row' }, h('span', { class: 'cell' }, swatch,
      h('button', { type: 'button', class: 'link', 'aria-expanded': String(openGroup === group), 'aria-label': name, click: () => toggleGroup(group) }, nameText(name))), bar),
    h('td', { class: 'number' }, bytes(group.freed)), h('td', { class: 'number' }, `× ${count(group.count)}`),
    h('td', { class: 'number' }, bytes(group.size)), h('td', {}));
}

/** A row for a file of the selected group. */
function fileRow(file) {
  if (file.at >= 0) {
    const row = rowOf(file.at, size[view.at], file.at === TOP ? null : pathOf(parent[file.at]));
    row.classList.add('member');
    return row;
  }
  return h('tr', { class: 'member' }, h('th', { scope: 'row' }, pathText(visible(file.path), 'where')), h('td', {}), h('td', {}), h('td', {}), h('td', {}));
}

function drawDuplicates() {
  const { groups, where, more } = groupSearch;
  const [at, isThere] = where === null ? [view.at, true] : follow(where);
  heading.replaceChildren('Duplicates below ', h('bdi', {}, lastNameOf(at)));
  warning.hidden = isThere;
  warning.textContent = isThere ? '' : 'That directory is gone.';
  caption.textContent = `Groups of files of the same content below ${pathOf(at)}, those that free most first`;
  const freed = (groups ?? []).reduce((sum, group) => sum + group.freed, 0);
  facts.textContent = groups === null ? 'Compares the contents of all files of the same length below the directory shown.'
    : `${counted(groups.length + more, 'group', 'groups')}; keeping one file of each frees ${bytes(freed)}${more > 0 ? `; the first ${count(groups.length)} are listed` : ''}. Click one to highlight it.`;
  drawSearchState();
  fillRows((groups ?? []).flatMap((group) => [{ group }, ...(group === openGroup ? group.files.map((file) => ({ file })) : [])]),
    ({ group, file }) => (group ? groupRow(group) : fileRow(file)));
}

function duplicateMarks() {
  if (groupSearch.groups === null) return null;
  const groups = openGroup ? [openGroup] : groupSearch.groups;
  const hits = groups.flatMap((group) => group.files).map((file) => file.at).filter((place) => place >= 0);
  return hits.length > 0 ? marksOf(hits) : null;
}

addTab('duplicates', {
  label: 'Duplicates',
  columns: ['Name', 'Frees', 'Files', 'Each', ''],
  tools: searchTools,
  draw: drawDuplicates,
  marks: duplicateMarks,
});
busyListeners.push(drawSearchState);
updateListeners.push(relocateGroups);
// Nobody waits for the answer any more.
addEventListener('pagehide', () => {
  if (groupSearch.isMine) navigator.sendBeacon('stop');
});
