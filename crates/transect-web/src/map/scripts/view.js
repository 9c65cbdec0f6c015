// What is looked at: a directory, a part of its map magnified, an entry that was chosen.

const view = {
  at: TOP,
  /** How many times the map is magnified, and the point of it in the upper left corner. */
  scale: 1,
  x: 0,
  y: 0,
  chosen: -1,
  /** The class that is shown alone; -1 for all. */
  only: -1,
};
const MOST_MAGNIFIED = 64;

/** For each entry whether it was found or holds what was; nothing if nothing is searched for. */
let found = null;

function isDim(at) {
  return (found !== null && found[at] === 0) || (view.only >= 0 && classes.of[at] !== view.only);
}

/** Keeps the magnified part within the map. */
function keepWithin(width, height) {
  view.scale = Math.min(MOST_MAGNIFIED, Math.max(1, view.scale));
  view.x = Math.min(width - width / view.scale, Math.max(0, view.x));
  view.y = Math.min(height - height / view.scale, Math.max(0, view.y));
}

/** Magnifies, so that what is at a point of the screen stays there. */
function magnify(factor, screenX, screenY, width, height) {
  const scale = Math.min(MOST_MAGNIFIED, Math.max(1, view.scale * factor));
  view.x += screenX / view.scale - screenX / scale;
  view.y += screenY / view.scale - screenY / scale;
  view.scale = scale;
  keepWithin(width, height);
}

/** The entry of the directory looked at that another one is, or lies in. */
function stepTowards(at) {
  let step = at;
  while (step !== TOP && parent[step] !== view.at) step = parent[step];
  return step;
}
