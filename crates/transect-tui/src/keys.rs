//! The keys: one table, which is followed and which help is made of.

use std::fmt;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::cursor::Motion;
use crate::sort::SortKey;

/// What somebody wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Move(Motion),
    Enter,
    Leave,
    NextLargest,
    PreviousLargest,
    Sort(SortKey),
    ToggleMeasure,
    TogglePanel,
    ToggleMark,
    MarkAll,
    UnmarkAll,
    Search,
    Find,
    Errors,
    Help,
    Rescan,
    Open,
    Shell,
    Trash,
    Delete,
    Redraw,
    Suspend,
    Quit,
    /// Goes to what a list shows.
    GoTo,
    /// Closes what lies above the directory; gives up what was asked.
    Close,
    Erase,
    EraseAll,
    NextMatch,
    PreviousMatch,
    Accept,
    ToggleAnswer,
    Yes,
}

/// Where a key is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    /// In a directory.
    Directory,
    /// In a list that lies above it: of keys, of errors, of what was found.
    List,
    /// While a name is typed.
    Prompt,
    /// When something is asked.
    Confirmation,
    /// While something is removed.
    Removal,
}

impl Context {
    pub(crate) const ALL: [Self; 5] =
        [Self::Directory, Self::List, Self::Prompt, Self::Confirmation, Self::Removal];

    /// Returns where the keys are pressed, for a heading.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Directory => "In a directory",
            Self::List => "In a list",
            Self::Prompt => "While a name is typed",
            Self::Confirmation => "When something is asked",
            Self::Removal => "While something is removed",
        }
    }
}

/// A key as it is pressed.
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

/// Keys that all do the same in one context.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) context: Context,
    pub(crate) keys: &'static [Key],
    pub(crate) action: Action,
    /// What they do, for help.
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

/// All keys, in the order in which help shows them.
pub(crate) const BINDINGS: &[Binding] = {
    use Action::*;
    use Context::*;
    use KeyCode as Code;
    &[
        bind(Directory, &[key(Code::Down), letter('j')], Move(Motion::Down), "the next entry"),
        bind(Directory, &[key(Code::Up), letter('k')], Move(Motion::Up), "the entry before"),
        bind(
            Directory,
            &[key(Code::PageDown), control('f'), control('d')],
            Move(Motion::PageDown),
            "a page down",
        ),
        bind(
            Directory,
            &[key(Code::PageUp), control('b'), control('u')],
            Move(Motion::PageUp),
            "a page up",
        ),
        bind(Directory, &[key(Code::Home), letter('g')], Move(Motion::First), "the first entry"),
        bind(Directory, &[key(Code::End), letter('G')], Move(Motion::Last), "the last entry"),
        bind(
            Directory,
            &[key(Code::Enter), key(Code::Right), letter('l')],
            Enter,
            "into this directory",
        ),
        bind(
            Directory,
            &[key(Code::Left), key(Code::Backspace), letter('h')],
            Leave,
            "to the directory above",
        ),
        bind(
            Directory,
            &[letter('b')],
            NextLargest,
            "to the biggest file below; again: to the next",
        ),
        bind(Directory, &[letter('B')], PreviousLargest, "back to the bigger one before"),
        bind(Directory, &[letter('/')], Search, "search in this directory"),
        bind(Directory, &[letter('f')], Find, "find in the whole tree"),
        bind(Directory, &[letter('s')], Sort(SortKey::Size), "sort by size; again: turned round"),
        bind(Directory, &[letter('c')], Sort(SortKey::Count), "sort by number of entries"),
        bind(Directory, &[letter('n')], Sort(SortKey::Name), "sort by name"),
        bind(Directory, &[letter('m')], Sort(SortKey::Time), "sort by time of the newest change"),
        bind(Directory, &[letter('a')], ToggleMeasure, "disk usage, or apparent sizes"),
        bind(Directory, &[letter('i')], TogglePanel, "all about the entry, or less"),
        bind(Directory, &[letter('e')], Errors, "what could not be read"),
        bind(Directory, &[letter(' ')], ToggleMark, "mark, or not, and go on"),
        bind(Directory, &[letter('*')], MarkAll, "mark all that is shown"),
        bind(Directory, &[letter('u')], UnmarkAll, "mark nothing any more"),
        bind(Directory, &[letter('o')], Open, "open with the program for it"),
        bind(Directory, &[letter('!')], Shell, "a shell in this directory"),
        bind(Directory, &[letter('t')], Trash, "move to the trash what is marked, or this"),
        bind(Directory, &[letter('d')], Delete, "delete what is marked, or this"),
        bind(Directory, &[letter('r')], Rescan, "read everything again"),
        bind(Directory, &[letter('?'), key(Code::F(1))], Help, "these keys"),
        bind(Directory, &[control('l')], Redraw, "draw the screen anew"),
        bind(Directory, &[control('z')], Suspend, "back to the shell for now (fg returns)"),
        bind(Directory, &[letter('q'), control('c')], Quit, "leave"),
        bind(List, &[key(Code::Down), letter('j')], Move(Motion::Down), "down"),
        bind(List, &[key(Code::Up), letter('k')], Move(Motion::Up), "up"),
        bind(
            List,
            &[key(Code::PageDown), letter(' '), control('f'), control('d')],
            Move(Motion::PageDown),
            "a page down",
        ),
        bind(
            List,
            &[key(Code::PageUp), control('b'), control('u')],
            Move(Motion::PageUp),
            "a page up",
        ),
        bind(List, &[key(Code::Home), letter('g')], Move(Motion::First), "to the beginning"),
        bind(List, &[key(Code::End), letter('G')], Move(Motion::Last), "to the end"),
        bind(List, &[key(Code::Enter), key(Code::Right), letter('l')], GoTo, "go there"),
        bind(
            List,
            &[key(Code::Esc), letter('q'), key(Code::Left), letter('h'), letter('?')],
            Close,
            "close",
        ),
        bind(List, &[control('c')], Quit, "leave"),
        bind(Prompt, &[key(Code::Enter)], Accept, "take it"),
        bind(Prompt, &[key(Code::Esc), control('c')], Close, "give up"),
        bind(Prompt, &[key(Code::Backspace), control('h')], Erase, "erase a character"),
        bind(Prompt, &[control('u')], EraseAll, "erase all"),
        bind(Prompt, &[key(Code::Down), control('n')], NextMatch, "the next that matches"),
        bind(Prompt, &[key(Code::Up), control('p')], PreviousMatch, "the match before"),
        bind(Confirmation, &[letter('y')], Yes, "yes"),
        bind(Confirmation, &[letter('n'), key(Code::Esc), letter('q'), control('c')], Close, "no"),
        bind(
            Confirmation,
            &[key(Code::Tab), key(Code::Left), key(Code::Right), letter('h'), letter('l')],
            ToggleAnswer,
            "the other answer",
        ),
        bind(Confirmation, &[key(Code::Enter)], Accept, "what is chosen"),
        bind(Confirmation, &[key(Code::Down), letter('j')], Move(Motion::Down), "down"),
        bind(Confirmation, &[key(Code::Up), letter('k')], Move(Motion::Up), "up"),
        bind(Removal, &[key(Code::Esc), letter('q'), control('c')], Close, "stop"),
    ]
};

/// Returns what a key means in a context.
pub(crate) fn action_for(context: Context, event: KeyEvent) -> Option<Action> {
    if event.modifiers.contains(KeyModifiers::ALT) {
        return None;
    }
    let pressed =
        Key { code: event.code, control: event.modifiers.contains(KeyModifiers::CONTROL) };
    let known = BINDINGS.iter().find(|it| it.context == context && it.keys.contains(&pressed));
    known.map(|binding| binding.action)
}

/// Returns the first key that help something in a context, as it is shown.
pub(crate) fn key_for(context: Context, action: Action) -> String {
    let known = BINDINGS.iter().find(|it| it.context == context && it.action == action);
    known.map(|binding| binding.keys[0].to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_key_has_two_meanings() {
        for context in Context::ALL {
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
    fn whoever_holds_alt_means_something_else() {
        let event = KeyEvent::new(KeyCode::Char('d'), KeyModifiers::ALT);
        assert_eq!(action_for(Context::Directory, event), None);
        let event = KeyEvent::new(KeyCode::Char('G'), KeyModifiers::SHIFT);
        assert_eq!(action_for(Context::Directory, event), Some(Action::Move(Motion::Last)));
        let event = KeyEvent::new(KeyCode::Char('d'), KeyModifiers::CONTROL);
        assert_eq!(action_for(Context::Directory, event), Some(Action::Move(Motion::PageDown)));
    }
}
