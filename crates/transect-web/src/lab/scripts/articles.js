// The table of an article beside ours. The article's numbers were not measured here.

function articleCard() {
  const { section, body } = card('article', 'Beside the article', '');
  const about = section.querySelector('.about');
  return {
    section,
    draw() {
      const table = report.articles.find(({ place: at, pass }) => at === view.place && pass === view.pass);
      section.hidden = !table;
      if (!table) return;
      about.textContent = `${table.source}, ${table.article}: ${table.corpus}. ${table.about} ${table.whose}`;
      const heads = ['in the article', 'here', 'its time', '× its base', 'time', '× base (95 %)', 'verdict', 'same finding', 'by its protocol', 'its worst ÷ median', 'worst ÷ median'];
      const isNumber = (at) => at >= 2 && at !== 6 && at !== 7;
      const notes = [...new Set(table.rows.map(({ note }) => note))].filter((note) => note !== '');
      const cells = (row) => [
        named(row.quantity === 'real' ? row.method : `${row.method}, ${row.quantity.replaceAll('_', ' ')}`),
        row.cell === null ? '' : h('button', { type: 'button', class: 'link', click: () => openDetail(row.cell) }, named(row.cell)),
        duration(row.published.value_ns ?? row.published.median_ns),
        row.published_ratio === null ? '' : ratio(row.published_ratio),
        row.time_ns === null ? '' : duration(row.time_ns),
        row.ratios === null ? '' : `${ratio(row.ratios.median)} (${ratio(row.ratios.low)} to ${ratio(row.ratios.high)})`,
        row.verdict ?? '',
        row.ratios === null ? '' : { true: 'yes', false: 'no', null: 'undecided' }[row.same_finding],
        row.by_protocol_ns === null ? '' : duration(row.by_protocol_ns),
        row.published.max_ns === undefined ? '' : ratio(row.published.max_ns / row.published.median_ns),
        row.worst === null ? '' : ratio(row.worst),
      ];
      body.replaceChildren(h('p', { class: 'finding' }, table.sentence),
        h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Beside the article' }, h('table', {},
          h('thead', {}, h('tr', {}, heads.map((head, at) => h('th', { scope: 'col', class: isNumber(at) ? 'number' : null }, head)))),
          h('tbody', {}, table.rows.map((row) => h('tr', { 'data-method': row.cell }, cells(row).map((cell, at) => (
            at === 0 ? h('th', { scope: 'row' }, cell)
              : h('td', { class: isNumber(at) ? 'number' : null }, cell)))))))),
        ...notes.map((note) => h('p', { class: 'note' }, note)));
    },
  };
}
