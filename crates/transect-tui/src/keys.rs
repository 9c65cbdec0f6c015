//! Key bindings: one table, from which the help is generated.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::cursor::Motion;
use crate::sort::SortKey;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Move(Motion),
    Enter,
    Leave,
    LargestFiles,
    Sort(SortKey),
    ToggleMeasure,
    TogglePanel,
    ToggleMark,
    MarkAll,
    UnmarkAll,
    Search,
    Find,
    FindDuplicates,
    Errors,
    Help,
    Rescan,
    RescanAll,
    Open,
    Shell,
    Trash,
    Delete,
    Undo,
    EmptyTrash,
    Redraw,
    Suspend,
    Quit,
    GoTo,
    /// Closes the overlay; cancels a prompt or a confirmation.
    Close,
    Erase,
    EraseAll,
    NextMatch,
    PreviousMatch,
    Accept,
    ToggleAnswer,
    Yes,
}

impl Action {
    pub(crate) fn needs_disk(self) -> bool {
        let searches = matches!(self, Self::FindDuplicates | Self::Rescan | Self::RescanAll);
        searches || self.removes() || matches!(self, Self::Open | Self::Shell)
    }

    pub(crate) fn removes(self) -> bool {
        matches!(self, Self::Trash | Self::Delete | Self::Undo | Self::EmptyTrash)
    }
}

transect_sys::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Context {
        Directory = "Directory",
        /// A list above the directory: keys, errors, entries that were kept.
        List = "List",
        Found = "Found entries",
        Duplicates = "Duplicates",
        Prompt = "Prompt",
        Confirmation = "Confirmation",
        Removal = "Removal",
    }
}

/// Keys with the same action in some contexts.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) contexts: &'static [Context],
    /// Their names, with spaces between.
    pub(crate) keys: &'static str,
    pub(crate) action: Action,
    pub(crate) help: &'static str,
}

const fn bind(
    contexts: &'static [Context],
    keys: &'static str,
    action: Action,
    help: &'static str,
) -> Binding {
    Binding { contexts, keys, action, help }
}

pub(crate) const BINDINGS: &[Binding] = {
    use Action::*;
    use Context::*;
    const MOVES: &[Context] = &[Directory, List, Found, Duplicates, Confirmation];
    const PAGES: &[Context] = &[Directory, List, Found, Duplicates];
    &[
        bind(MOVES, "↓ j", Move(Motion::Down), "down"),
        bind(MOVES, "↑ k", Move(Motion::Up), "up"),
        bind(PAGES, "PgDn Ctrl-F Ctrl-D", Move(Motion::PageDown), "page down"),
        bind(PAGES, "PgUp Ctrl-B Ctrl-U", Move(Motion::PageUp), "page up"),
        bind(PAGES, "Home g", Move(Motion::First), "first line"),
        bind(PAGES, "End G", Move(Motion::Last), "last line"),
        bind(&[List], "Space", Move(Motion::PageDown), "page down"),
        bind(&[Directory], "Enter → l", Enter, "open directory"),
        bind(&[Directory], "← Backspace h", Leave, "parent directory"),
        bind(&[Directory], "b", LargestFiles, "largest files below"),
        bind(&[Directory], "/", Search, "search here: text or glob"),
        bind(&[Directory], "f", Find, "find in the tree: text or glob"),
        bind(&[Directory], "D", FindDuplicates, "find duplicates below this directory"),
        bind(&[Directory], "s", Sort(SortKey::Size), "sort by size (again: reverse)"),
        bind(&[Directory], "w", Sort(SortKey::Growth), "sort by growth (with --since)"),
        bind(&[Directory], "c", Sort(SortKey::Count), "sort by number of entries"),
        bind(&[Directory], "n", Sort(SortKey::Name), "sort by name"),
        bind(&[Directory], "m", Sort(SortKey::Time), "sort by newest change"),
        bind(&[Directory], "a", ToggleMeasure, "disk usage or apparent sizes"),
        bind(&[Directory], "i", TogglePanel, "show or hide details"),
        bind(&[Directory], "e", Errors, "show errors"),
        bind(&[Directory], "Space", ToggleMark, "toggle mark, move down"),
        bind(&[Directory], "*", MarkAll, "mark all"),
        bind(&[Directory], "u", UnmarkAll, "unmark all"),
        bind(&[Directory], "o", Open, "open with default program"),
        bind(&[Directory], "!", Shell, "shell in this directory"),
        bind(&[Directory], "t", Trash, "trash marked entries, or this"),
        bind(&[Directory], "d", Delete, "delete marked entries, or this"),
        bind(&[Directory], "z", Undo, "undo: move back from the trash"),
        bind(&[Directory], "T", EmptyTrash, "empty the trash"),
        bind(&[Directory], "r", Rescan, "read this directory again"),
        bind(&[Directory], "R", RescanAll, "read everything again"),
        bind(&[Directory], "? F1", Help, "help"),
        bind(&[Directory], "Ctrl-L", Redraw, "redraw the screen"),
        bind(&[Directory], "Ctrl-Z", Suspend, "suspend (fg resumes)"),
        bind(&[Directory], "q Ctrl-C", Quit, "quit"),
        bind(&[List], "Enter → l", GoTo, "go there"),
        bind(&[List], "Esc q ← h ?", Close, "close"),
        bind(&[List], "Ctrl-C", Quit, "quit"),
        bind(&[Found], "Enter → l", GoTo, "go there"),
        bind(&[Found], "Space", ToggleMark, "toggle mark, move down"),
        bind(&[Found], "*", MarkAll, "mark all, without those below others"),
        bind(&[Found], "u", UnmarkAll, "unmark all"),
        bind(&[Found], "t", Trash, "trash marked entries, or this"),
        bind(&[Found], "d", Delete, "delete marked entries, or this"),
        bind(&[Found], "Esc q ← h", Close, "close"),
        bind(&[Found], "Ctrl-C", Quit, "quit"),
        bind(&[Duplicates], "Enter → l", GoTo, "go to file"),
        bind(&[Duplicates], "Space", ToggleMark, "toggle mark, move down"),
        bind(&[Duplicates], "*", MarkAll, "mark all but the first of each group"),
        bind(&[Duplicates], "u", UnmarkAll, "unmark all"),
        bind(&[Duplicates], "t", Trash, "trash marked files"),
        bind(&[Duplicates], "d", Delete, "delete marked files"),
        bind(&[Duplicates], "D", FindDuplicates, "search again"),
        bind(&[Duplicates], "Esc q ← h", Close, "close; stop a search"),
        bind(&[Duplicates], "Ctrl-C", Quit, "quit"),
        bind(&[Prompt], "Enter", Accept, "accept"),
        bind(&[Prompt], "Esc Ctrl-C", Close, "cancel"),
        bind(&[Prompt], "Backspace Ctrl-H", Erase, "delete a letter"),
        bind(&[Prompt], "Ctrl-U", EraseAll, "clear"),
        bind(&[Prompt], "↓ Ctrl-N", NextMatch, "next match"),
        bind(&[Prompt], "↑ Ctrl-P", PreviousMatch, "previous match"),
        bind(&[Confirmation], "y", Yes, "yes"),
        bind(&[Confirmation], "n Esc q Ctrl-C", Close, "no"),
        bind(&[Confirmation], "Tab ← → h l", ToggleAnswer, "switch answer"),
        bind(&[Confirmation], "Enter", Accept, "accept"),
        bind(&[Removal], "Esc q Ctrl-C", Close, "stop"),
    ]
};

pub(crate) fn action_for(context: Context, event: KeyEvent) -> Option<Action> {
    if event.modifiers.contains(KeyModifiers::ALT) {
        return None;
    }
    let pressed = name_of(event);
    let is_it = |it: &&Binding| {
        it.contexts.contains(&context) && it.keys.split(' ').any(|it| it == pressed)
    };
    BINDINGS.iter().find(is_it).map(|binding| binding.action)
}

/// Returns the name of a key: a letter, or as the bindings and the help write it.
fn name_of(event: KeyEvent) -> String {
    let control = event.modifiers.contains(KeyModifiers::CONTROL);
    let name = match event.code {
        KeyCode::Char(letter) if control => return format!("Ctrl-{}", letter.to_ascii_uppercase()),
        KeyCode::Char(' ') => "Space",
        KeyCode::Char(letter) => return letter.into(),
        _ if control => "",
        KeyCode::F(number) => return format!("F{number}"),
        KeyCode::Down => "↓",
        KeyCode::Up => "↑",
        KeyCode::Left => "←",
        KeyCode::Right => "→",
        KeyCode::PageDown => "PgDn",
        KeyCode::PageUp => "PgUp",
        KeyCode::Home => "Home",
        KeyCode::End => "End",
        KeyCode::Enter => "Enter",
        KeyCode::Tab => "Tab",
        KeyCode::Esc => "Esc",
        KeyCode::Backspace => "Backspace",
        _ => "",
    };
    name.to_owned()
}

/// Returns the name of the first key for an action in a context.
pub(crate) fn key_for(context: Context, action: Action) -> &'static str {
    let is_it = |it: &&Binding| it.contexts.contains(&context) && it.action == action;
    let keys = BINDINGS.iter().find(is_it).map_or("", |binding| binding.keys);
    keys.split(' ').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn keys_have_one_action_per_context() {
        for &context in Context::ALL {
            let mut seen = HashSet::new();
            for binding in BINDINGS.iter().filter(|it| it.contexts.contains(&context)) {
                for key in binding.keys.split(' ') {
                    assert!(seen.insert(key), "{key} twice {}", context.as_str());
                }
            }
            assert!(!seen.is_empty());
        }
    }

    #[test]
    fn keys_of_bindings_can_be_pressed() {
        let codes = [
            KeyCode::Down,
            KeyCode::Up,
            KeyCode::Left,
            KeyCode::Right,
            KeyCode::PageDown,
            KeyCode::PageUp,
            KeyCode::Home,
            KeyCode::End,
            KeyCode::Enter,
            KeyCode::Tab,
            KeyCode::Esc,
            KeyCode::Backspace,
            KeyCode::F(1),
        ];
        let letters = (' '..='~').map(KeyCode::Char);
        let events = codes.into_iter().chain(letters).flat_map(|code| {
            [KeyModifiers::NONE, KeyModifiers::CONTROL].map(|it| KeyEvent::new(code, it))
        });
        let names: HashSet<String> = events.map(name_of).collect();
        for key in BINDINGS.iter().flat_map(|binding| binding.keys.split(' ')) {
            assert!(names.contains(key), "{key}");
        }
        let event = KeyEvent::new(KeyCode::Down, KeyModifiers::CONTROL);
        assert_eq!(action_for(Context::Directory, event), None);
    }

    #[test]
    fn keys_with_alt_ignored() {
        let event = KeyEvent::new(KeyCode::Char('d'), KeyModifiers::ALT);
        assert_eq!(action_for(Context::Directory, event), None);
        let event = KeyEvent::new(KeyCode::Char('G'), KeyModifiers::SHIFT);
        assert_eq!(action_for(Context::Directory, event), Some(Action::Move(Motion::Last)));
        let event = KeyEvent::new(KeyCode::Char('d'), KeyModifiers::CONTROL);
        assert_eq!(action_for(Context::Directory, event), Some(Action::Move(Motion::PageDown)));
    }
}
