// Builds the page.

/** The filters of all charts and of the table. */
function filters() {
  const verdicts = ['', 'faster', 'slower', 'less_cpu', 'more_cpu', 'no_difference', 'undecided', 'base', 'floor', 'apart', 'unranked'];
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

/** The legend of the colours. */
function legend() {
  const list = h('ul', { class: 'legend', id: 'colours' });
  return {
    section: list,
    draw() {
      const entries = view.colour === 'language'
        ? languages.map((name, at) => [`l${at % 12}`, name])
        : [...(isByProcessor() ? ['less_cpu', 'more_cpu'] : ['faster', 'slower']), 'no_difference', 'undecided', 'base', 'floor'].map((key) => [`v-${key}`, WORDS[key]]);
      list.replaceChildren(...entries.map(([kind, word]) => (
        h('li', { class: kind }, h('span', { class: 'swatch' }), named(word)))));
    },
  };
}

const EQUAL_WORK = isOfQuestions
  ? 'Methods are ranked only if they found the same files, sizes and times as plain queries.'
  : isOfFiles
    ? 'Methods are ranked only if their output was correct, byte for byte.'
    : 'Methods are ranked only if they found the same files, directories and bytes as a plain recursion.';

const parts = [tabs(), overviewSection(), articleCard(), summary(), filters(), legend(), samplesCard(), ratiosCard(), callsCard(), timesCard(),
  blocksCard(), scalingCard(), tableCard(), apartCard(), environmentCard()];

function redraw() {
  hideTip();
  app.classList.toggle('noisy', ranking().noisy);
  for (const part of parts) part.draw();
}

const app = document.getElementById('app');
const [places, look, article, said, filter, colours, ...cards] = parts.map((part) => part.section);
/** All methods, with every number. Closed at first; `#all` opens it. */
const everything = h('details', { id: 'all', toggle: () => redraw() },
  h('summary', {}, `All ${counted(session.cells.length, 'method', 'methods')}, with every sample`),
  said, h('div', { class: 'bar' }, filter, colours), cards);
everything.open = location.hash === '#all';
addEventListener('beforeprint', () => { everything.open = true; });
app.append(pageHead(), places,
  h('main', { id: 'ranking' }, look, article, everything),
  h('footer', {}, h('p', {}, `Each method ran once per round in its own process, in random order, and timed itself. ${EQUAL_WORK} A verdict requires an interval, a corrected p and a difference of at least 3 %.`), h('p', {}, 'This page works offline.')),
  dialog, tip, spoken);
document.getElementById('plain').remove();
app.hidden = false;
redraw();

// Redraws when the width changes: a rotated phone, a resized window.
let width = app.clientWidth;
new ResizeObserver(() => {
  if (app.clientWidth === width) return;
  width = app.clientWidth;
  requestAnimationFrame(redraw);
}).observe(app);
addEventListener('scroll', hideTip, { passive: true });
