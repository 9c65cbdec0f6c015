// Tabs beside the map: the directory, the largest files below it, their extensions. The map highlights
// what a tab lists.

/** The maximum number of files listed. */
const MOST_FILES = 1000;
const FILE = about.types.indexOf('file');
let tab = 'directory';
/** The highlighted extension; null for none. */
let extension = null;
/** What the tab lists, as long as nothing changes. */
let listed = null;

/** The tabs by name: label, titles of the columns, tools, how to draw them, what they highlight. */
const tabs = {};
const tabBar = h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Lists' });

function addTab(name, { label, columns: heads = COLUMNS, tools = null, draw: drawTab, marks = () => null }) {
  const button = h('button', {
    type: 'button', role: 'tab', id: `tab-${name}`, class: 'tab', 'aria-selected': String(name === tab), click: () => openTab(name),
  }, label);
  tabs[name] = { button, heads, tools, draw: drawTab, marks };
  tabBar.append(button);
}

/** Calls `visit` for every entry below the current directory. */
function visitBelow(visit) {
  const below = new Uint8Array(total);
  below[view.at] = 1;
  for (let at = view.at + 1; at < total; at += 1) {
    // Children have larger indices.
    below[at] = below[parent[at]];
    if (below[at] === 1) visit(at);
  }
}

/** Marks entries with 1, and what contains them with 2. */
function marksOf(hits) {
  const marks = new Uint8Array(total);
  for (const at of hits) {
    marks[at] = 1;
    for (let step = parent[at]; at !== TOP && marks[step] === 0; step = parent[step]) {
      marks[step] = 2;
      if (step === TOP) break;
    }
  }
  return marks;
}

/** The largest files below the current directory, largest first. */
function largestFiles() {
  const files = [];
  visitBelow((at) => {
    if (type[at] === FILE) files.push(at);
  });
  let hits = files;
  if (files.length > MOST_FILES) {
    const sizes = Float64Array.from(files, (at) => size[at]).sort();
    const least = sizes[sizes.length - MOST_FILES];
    hits = files.filter((at) => size[at] >= least);
  }
  hits.sort((a, b) => size[b] - size[a] || a - b);
  return { hits: hits.slice(0, MOST_FILES), files: files.length };
}

/** The part of a name after its last dot, unless that dot is the first character. */
function extensionOf(at) {
  if (type[at] === MORE) return '(smaller entries)';
  if (isDirectory(at)) return '(directories)';
  if (type[at] !== FILE) return '(other types)';
  const name = plainNameOf(at);
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot) : '(no extension)';
}

/** The extensions below the current directory with their sizes and entries, largest first. */
function extensionsBelow() {
  const groups = new Map();
  const add = (at, amount) => {
    const name = extensionOf(at);
    const group = groups.get(name) ?? { name, sum: 0, count: 0, largest: at };
    group.sum += amount;
    group.count += type[at] === MORE ? entries[at] : 1;
    if (size[at] > size[group.largest]) group.largest = at;
    groups.set(name, group);
  };
  const own = (at) => (isDirectory(at) ? size[at] - inside[at] : size[at]);
  // What the directories themselves occupy belongs to the sum.
  add(view.at, own(view.at));
  visitBelow((at) => add(at, own(at)));
  return [...groups.values()].sort((a, b) => b.sum - a.sum || (a.name < b.name ? -1 : 1));
}

/** Lists the content of the tab, unless it is already listed. */
function listTab() {
  if (listed?.tab === tab && listed.at === view.at && listed.of === size) return listed;
  listed = { tab, at: view.at, of: size };
  if (tab === 'files') Object.assign(listed, largestFiles());
  else if (tab === 'extensions') listed.groups = extensionsBelow();
  else if (tab === 'changes') listed.hits = largestChanges();
  return listed;
}

/** The marks of the highlighted extension; null for all. */
function extensionMarks() {
  if (extension === null) return null;
  const hits = [];
  visitBelow((at) => {
    if (extensionOf(at) === extension) hits.push(at);
  });
  return marksOf(hits);
}

/** Takes another tab, without drawing. */
function selectTab(name) {
  tab = name;
  extension = null;
  for (const [other, { button, tools }] of Object.entries(tabs)) {
    button.setAttribute('aria-selected', String(other === name));
    if (tools) tools.hidden = other !== name;
  }
}

/** Sets the titles of the columns. */
function setTitles(heads) {
  titles.forEach((title, at) => { title.textContent = heads[at]; });
}

function drawLargestFiles() {
  const { hits, files } = listTab();
  const sum = hits.reduce((all, at) => all + size[at], 0);
  heading.replaceChildren('Largest files below ', h('bdi', {}, lastNameOf(view.at)));
  facts.textContent = `${bytes(sum)}, ${percent(size[view.at] > 0 ? sum / size[view.at] : 0)} of it, in ${hits.length < files ? `the largest ${count(hits.length)} of ` : ''}${counted(files, 'file', 'files')}`;
  warning.hidden = true;
  caption.textContent = `Files below ${pathOf(view.at)}, largest first`;
  fillTable(hits, 0, hits.length, size[view.at], (at) => (at === TOP ? null : pathOf(parent[at])));
}

function drawExtensions() {
  const { groups } = listTab();
  heading.replaceChildren('Extensions below ', h('bdi', {}, lastNameOf(view.at)));
  facts.textContent = `${bytes(size[view.at])} in ${counted(groups.length, 'group', 'groups')}; click one to highlight it`;
  warning.hidden = true;
  caption.textContent = `Extensions below ${pathOf(view.at)}, largest first`;
  fillRows(groups, (group) => {
    const share = size[view.at] > 0 ? group.sum / size[view.at] : 0;
    const bar = h('span', { class: 'bar' });
    bar.style.width = `${Math.min(100, 100 * share)}%`;
    const button = h('button', {
      type: 'button', class: 'link', 'aria-pressed': String(extension === group.name), click: () => highlight(group.name),
    }, h('bdi', { class: 'name' }, visible(group.name)));
    return h('tr', { 'data-extension': group.name, class: extension === group.name ? 'chosen' : null },
      h('th', { scope: 'row' }, h('span', { class: 'cell' }, swatchOf(classes.of[group.largest]), button), bar),
      h('td', { class: 'number' }, bytes(group.sum)), h('td', { class: 'number' }, percent(share)),
      h('td', { class: 'number' }, count(group.count)), h('td', {}));
  });
}

addTab('directory', { label: 'Directory', draw: drawListing });
if (about.changes) addTab('changes', { label: 'Changes', draw: drawLargestChanges, marks: () => marksOf(listTab().hits) });
addTab('files', { label: 'Largest files', draw: drawLargestFiles, marks: () => marksOf(listTab().hits) });
addTab('extensions', { label: 'Extensions', columns: PLAIN_TEXTS.columns, draw: drawExtensions, marks: extensionMarks });
