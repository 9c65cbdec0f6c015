// The first screen: a sentence in plain words, and at most ten well-known tools.

function overviewSection() {
  const section = h('section', { class: 'overview', 'aria-label': 'In one look' });
  return {
    section,
    draw() {
      const { sentence, bars, explained } = report.overviews[index()];
      const { alarms, answers } = report.findings[index()];
      section.replaceChildren(
        h('p', { class: 'sentence' }, named(sentence)),
        ...alarms.map((alarm) => h('p', { class: 'banner', role: 'alert' }, named(alarm))),
        bars.length === 0 ? '' : barList(bars),
        ...explained.map((text) => h('p', { class: 'explained' }, named(text))),
        answers.length === 0 ? '' : h('ul', { class: 'answers' }, answers.map((answer) => h('li', {}, named(answer)))));
    },
  };
}

/** One bar for each tool; a click opens the details of its method. */
function barList(bars) {
  const longest = Math.max(...bars.map((bar) => bar.median_ns));
  return h('ol', { class: 'tools' }, bars.map((bar) => {
    const part = (ns, kind) => {
      const length = h('span', { class: `length ${kind}` });
      length.style.width = `${(100 * ns) / longest}%`;
      return length;
    };
    const start = Math.min(bar.start_up_ns ?? 0, bar.median_ns);
    const times = typeof bar.to_base === 'number' ? `${ratio(bar.to_base)} ×` : '';
    return h('li', { class: bar.is_base ? 'is-base' : null, 'data-method': bar.cell },
      h('button', { type: 'button', class: 'link', title: bar.cell === bar.label ? null : visible(bar.cell), click: () => openDetail(bar.cell) }, named(bar.label)),
      h('span', { class: 'track', 'aria-hidden': 'true' }, start > 0 ? part(start, 'start') : '', part(bar.median_ns - start, 'work')),
      h('span', { class: 'figures' }, `${duration(bar.median_ns)} `, start > 0 ? `(start ${duration(start)}) ` : '', h('span', { class: 'times' }, times)));
  }));
}
