// Links to entries: the path to copy, and the fragment of the address, `#/large/inner/film.mkv`. With a
// slash at the end, a directory is shown, otherwise an entry is selected.

/** The entry that is selected, or the directory that is shown. */
function currentEntry() {
  return view.chosen >= 0 ? view.chosen : view.at;
}

/** The path of an entry for other programs: absolute on served pages. */
function pathToCopy(at) {
  const path = pathOf(type[at] === MORE ? parent[at] : at);
  const root = wayTo(at).map(plainNameOf).find((name) => name in (about.absolute ?? {}));
  return root === undefined ? path : visible(about.absolute[root]) + path.slice(visible(root).length);
}

const copyPath = copyButton('Copy path', () => pathToCopy(currentEntry()));
copyPath.id = 'copy-path';
copyPath.title = 'Copy the path (y)';

/** The fragment of the current view. */
function fragment() {
  const names = stepsTo(currentEntry()).filter(([isMore]) => !isMore).map(([, name]) => encodeURIComponent(name));
  return `#/${names.join('/')}${view.chosen >= 0 || names.length === 0 ? '' : '/'}`;
}

/** The directory of the last entry of the history. */
let recorded = TOP;
let waitingRecord = 0;
/** A fragment that leads to an entry which is not known yet. */
let wantedFragment = '';

/** Records the view in the address; another directory is a step that the browser can take back. */
function recordView() {
  clearTimeout(waitingRecord);
  // Not at once: browsers limit how often the address changes.
  waitingRecord = setTimeout(() => {
    const next = fragment();
    if (next === (location.hash || '#/')) return;
    if (recorded === view.at) history.replaceState(null, '', next);
    else history.pushState(null, '', next);
    recorded = view.at;
  }, 150);
}

/** The names in a fragment; none in one that this page did not write. */
function namesIn(text) {
  try {
    return text.replace(/^#\/?/, '').split('/').filter(Boolean).map(decodeURIComponent);
  } catch {
    return [];
  }
}

function followFragment(text) {
  return follow(namesIn(text).map((name) => [false, name]));
}

/** Shows the entry of a fragment, or the directory that is nearest to it. */
function openFragment(text) {
  const [at, isThere] = followFragment(text);
  const isShown = text.endsWith('/') || at === TOP || !isThere;
  if (isShown && (children[at] > 0 || at === TOP)) goTo(at);
  else goTo(parent[at], at);
  clearTimeout(waitingRecord);
  recorded = view.at;
  if (!isThere) spoken.textContent = `${visible(namesIn(text).join(about.separator))} is not in this map`;
}

/** Follows the fragment of the address. */
function openAddress() {
  const text = location.hash;
  if (text === '' && view.at === TOP) return;
  openFragment(text);
  // The tree is still being read: the entry may follow.
  if (about.reading && !followFragment(text)[1]) wantedFragment = text;
}

/** Called after an update: follows a fragment whose entry is there now. */
function retryFragment() {
  const text = wantedFragment;
  if (text !== '' && followFragment(text)[1]) openFragment(text);
}

// The user went elsewhere: the fragment is no longer wanted.
listeners.push(() => {
  wantedFragment = '';
  recordView();
});
addEventListener('popstate', openAddress);
