// The tree replaced by a newer state of it: all that was looked at is found again by its path.

/** The names on the way to an entry. */
function stepsTo(at) {
  return wayTo(at).slice(1).map((step) => [type[step] === MORE, plainNameOf(step)]);
}

/** Goes such a way as far as it leads: the last entry that is there, and whether it is the one. */
function follow(steps) {
  let at = TOP;
  for (const [isMore, name] of steps) {
    const end = first[at] + children[at];
    let child = first[at];
    while (child < end && ((type[child] === MORE) !== isMore || plainNameOf(child) !== name)) child += 1;
    if (child === end) return [at, false];
    at = child;
  }
  return [at, true];
}

/** Remembers what has the focus; returns what gives it to whatever takes its place. */
function holdFocus() {
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

function renew(news, newer) {
  const [steps, chosen] = [stepsTo(view.at), view.chosen >= 0 ? stepsTo(view.chosen) : null];
  const only = view.only >= 0 ? WAYS[classes.way].classes[view.only] : null;
  const giveFocus = holdFocus();
  const rows = body.closest('.rows');
  const [shown, scrolled] = [body.rows.length, rows.scrollTop];

  about = news;
  takeColumns(newer);
  connect();
  forgetSmallNames();
  classify(classes.way);
  const [at, isThere] = follow(steps);
  if (!isThere) Object.assign(view, { scale: 1, x: 0, y: 0 });
  view.at = at;
  const [again, isAgain] = chosen ? follow(chosen) : [-1, true];
  view.chosen = isAgain ? again : -1;
  view.only = WAYS[classes.way].classes.indexOf(only);
  // Nobody went anywhere: nothing is spoken, nothing scrolls.
  looked = at;
  find();

  document.title = `${about.title} · transect map`;
  prepareTones();
  laid.at = -1;
  draw();
  if (pointer) pointAt(...pointer);
  drawWay();
  drawLegend();
  drawSide();
  while (body.rows.length < shown && !others.hidden) others.click();
  rows.scrollTop = scrolled;
  tellDetail();
  drawFooter();
  giveFocus();
}
