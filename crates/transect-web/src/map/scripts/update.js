// Updates of the tree. Directory, selection and focus are found again by their paths.

/** Returns a function that restores the focus after an update. */
function saveFocus() {
  const held = document.activeElement;
  const row = held?.closest('[data-at]');
  const within = [body, crumbs, legend].find((part) => part.contains(held));
  if (!within) return () => {};
  const steps = row ? stepsTo(Number(row.dataset.at)) : null;
  return () => {
    const [at, isThere] = steps ? follow(steps) : [-1, true];
    const key = steps ? `[data-at="${at}"]` : `[data-class="${CSS.escape(held.dataset.class)}"]`;
    const now = isThere ? within.querySelector(key) : null;
    (now?.matches('button') ? now : now?.querySelector('button'))?.focus({ preventScroll: true });
  };
}

/** Called after the columns were replaced, before anything is drawn. */
const updateListeners = [];

function update(metadata, newer) {
  const [steps, chosen] = [stepsTo(view.at), view.chosen >= 0 ? stepsTo(view.chosen) : null];
  const only = view.only >= 0 ? COLOUR_MODES[classes.mode].classes[view.only] : null;
  const restoreFocus = saveFocus();

  about = metadata;
  takeColumns(newer);
  connect();
  forgetLowerCaseNames();
  classify(classes.mode);
  const [at, isThere] = follow(steps);
  if (!isThere) Object.assign(view, { scale: 1, x: 0, y: 0 });
  view.at = at;
  const [again, isAgain] = chosen ? follow(chosen) : [-1, true];
  // Of an entry that is gone, its directory is selected, unless that is shown, or the entry was selected in a list.
  view.chosen = isAgain || (!isListOpen() && isIn(again, at) && again !== at) ? again : -1;
  view.only = COLOUR_MODES[classes.mode].classes.indexOf(only);
  // The user went nowhere: nothing is announced, nothing scrolls.
  shownDirectory = at;
  for (const listener of updateListeners) listener();
  find();

  document.title = `${about.title} · transect map`;
  prepareTones();
  laid.at = -1;
  draw();
  if (pointer) pointAt(...pointer);
  drawPath();
  drawLegend();
  redrawList();
  updateDetail();
  drawFooter();
  restoreFocus();
  retryFragment();
}
