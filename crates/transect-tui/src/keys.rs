//! Key bindings: one table, from which the help is generated.

use std::fmt;

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
        matches!(self, Self::Trash | Self::Delete)
    }
}

transect_sys::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Context {
        Directory = "Directory",
        /// A list above the directory: keys, errors, search results.
        List = "List",
        Duplicates = "Duplicates",
        Prompt = "Prompt",
        Confirmation = "Confirmation",
        Removal = "Removal",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    code: KeyCode,
    control: bool,
}

const fn key(code: KeyCode) -> Key {
    Key { code, control: false }
}

const fn letter(letter: char) -> Key {
    key(KeyCode::Char(letter))
}

const fn control(letter: char) -> Key {
    Key { code: KeyCode::Char(letter), control: true }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            KeyCode::Char(' ') => f.write_str("Space"),
            KeyCode::Char(letter) if self.control => {
                write!(f, "Ctrl-{}", letter.to_ascii_uppercase())
            }
            KeyCode::Char(letter) => write!(f, "{letter}"),
            KeyCode::Down => f.write_str("↓"),
            KeyCode::Up => f.write_str("↑"),
            KeyCode::Left => f.write_str("←"),
            KeyCode::Right => f.write_str("→"),
            KeyCode::PageDown => f.write_str("PgDn"),
            KeyCode::PageUp => f.write_str("PgUp"),
            code => write!(f, "{code}"),
        }
    }
}

/// Keys with the same action in one context.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) context: Context,
    pub(crate) keys: &'static [Key],
    pub(crate) action: Action,
    pub(crate) help: &'static str,
}

const fn bind(
    context: Context,
    keys: &'static [Key],
    action: Action,
    help: &'static str,
) -> Binding {
    Binding { context, keys, action, help }
}

pub(crate) const BINDINGS: &[Binding] = {
    use Action::*;
    use Context::*;
    use KeyCode as Code;
    &[
        bind(Directory, &[key(Code::Down), letter('j')], Move(Motion::Down), "next entry"),
        bind(Directory, &[key(Code::Up), letter('k')], Move(Motion::Up), "previous entry"),
        bind(
            Directory,
            &[key(Code::PageDown), control('f'), control('d')],
            Move(Motion::PageDown),
            "page down",
        ),
        bind(
            Directory,
            &[key(Code::PageUp), control('b'), control('u')],
            Move(Motion::PageUp),
            "page up",
        ),
        bind(Directory, &[key(Code::Home), letter('g')], Move(Motion::First), "first entry"),
        bind(Directory, &[key(Code::End), letter('G')], Move(Motion::Last), "last entry"),
        bind(
            Directory,
            &[key(Code::Enter), key(Code::Right), letter('l')],
            Enter,
            "open directory",
        ),
        bind(
            Directory,
            &[key(Code::Left), key(Code::Backspace), letter('h')],
            Leave,
            "parent directory",
        ),
        bind(Directory, &[letter('b')], LargestFiles, "largest files below"),
        bind(Directory, &[letter('/')], Search, "search here: text or glob"),
        bind(Directory, &[letter('f')], Find, "find in the tree: text or glob"),
        bind(Directory, &[letter('D')], FindDuplicates, "find duplicates below this directory"),
        bind(Directory, &[letter('s')], Sort(SortKey::Size), "sort by size (again: reverse)"),
        bind(Directory, &[letter('c')], Sort(SortKey::Count), "sort by number of entries"),
        bind(Directory, &[letter('n')], Sort(SortKey::Name), "sort by name"),
        bind(Directory, &[letter('m')], Sort(SortKey::Time), "sort by newest change"),
        bind(Directory, &[letter('a')], ToggleMeasure, "disk usage or apparent sizes"),
        bind(Directory, &[letter('i')], TogglePanel, "show or hide details"),
        bind(Directory, &[letter('e')], Errors, "show errors"),
        bind(Directory, &[letter(' ')], ToggleMark, "toggle mark, move down"),
        bind(Directory, &[letter('*')], MarkAll, "mark all"),
        bind(Directory, &[letter('u')], UnmarkAll, "unmark all"),
        bind(Directory, &[letter('o')], Open, "open with default program"),
        bind(Directory, &[letter('!')], Shell, "shell in this directory"),
        bind(Directory, &[letter('t')], Trash, "trash marked entries, or this"),
        bind(Directory, &[letter('d')], Delete, "delete marked entries, or this"),
        bind(Directory, &[letter('r')], Rescan, "read this directory again"),
        bind(Directory, &[letter('R')], RescanAll, "read everything again"),
        bind(Directory, &[letter('?'), key(Code::F(1))], Help, "help"),
        bind(Directory, &[control('l')], Redraw, "redraw the screen"),
        bind(Directory, &[control('z')], Suspend, "suspend (fg resumes)"),
        bind(Directory, &[letter('q'), control('c')], Quit, "quit"),
        bind(List, &[key(Code::Down), letter('j')], Move(Motion::Down), "down"),
        bind(List, &[key(Code::Up), letter('k')], Move(Motion::Up), "up"),
        bind(
            List,
            &[key(Code::PageDown), letter(' '), control('f'), control('d')],
            Move(Motion::PageDown),
            "page down",
        ),
        bind(
            List,
            &[key(Code::PageUp), control('b'), control('u')],
            Move(Motion::PageUp),
            "page up",
        ),
        bind(List, &[key(Code::Home), letter('g')], Move(Motion::First), "first line"),
        bind(List, &[key(Code::End), letter('G')], Move(Motion::Last), "last line"),
        bind(List, &[key(Code::Enter), key(Code::Right), letter('l')], GoTo, "go there"),
        bind(
            List,
            &[key(Code::Esc), letter('q'), key(Code::Left), letter('h'), letter('?')],
            Close,
            "close",
        ),
        bind(List, &[control('c')], Quit, "quit"),
        bind(Duplicates, &[key(Code::Down), letter('j')], Move(Motion::Down), "down"),
        bind(Duplicates, &[key(Code::Up), letter('k')], Move(Motion::Up), "up"),
        bind(Duplicates, &[key(Code::PageDown), control('f')], Move(Motion::PageDown), "page down"),
        bind(Duplicates, &[key(Code::PageUp), control('b')], Move(Motion::PageUp), "page up"),
        bind(Duplicates, &[key(Code::Home), letter('g')], Move(Motion::First), "first line"),
        bind(Duplicates, &[key(Code::End), letter('G')], Move(Motion::Last), "last line"),
        bind(Duplicates, &[key(Code::Enter), key(Code::Right), letter('l')], GoTo, "go to file"),
        bind(Duplicates, &[letter(' ')], ToggleMark, "toggle mark, move down"),
        bind(Duplicates, &[letter('*')], MarkAll, "mark all but the first of each group"),
        bind(Duplicates, &[letter('u')], UnmarkAll, "unmark all"),
        bind(Duplicates, &[letter('t')], Trash, "trash marked files"),
        bind(Duplicates, &[letter('d')], Delete, "delete marked files"),
        bind(Duplicates, &[letter('D')], FindDuplicates, "search again"),
        bind(
            Duplicates,
            &[key(Code::Esc), letter('q'), key(Code::Left), letter('h')],
            Close,
            "close; stop a search",
        ),
        bind(Duplicates, &[control('c')], Quit, "quit"),
        bind(Prompt, &[key(Code::Enter)], Accept, "accept"),
        bind(Prompt, &[key(Code::Esc), control('c')], Close, "cancel"),
        bind(Prompt, &[key(Code::Backspace), control('h')], Erase, "delete a letter"),
        bind(Prompt, &[control('u')], EraseAll, "clear"),
        bind(Prompt, &[key(Code::Down), control('n')], NextMatch, "next match"),
        bind(Prompt, &[key(Code::Up), control('p')], PreviousMatch, "previous match"),
        bind(Confirmation, &[letter('y')], Yes, "yes"),
        bind(Confirmation, &[letter('n'), key(Code::Esc), letter('q'), control('c')], Close, "no"),
        bind(
            Confirmation,
            &[key(Code::Tab), key(Code::Left), key(Code::Right), letter('h'), letter('l')],
            ToggleAnswer,
            "switch answer",
        ),
        bind(Confirmation, &[key(Code::Enter)], Accept, "accept"),
        bind(Confirmation, &[key(Code::Down), letter('j')], Move(Motion::Down), "down"),
        bind(Confirmation, &[key(Code::Up), letter('k')], Move(Motion::Up), "up"),
        bind(Removal, &[key(Code::Esc), letter('q'), control('c')], Close, "stop"),
    ]
};

pub(crate) fn action_for(context: Context, event: KeyEvent) -> Option<Action> {
    if event.modifiers.contains(KeyModifiers::ALT) {
        return None;
    }
    let pressed =
        Key { code: event.code, control: event.modifiers.contains(KeyModifiers::CONTROL) };
    let known = BINDINGS.iter().find(|it| it.context == context && it.keys.contains(&pressed));
    known.map(|binding| binding.action)
}

/// Returns the name of the first key for an action in a context.
pub(crate) fn key_for(context: Context, action: Action) -> String {
    let known = BINDINGS.iter().find(|it| it.context == context && it.action == action);
    known.map(|binding| binding.keys[0].to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn keys_have_one_action_per_context() {
        for &context in Context::ALL {
            let mut seen = HashSet::new();
            for binding in BINDINGS.iter().filter(|binding| binding.context == context) {
                for key in binding.keys {
                    assert!(seen.insert(key.to_string()), "{key} twice {}", context.as_str());
                }
            }
            assert!(!seen.is_empty());
        }
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
