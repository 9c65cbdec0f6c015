// The current view: directory, zoom, selection.

const view = {
  at: TOP,
  /** The zoom factor, and the point of the map in the upper left corner. */
  scale: 1,
  x: 0,
  y: 0,
  chosen: -1,
  /** The only class shown; -1 for all. */
  only: -1,
  /** The disk is shown around the tree. */
  framed: false,
};
const MAX_ZOOM = 64;

/** Whether each entry matches the search or contains a match; null without a search. */
let found = null;

function isDim(at) {
  return (found !== null && found[at] === 0) || (view.only >= 0 && classes.of[at] !== view.only);
}

/** Keeps the visible part within the map. */
function keepWithin(width, height) {
  view.scale = Math.min(MAX_ZOOM, Math.max(1, view.scale));
  view.x = Math.min(width - width / view.scale, Math.max(0, view.x));
  view.y = Math.min(height - height / view.scale, Math.max(0, view.y));
}

/** Zooms around a point of the screen. */
function magnify(factor, screenX, screenY, width, height) {
  const scale = Math.min(MAX_ZOOM, Math.max(1, view.scale * factor));
  view.x += screenX / view.scale - screenX / scale;
  view.y += screenY / view.scale - screenY / scale;
  view.scale = scale;
  keepWithin(width, height);
}

/** The entry of the current directory that is another entry or contains it. */
function stepTowards(at) {
  let step = at;
  while (step !== TOP && parent[step] !== view.at) step = parent[step];
  return step;
}
