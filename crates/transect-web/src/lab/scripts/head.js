// The top of the page: what was measured, where, and the conclusion.

function pageHead() {
  const methods = methodsOf(session.cells.map((cell) => ({ cell }))).length;
  const places = session.places.map((there) => there.name);
  const where = places.slice(0, 3).flatMap((name, at) => [at > 0 ? ', ' : '', named(name)]);
  const more = places.length > 3 ? ` and ${places.length - 3} more` : '';
  return h('header', { class: 'page-head' },
    h('div', { class: 'top' },
      h('span', { class: 'brand' }, h('span', { class: 'mark', 'aria-hidden': 'true' }), 'transect lab'),
      themeButton()),
    h('h1', {}, `${counted(methods, 'method', 'methods')} on `, where, more),
    h('p', { class: 'when' }, `${date(session.environment.began)} · ${visible(session.environment.processor ?? 'unknown processor')} · ${counted(session.environment.cores, 'core', 'cores')} · ${visible(session.environment.system)}`));
}

/** Toggles light and dark. Follows the system until the user chooses. */
function themeButton() {
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme
    ? root.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches);
  const button = h('button', { type: 'button', class: 'quiet', id: 'theme' });
  const label = () => {
    button.textContent = isDark() ? 'Light' : 'Dark';
    button.setAttribute('aria-label', `Switch to the ${isDark() ? 'light' : 'dark'} theme`);
  };
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    label();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', label);
  label();
  return button;
}

/** A tab for each tree, input or task, and for each cache state. */
function tabs() {
  const bar = h('nav', { class: 'tabs', 'aria-label': 'Measurements' });
  const list = (label, key, names) => {
    if (names.length < 2) return null;
    const pick = (at) => {
      view[key] = at;
      redraw();
      bar.querySelector(`[data-key="${key}"][data-at="${at}"]`)?.focus();
    };
    return h('div', { role: 'tablist', 'aria-label': label }, names.map((name, at) => h('button', {
      type: 'button', role: 'tab', 'data-key': key, 'data-at': at, 'aria-controls': 'ranking',
      'aria-selected': String(view[key] === at), tabindex: view[key] === at ? 0 : -1,
      click: () => pick(at),
      keydown: (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (step) pick((at + step + names.length) % names.length);
      },
    }, named(name))));
  };
  return {
    section: bar,
    draw() {
      const states = session.passes.map((state, at) => `${passes > 1 ? `${at + 1}. ` : ''}${STATES[state]}`);
      bar.replaceChildren(...[
        list(isOfQuestions ? 'Tasks' : isOfFiles ? 'Inputs' : 'Trees', 'place', session.places.map((there) => there.name)),
        list(isOfFiles ? 'Input states' : 'Cache states', 'pass', states),
      ].filter(Boolean));
      bar.hidden = bar.children.length === 0;
    },
  };
}

/** The conclusion in words, key figures, and limitations. */
function summary() {
  const section = h('section', { class: 'summary', 'aria-label': 'Summary' });
  return {
    section,
    draw() {
      const finding = report.findings[index()];
      const { noisy, uncompared } = ranking();
      section.replaceChildren(
        h('p', { class: 'sentence' }, named(finding.sentence)),
        // Large figures of a noisy session would be read all the same.
        noisy || uncompared ? '' : h('div', { class: 'tiles' }, tiles()),
        ...finding.notes.map((note) => h('p', { class: 'note' }, named(note))));
    },
  };
}

function tile(label, value, under, kind) {
  return h('div', { class: `tile ${kind ?? ''}` }, h('div', { class: 'label' }, label),
    h('div', { class: 'figure' }, value), h('div', { class: 'under' }, under));
}

function tiles() {
  const { rows, best, best_are_equal: equal, noise, proved, state } = ranking();
  // No method is named if none has a time.
  const fastest = rows.find(({ cell }) => cell.name === best[0]);
  const units = unitsOf(place());
  const { files, directories, bytes: length } = place().expected;
  const rounds = Math.max(0, ...rows.map((row) => row.time.n));
  const number = (word) => rows.filter((row) => row.judgement && verdictOf(row) === word).length;
  const [better, worse] = isByProcessor() ? ['less_cpu', 'more_cpu'] : ['faster', 'slower'];
  const shares = [better, 'no_difference', worse, 'undecided'].map((word) => [word, number(word)]);
  return [
    fastest && tile(isByProcessor() ? 'least CPU' : 'fastest', duration(fastest.time.median), h('span', {}, named(fastest.cell.name),
      best.length > 1 ? ` and ${best.length - 1} more, ${equal ? 'no difference' : 'undecided between them'}` : '')),
    fastest && tile(`${UNITS} per second`, short(units / (fastest.time.median / 1e9)), isOfQuestions
      ? `${counted(units, 'question', 'questions')}: ${whole(files)} found, ${whole(place().expected.errors)} not`
      : isOfFiles
      ? `${counted(files, 'file', 'files')} of ${bytes(length)}${files === 1 ? '' : ' in all'}; ${session.transform.kind}`
      : `${whole(units)} entries: ${counted(files, 'file', 'files')}, ${counted(directories, 'directory', 'directories')}`),
    fastest && isOfFiles && tile(`per ${UNIT}`, each(fastest.time.median / units), `CPU time: ${each(CPU(fastest) / units)}`),
    fastest?.to_floor && tile('× the floor', ratio(fastest.to_floor.median), `95 %: ${ratio(fastest.to_floor.low)} to ${ratio(fastest.to_floor.high)}`),
    tile('against the base', h('span', { class: 'shares' }, shares.map(([word, count]) => (
      h('span', { class: `share v-${word}`, title: WORDS[word] }, String(count))))), shares.map(([word, count]) => `${count} ${WORDS[word]}`).join(', ')),
    tile('base against itself', noise ? ratio(noise.median) : '—', noise ? `95 %: ${ratio(noise.low)} to ${ratio(noise.high)}` : 'not run twice'),
    tile(isOfFiles ? 'input' : 'caches', state === 'cold' ? state : STATES[state], rounds === 0 ? 'no sample yet' : state === 'as_is' ? 'not controlled' : `${state === STATES[state] ? '' : `${STATES[state]}, `}${proved ? 'proved in every sample' : 'not proved'}`, state !== 'as_is' && !proved ? 'bad' : ''),
    tile('rounds', `${rounds}`, `of ${session.rounds}, ${counted(session.runs, ...RUN)} each; ${whole(report.samples)} samples`),
  ].filter(Boolean);
}

const SYNCED = { none: 'output may still be in memory', inside: 'synced to the device' };
const RUN = isOfQuestions ? ['run', 'runs'] : isOfFiles ? ['pass', 'passes'] : ['walk', 'walks'];

/** The machine and the settings of the session. */
function environmentCard() {
  const { section, body } = card('environment', 'Environment', 'Results hold for this machine and these settings.');
  return {
    section,
    draw() {
      const { environment: machine } = session;
      const fs = place().file_system;
      const is = (value) => value ?? 'unknown';
      const command = machine.command.join(' ');
      body.replaceChildren(
        h('dl', { class: 'facts' }, [
          fact('processor', is(machine.processor)),
          fact('cores', `${machine.cores}${machine.hypervisor ? ', virtual' : ''}`),
          fact('memory', machine.memory === null ? 'unknown' : bytes(machine.memory)),
          fact('system', machine.system),
          fact('initial load', is(machine.load)),
          fact('started', date(machine.began)),
          fact(isOfFiles || isOfQuestions ? 'folder' : 'tree', named(place().root)),
          fact('file system', named([is(fs.name), fs.options].filter(Boolean).join(', '))),
          fs.read_ahead ? fact('read-ahead', bytes(fs.read_ahead)) : [],
          isOfFiles ? fact('work', `${session.transform.kind}; ${SYNCED[session.transform.sync]}`) : [],
          fact('preset', session.preset),
          fact('rounds', `${session.rounds}, ${counted(session.runs, ...RUN)} per process, at most ${session.limit} s`),
          fact('seed', seed),
          fact('base', named(session.base)),
          fact('transect', machine.version),
        ].flat()),
        h('div', { class: 'command' }, h('code', {}, named(command)), copyButton('Copy', () => command)));
    },
  };
}
