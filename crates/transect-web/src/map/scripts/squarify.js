// Squarified treemap (Bruls, Huizing, van Wijk 2000): rows along the shorter side, extended as long as
// their areas become more square.

/**
 * Lays out entries, which must be sorted by size, largest first. Calls `place` with the position of
 * each, and `rest` with one area for all entries smaller than `cut`, if there are any.
 */
function squarify(begin, end, sum, x0, y0, x1, y1, cut, place, rest) {
  let [left, top, bytesLeft] = [x0, y0, sum];
  for (let at = begin; at < end;) {
    const width = x1 - left;
    const height = y1 - top;
    const scale = (width * height) / bytesLeft;
    const largestArea = size[at] * scale;
    if (!(largestArea >= cut)) {
      if (width > 0 && height > 0 && size[at] > 0) rest(at, left, top, x1, y1);
      return;
    }
    const side = Math.min(width, height);
    let row = 0;
    let worst = Infinity;
    let last = at;
    for (; last < end; last += 1) {
      const area = size[last] * scale;
      const thick = (row + area) / side;
      const ratio = Math.max(largestArea / (thick * thick), (thick * thick) / area);
      if (ratio > worst) break;
      worst = ratio;
      row += area;
    }
    // The last row takes all remaining space, despite rounding.
    const isLast = last === end;
    const thick = isLast ? Math.max(width, height) : row / side;
    if (width >= height) {
      let y = top;
      for (let each = at; each < last; each += 1) {
        const next = each + 1 === last ? y1 : y + (size[each] * scale) / thick;
        place(each, left, y, left + thick, next);
        y = next;
      }
      left += thick;
    } else {
      let x = left;
      for (let each = at; each < last; each += 1) {
        const next = each + 1 === last ? x1 : x + (size[each] * scale) / thick;
        place(each, x, top, next, top + thick);
        x = next;
      }
      top += thick;
    }
    bytesLeft -= row / scale;
    at = last;
  }
}
