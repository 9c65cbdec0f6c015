// Deleting entries, and moving them to the trash. The program reports what would be freed, the user
// confirms it, and the program compares every entry with what was read before it removes it.

const removalTitle = h('h2', { id: 'removal-title' });
const removalBody = h('div', {});
const removalAnswers = h('div', { class: 'answers' });
const removalDialog = h('dialog', { class: 'help asking', id: 'removal', 'aria-labelledby': 'removal-title' },
  h('header', {}, removalTitle), removalBody, removalAnswers);
app.append(removalDialog);

/** Counts the questions, so that a late answer to an earlier one is dropped. */
let question = 0;
/** A removal is running: the dialog stays open. */
let isRemoving = false;

const REMOVALS = {
  delete: { title: 'Delete for good?', yes: 'Delete', running: 'Deleting…', done: 'deleted', label: 'Delete…' },
  trash: { title: 'Move to the trash?', yes: 'Move to trash', running: 'Moving to the trash…', done: 'moved to the trash', label: 'Move to trash…' },
};

function showDialog(title, content, answers) {
  removalTitle.textContent = title;
  removalBody.replaceChildren(...content);
  removalAnswers.replaceChildren(...answers);
  if (!removalDialog.open) removalDialog.showModal();
  removalAnswers.querySelector('button')?.focus();
}

function answerButton(label, click, id, style = '') {
  return h('button', { type: 'button', class: `quiet ${style}`, id, click }, label);
}

function closeDialog() {
  question += 1;
  removalDialog.close();
}

function showReason(title, error) {
  showDialog(title, [h('p', {}, reasonOf(error))], [answerButton('Close', closeDialog, 'removal-close')]);
}

/** What matters for the decision, the most important first. */
function factsOf({ kind, files, directories, others: rest, freed, shared, shared_files: sharedFiles, mounts, unread }) {
  const isTrash = kind === 'trash';
  const contents = [
    files > 0 ? counted(files, 'file', 'files') : '', directories > 0 ? counted(directories, 'directory', 'directories') : '',
    rest > 0 ? counted(rest, 'other', 'others') : '',
  ].filter(Boolean).join(', ');
  return [
    isTrash ? `Frees ${bytes(freed)} when the trash is emptied.` : `Frees ${bytes(freed)}. Cannot be undone.`,
    shared > 0 ? `${bytes(shared)} stay in use: ${counted(sharedFiles, 'file has', 'files have')} other names elsewhere.` : '',
    mounts > 0 ? `${counted(mounts, 'mount point', 'mount points')} inside: not ${isTrash ? 'moved' : 'deleted'}.` : '',
    unread > 0 ? `${counted(unread, 'directory', 'directories')} not read: unknown contents ${isTrash ? 'are moved, too' : 'are kept'}.` : '',
    contents === '' ? '' : `Contains ${contents}.`,
  ].filter(Boolean);
}

/** Asks whether to remove an entry. */
async function askRemoval(kind, at) {
  const words = REMOVALS[kind];
  question += 1;
  const mine = question;
  if (!canRemove(at)) return;
  showDialog(words.title, [h('p', { class: 'path' }, h('bdi', {}, pathOf(at))), h('p', {}, 'Adding up…')],
    [answerButton('Keep', closeDialog, 'removal-no')]);
  try {
    const plan = await act(`${kind}/${about.version}/${at}`);
    if (mine !== question) return;
    const yes = answerButton(words.yes, () => remove(kind, plan), 'removal-yes', kind === 'delete' ? 'alarming' : '');
    showDialog(words.title, [h('p', { class: 'path' }, h('bdi', {}, visible(plan.path))), h('ul', {}, factsOf(plan).map((fact) => h('li', {}, fact)))],
      [answerButton('Keep', closeDialog, 'removal-no'), yes]);
  } catch (error) {
    if (mine === question) showReason(words.title, error);
  }
}

async function remove(kind, plan) {
  const words = REMOVALS[kind];
  const bar = h('progress', { 'aria-label': words.running });
  const state = h('p', {});
  const last = h('p', { class: 'facts' });
  showDialog(words.running, [bar, state, last], [answerButton('Stop', () => act('stop').catch(reasonOf), 'removal-stop')]);
  isRemoving = true;
  try {
    await whileBusy(async () => {
      const { number } = await act(`confirm/${plan.confirm}`);
      const outcome = await outcomeOf(number, ({ done, total: all, freed, kept, path }) => {
        bar.max = Math.max(1, all);
        bar.value = done;
        state.textContent = [`${count(done)} of ${counted(all, 'entry', 'entries')}`, freed > 0 ? `${bytes(freed)} freed` : '',
          kept > 0 ? `${count(kept)} kept` : ''].filter(Boolean).join(', ');
        last.textContent = visible(path);
      });
      if (outcome === null) throw new Refused('another page requested something else');
      await showRemoved(words, outcome);
    });
  } catch (error) {
    showReason(words.running, error);
  } finally {
    isRemoving = false;
  }
}

/** Updates the map, and shows what was not removed. */
async function showRemoved(words, outcome) {
  const before = about.version;
  while ((await fetchUpdate()) && about.version === before) await pause(PROGRESS_INTERVAL);
  if (outcome.error) throw new Refused(outcome.error);
  const { removed, vanished, kept, freed, stopped, kept_entries: entriesKept } = outcome;
  const text = [
    stopped ? 'Stopped' : '', kept > 0 ? `${counted(kept, 'entry', 'entries')} kept` : '',
    `${counted(removed, 'entry', 'entries')} ${words.done}${freed > 0 ? `, ${bytes(freed)} freed` : ''}`,
    vanished > 0 ? `${counted(vanished, 'entry', 'entries')} already gone` : '',
  ].filter(Boolean).join('; ');
  spoken.textContent = text;
  isRemoving = false;
  if (kept === 0 && !stopped) {
    closeDialog();
    (isListOpen() ? body.closest('.rows') : picture).focus();
  } else {
    showDialog(kept > 0 ? 'Not everything was removed' : 'Stopped',
      [h('p', { id: 'removal-outcome' }, `${text}.`), h('ul', { class: 'kept' }, entriesKept.map((reason) => h('li', {}, h('bdi', {}, visible(reason)))))],
      [answerButton('Close', closeDialog, 'removal-close')]);
  }
  // The tree is not as it was read, and is read again.
  if (kept > 0) await followRescan();
}

removalDialog.addEventListener('cancel', (event) => {
  if (isRemoving) event.preventDefault();
  else question += 1;
});

/** The entry that the buttons act on: the one selected in the list, or -1; without a list, that of the map. */
function entryToRemove() {
  if (!isListOpen()) return currentEntry();
  return body.querySelector(`[data-at="${view.chosen}"]`) ? view.chosen : -1;
}

/** Whether an entry can be removed: not a root, not an aggregate. */
function canRemove(at) {
  return at >= 0 && !isBusy && !about.reading && type[at] !== MORE && at !== TOP && type[parent[at]] !== ABOVE_ROOTS;
}

const removalButtons = Object.entries(REMOVALS).reverse().map(([kind, { label }]) => h('button', {
  type: 'button', class: 'quiet', id: `remove-${kind}`, disabled: true, title: `${label} (${kind === 'trash' ? 'Delete' : 'Shift + Delete'})`, click: () => askRemoval(kind, entryToRemove()),
}, label));
const toRemove = h('p', { class: 'facts', id: 'to-remove' });
entryTools.append(...removalButtons, toRemove);

function updateRemovalButtons() {
  const at = entryToRemove();
  for (const button of removalButtons) button.disabled = !canRemove(at);
  toRemove.replaceChildren(...(at < 0 ? ['Nothing is selected in this list.'] : ['Selected: ', pathText(pathOf(at), '')]));
}
listeners.push(updateRemovalButtons);
busyListeners.push(updateRemovalButtons);
// Every list is drawn by changing the rows.
new MutationObserver(updateRemovalButtons).observe(body, { childList: true });

keyList.append(h('dt', {}, 'Delete'), h('dd', {}, 'move the selected entry to the trash; with Shift, delete it; in a table, the focused one'));
document.addEventListener('keydown', (event) => {
  if (event.target.closest('input, select, dialog') || event.ctrlKey || event.metaKey || event.altKey || event.key !== 'Delete') return;
  event.preventDefault();
  const row = event.target.closest('tr[data-at]');
  askRemoval(event.shiftKey ? 'delete' : 'trash', row ? Number(row.dataset.at) : entryToRemove());
});
