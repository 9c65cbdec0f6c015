// The same data as a table, also for screen readers.

/** The number of rows added at once. */
const ROWS = 100;

const crumbs = h('ol', {});
const pathNav = h('nav', { class: 'crumbs', 'aria-label': 'Path' }, crumbs);
const heading = h('h1', {});
const facts = h('p', { class: 'facts' });
const warning = h('p', { class: 'warning', hidden: true });
const caption = h('caption', {});
const body = h('tbody', {});
const others = h('button', { type: 'button', class: 'quiet others', hidden: true });
const COLUMNS = texts.columns;
const titles = COLUMNS.map((title, at) => h('th', { scope: 'col', class: at ? 'number' : null }, title));
const table = h('table', { class: about.changes ? 'changed' : null }, caption, h('thead', {}, h('tr', {}, titles)), body);
/** The tabs. */
const listTools = h('div', { class: 'list-tools' });
/** What can be done with the selected entry. */
const entryTools = h('div', { class: 'entry-tools' });
const listing = h('aside', { class: 'listing', 'aria-label': 'Directory as a table' },
  h('header', {}, listTools, heading, facts, warning, entryTools), h('div', { class: 'rows', tabindex: 0, role: 'region', 'aria-label': 'Entries' }, table, others));

/** A path on one line, shortened at its beginning: the last names differ. */
function pathText(text, style) {
  return h('bdi', { class: `${style} late` }, h('bdi', {}, text));
}

/** The last letters of a long name, which are always shown. */
const TAIL = 10;

/** A name on one line, shortened in the middle: names differ at both ends. The name of a root is a path. */
function nameText(text) {
  if (text.includes(about.separator)) return pathText(text, 'name');
  const letters = [...text];
  if (letters.length <= 2 * TAIL) return h('bdi', { class: 'name' }, text);
  return h('bdi', { class: 'name parts' }, h('span', {}, letters.slice(0, -TAIL).join('')), h('span', {}, letters.slice(-TAIL).join('')));
}

/** A row of the table; `where` is the directory of the entry, if shown. */
function rowOf(at, whole, where) {
  const bar = h('span', { class: 'bar' });
  bar.style.width = `${whole > 0 ? Math.min(100, (100 * size[at]) / whole) : 0}%`;
  const label = nameText(nameOf(at));
  const lack = lackOf(at);
  const act = type[at] === MORE ? label : h('button', {
    type: 'button', class: 'link', title: pathOf(at), 'aria-label': nameOf(at), click: () => clickRow(at),
  }, label, isDirectory(at) ? h('span', { class: 'slash' }, about.separator) : null);
  return h('tr', { 'data-at': at, class: at === view.chosen ? 'chosen' : null },
    h('th', { scope: 'row' }, h('span', { class: 'cell' }, swatchOf(classes.of[at]), act, lack ? h('span', { class: 'lack' }, lack) : null),
      where ? pathText(where, 'where') : null, bar),
    texts.cells(at, whole).map((cell) => h('td', { class: 'number' }, cell)));
}

/**
 * Opens a directory, or shows an entry in its directory. In a list of entries of many directories, the first click
 * only selects: the list stays as it is.
 */
function clickRow(at) {
  const isFirst = isListOpen() && view.chosen !== at;
  if (children[at] > 0 && !isFirst) goTo(at);
  else if (parent[at] === view.at || (isFirst && isIn(at, view.at))) choose(at);
  else goTo(parent[at], at);
}

/** Fills the table step by step with `length` rows. */
function fillSteps(length, row) {
  let shown = 0;
  const append = () => {
    const until = Math.min(length, shown + ROWS);
    for (; shown < until; shown += 1) body.append(row(shown));
    others.hidden = shown >= length;
    others.textContent = `More of ${counted(length, 'entry', 'entries')}`;
  };
  body.replaceChildren();
  others.onclick = append;
  append();
}

/** Fills the table with entries from `begin` to `end`, or with those of `list`. */
function fillTable(list, begin, end, whole, whereOf) {
  fillSteps(end - begin, (place) => {
    const at = list ? list[begin + place] : begin + place;
    return rowOf(at, whole, whereOf?.(at));
  });
}

/** Fills the table with a row for each of `items`. */
function fillRows(items, row) {
  fillSteps(items.length, (place) => row(items[place]));
}

function drawPath() {
  crumbs.replaceChildren(...wayTo(view.at).map((at) => h('li', {},
    h('button', { type: 'button', 'data-at': at, 'aria-current': at === view.at ? 'location' : null, 'aria-label': nameOf(at), click: () => goTo(at) },
      nameText(nameOf(at))))));
  pathNav.scrollLeft = pathNav.scrollWidth;
}

const MEASURE_NAME = about.measure === 'disk_usage' ? 'disk usage' : 'apparent size';

function drawListing() {
  const { at } = view;
  heading.replaceChildren(h('bdi', {}, lastNameOf(at)));
  facts.textContent = [...texts.facts(at), `${percent(size[TOP] > 0 ? size[at] / size[TOP] : 0)} of all`,
    counted(entries[at] - (isDirectory(at) ? 1 : 0), 'entry', 'entries'), sharingOf(at)].filter(Boolean).join(' · ');
  const lack = lackOf(at);
  warning.hidden = !lack;
  warning.textContent = lack ? `Partial (${lack}): may contain more.` : '';
  caption.textContent = `Entries of ${pathOf(at)}, largest first`;
  fillTable(null, first[at], first[at] + children[at], size[at]);
}

/** The search results instead of the directory, largest first. */
function drawFound({ hits, sum }, wanted) {
  heading.replaceChildren(`Names with “${visible(wanted)}”`);
  const here = hits.filter((at) => isIn(at, view.at)).length;
  facts.textContent = [`${counted(hits.length, 'entry', 'entries')}, ${bytes(sum)}`,
    view.at === TOP ? null : `${count(here)} in ${nameOf(view.at)}`].filter(Boolean).join(' · ');
  warning.hidden = true;
  caption.textContent = 'Search results, largest first';
  const sorted = Uint32Array.from(hits).sort((a, b) => size[b] - size[a] || a - b);
  fillTable(sorted, 0, sorted.length, size[TOP], (at) => (at === TOP ? null : pathOf(parent[at])));
}

/** The path and the attributes of an entry. */
function describe(place, at) {
  if (place >= 0 && areas.how[place] === REST) {
    const end = first[parent[at]] + children[parent[at]];
    return [pathOf(parent[at]), `${counted(end - at, 'entry', 'entries')} too small to draw`];
  }
  const within = view.at === TOP ? '' : `, ${percent(size[view.at] > 0 ? size[at] / size[view.at] : 0)} of ${nameOf(view.at)}`;
  const isOne = !isDirectory(at) && type[at] !== MORE;
  const person = about.owners[owner[at]];
  return [
    type[at] === MORE ? `${pathOf(parent[at])}: ${nameOf(at)}` : pathOf(at),
    [
      ...texts.facts(at), `${percent(size[TOP] > 0 ? size[at] / size[TOP] : 0)} of all${within}`,
      isOne ? null : counted(entries[at] - (isDirectory(at) ? 1 : 0), 'entry', 'entries'),
      isOne ? (about.kinds[kind[at]] ?? about.types[type[at]]) : null,
      `${isOne ? '' : 'newest '}${day(time[at])}`, person === undefined ? null : visible(person), sharingOf(at), lackOf(at),
    ].filter(Boolean).join(' · '),
  ];
}
