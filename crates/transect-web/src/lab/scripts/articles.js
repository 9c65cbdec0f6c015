// These samples reduced as in the articles, and the articles' own numbers.

function reductionCard() {
  const { section, body } = card('reduction', 'As in the article', '');
  const about = section.querySelector('.about');
  return {
    section,
    draw() {
      const here = ({ place: at, pass }) => at === view.place && pass === view.pass;
      const reduction = report.reductions.find(here);
      section.hidden = !reduction;
      if (!reduction) return;
      about.textContent = `Protocol ${reduction.protocol}: ${reduction.about}. No verdict uses these numbers.`;
      const there = new Set(shown().map((row) => row.cell.name));
      const heads = reduction.columns.map(({ name }) => h('th', { scope: 'col', class: 'number' }, name));
      const rows = reduction.rows.filter(({ cell }) => there.has(cell)).map(({ cell, values }) => (
        h('tr', { 'data-method': cell }, h('th', { scope: 'row' }, named(cell)),
          reduction.columns.map(({ unit }, at) => h('td', { class: 'number' }, values[at] === undefined ? ''
            : unit === 'times' ? values[at].toFixed(1)
              : unit === 'share' ? `${(100 * values[at]).toFixed(1)} %` : duration(values[at]))))));
      body.replaceChildren(h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'As in the article' },
        h('table', {}, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'method'), heads)), h('tbody', {}, rows))));
    },
  };
}

const QUANTITIES = {
  real: 'real',
  user: 'user',
  sys: 'sys',
  in_find_first_file: 'in FindFirstFileEx',
  in_find_next_file: 'in FindNextFile',
};

/** Published numbers: nothing in this section was measured here. */
function referencesSection() {
  const { references } = report;
  if (references.length === 0) return null;
  const here = references.filter((table) => table.place !== null).length;
  return h('section', { class: 'card others', id: 'references', 'aria-labelledby': 'references-title' },
    h('div', { class: 'card-head' }, h('div', {},
      h('h2', { id: 'references-title' }, 'Published numbers of the articles'),
      h('p', { class: 'about' }, references[0].whose))),
    references.map((table, at) => h('details', { open: here === 0 ? at === 0 : table.place !== null },
      h('summary', {}, h('span', { class: 'badge source' }, table.source), ` ${table.article}: ${table.corpus}`,
        table.place === null ? null : h('span', { class: 'beside' }, ' compare ', named(session.places[table.place].name))),
      referenceTable(table))));
}

function referenceTable({ rows }) {
  const valueOf = ({ published }) => published.value_ns ?? published.median_ns;
  const most = Math.max(...rows.map(valueOf));
  const least = Math.min(...rows.map(valueOf));
  const hasSpeedups = rows.some((row) => row.speedup !== null);
  const bar = (value) => {
    // Logarithmic where values are far apart: bars without length show nothing.
    const share = most > 20 * least ? Math.log(value / least * 1.5) / Math.log(most / least * 1.5) : value / most;
    const inner = h('span', { class: 'bar' });
    inner.style.width = `${Math.max(1, 100 * share)}%`;
    return h('span', { class: 'bar-host', 'aria-hidden': 'true' }, inner);
  };
  const how = ({ kind, n }) => (kind === 'once' ? 'one run' : `${kind === 'statistics' ? 'median' : kind} of ${n}`);
  const heads = ['method', 'caches', 'quantity', 'time', '', hasSpeedups ? '× slowest' : null, 'note'];
  return h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Numbers of an article' }, h('table', { class: 'reference' },
    h('thead', {}, h('tr', {}, heads.filter((head) => head !== null).map((head) => (
      h('th', { scope: 'col', class: head === 'time' || head === '× slowest' ? 'number' : null }, head))))),
    h('tbody', {}, rows.map((row) => h('tr', {},
      h('th', { scope: 'row' }, named(row.method)),
      h('td', {}, row.state),
      h('td', {}, `${QUANTITIES[row.quantity]}, ${how(row.published)}`),
      h('td', { class: 'number' }, duration(valueOf(row))),
      h('td', { class: 'bars' }, bar(valueOf(row))),
      hasSpeedups ? h('td', { class: 'number' }, row.speedup === null ? '' : row.speedup.toFixed(1)) : null,
      h('td', { class: 'note' }, row.note))))));
}
