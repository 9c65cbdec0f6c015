// The page, put together.

/** What the filters let pass: they hold for all charts and for the table. */
function filters() {
  const verdicts = ['', 'faster', 'slower', 'no_difference', 'undecided', 'base', 'floor', 'apart', 'unranked'];
  const field = (label, node) => h('label', {}, h('span', {}, label), node);
  const select = (id, key, options) => {
    const node = h('select', { id, change: () => {
      view[key] = node.value;
      redraw();
    } }, options.map(([value, text]) => h('option', { value }, text)));
    node.value = view[key];
    return node;
  };
  const text = h('input', {
    id: 'filter', type: 'search', placeholder: 'name, language, row', autocomplete: 'off', spellcheck: 'false',
    input: () => {
      view.text = text.value;
      redraw();
    },
  });
  const count = h('output', { class: 'count', for: 'filter' });
  return {
    section: h('form', { class: 'filters', role: 'search', submit: (event) => event.preventDefault() },
      field('Filter', text),
      field('Language', select('language', 'language', [['', 'all'], ...languages.map((name) => [name, visible(name)])])),
      field('Verdict', select('verdict', 'verdict', verdicts.map((key) => [key, WORDS[key] ?? 'all']))),
      field('Colour', select('colour', 'colour', [['verdict', 'by verdict'], ['language', 'by language']])),
      count),
    draw() {
      const { rows, apart, unranked } = ranking();
      const all = rows.length + apart.length + unranked.length;
      const here = shown().length + shownApart().length + shownUnranked().length;
      count.textContent = here === all ? counted(all, 'row', 'rows') : `${here} of ${all}`;
    },
  };
}

/** What the colours mean. */
function legend() {
  const list = h('ul', { class: 'legend', id: 'colours' });
  return {
    section: list,
    draw() {
      const entries = view.colour === 'language'
        ? languages.map((name, at) => [`l${at % 12}`, name])
        : ['faster', 'slower', 'no_difference', 'undecided', 'base', 'floor'].map((key) => [`v-${key}`, WORDS[key]]);
      list.replaceChildren(...entries.map(([kind, word]) => (
        h('li', { class: kind }, h('span', { class: 'swatch' }), named(word)))));
    },
  };
}

const EQUAL_WORK = isOfQuestions
  ? 'Nothing is ranked that did not find the same files, sizes and times as a plain look at each, and miss as many.'
  : isOfFiles
    ? 'Nothing is ranked whose output was not, byte for byte, what it has to be.'
    : 'Nothing is ranked that did not find the same files, directories and bytes as a plain recursion.';

const parts = [tabs(), summary(), filters(), legend(), samplesCard(), ratiosCard(), callsCard(), timesCard(),
  blocksCard(), scalingCard(), tableCard(), apartCard(), reductionCard(), environmentCard()];

function redraw() {
  hideTip();
  app.classList.toggle('noisy', ranking().noisy);
  for (const part of parts) part.draw();
}

const app = document.getElementById('app');
const [places, said, filter, colours, ...cards] = parts.map((part) => part.section);
app.append(pageHead(), places,
  h('main', { id: 'ranking' }, said, h('div', { class: 'bar' }, filter, colours), cards, referencesSection() ?? ''),
  h('footer', {}, h('p', {}, `Methods ran once in every round, in a new order each time, each in a process of its own with its own clock. ${EQUAL_WORK} A verdict takes an interval, a corrected p and a difference of at least 3 %.`), h('p', {}, 'This page holds all its data and asks no network.')),
  dialog, tip, spoken);
document.getElementById('plain').remove();
app.hidden = false;
redraw();

// As wide as it is now: a turned phone, a dragged window.
let width = app.clientWidth;
new ResizeObserver(() => {
  if (app.clientWidth === width) return;
  width = app.clientWidth;
  requestAnimationFrame(redraw);
}).observe(app);
addEventListener('scroll', hideTip, { passive: true });
