//! What a page requests of the program, apart from updates.

use transect_remove::RemovalKind;

/// A request that changes something or takes long. Each is a POST from the page itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Read the tree again.
    Rescan,
    /// Report what removing an entry would free, with a number that confirms the removal.
    PrepareRemoval {
        /// How it would be removed.
        kind: RemovalKind,
        /// The entry.
        entry: EntryId,
    },
    /// Carry out the removal that has this number.
    Confirm(u128),
    /// Search for files of the same content below a directory.
    FindDuplicates(EntryId),
    /// Stop the removal or the search that is running.
    Stop,
}

/// An entry of one version of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryId {
    /// The version of the map that the page shows.
    pub version: u64,
    /// The index of the entry in the columns of that version.
    pub index: u32,
}

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// No request of this kind is ever accepted, as opposed to this one now.
    pub is_forbidden: bool,
    /// The reason, for the user.
    pub reason: String,
}

impl Refusal {
    /// Returns the refusal of a request that may be accepted at another time, or for another entry.
    pub fn conflict(reason: impl Into<String>) -> Self {
        Self { is_forbidden: false, reason: reason.into() }
    }

    /// Returns the refusal of all requests of a kind.
    pub fn forbidden(reason: impl Into<String>) -> Self {
        Self { is_forbidden: true, reason: reason.into() }
    }
}

/// Returns the action of a POST by the two parts of its path; `None` if there is no such action.
pub(super) fn parse((name, rest): (&str, &str)) -> Option<Action> {
    let remove = |kind| entry(rest).map(|entry| Action::PrepareRemoval { kind, entry });
    match (name, rest) {
        ("rescan", "") => Some(Action::Rescan),
        ("stop", "") => Some(Action::Stop),
        ("delete", _) => remove(RemovalKind::Delete),
        ("trash", _) => remove(RemovalKind::Trash),
        ("confirm", number) => confirmation(number).map(Action::Confirm),
        ("duplicates", _) => entry(rest).map(Action::FindDuplicates),
        _ => None,
    }
}

/// Parses `VERSION/ENTRY`.
fn entry(text: &str) -> Option<EntryId> {
    let (version, index) = text.split_once('/')?;
    Some(EntryId { version: decimal(version)?, index: decimal(index)? })
}

/// Parses digits, without a sign.
fn decimal<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Parses the 32 digits of a confirmation.
fn confirmation(text: &str) -> Option<u128> {
    let is_number = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_number.then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn action_of_path_parsed_exactly() {
        let of = |path: &str| parse(path.split_once('/').unwrap_or((path, "")));
        let entry = EntryId { version: 7, index: 21 };
        assert_eq!(of("rescan"), Some(Action::Rescan));
        assert_eq!(of("stop"), Some(Action::Stop));
        for (path, kind) in
            [("delete/7/21", RemovalKind::Delete), ("trash/7/21", RemovalKind::Trash)]
        {
            assert_eq!(of(path), Some(Action::PrepareRemoval { kind, entry }));
        }
        assert_eq!(of("duplicates/7/21"), Some(Action::FindDuplicates(entry)));
        let number = "00000000000000000000000000000abc";
        assert_eq!(of(&format!("confirm/{number}")), Some(Action::Confirm(0xabc)));
        for wrong in [
            "",
            "rescan/",
            "rescan/1",
            "stop/1",
            "delete",
            "delete/7",
            "delete/7/",
            "delete//21",
            "delete/7/21/",
            "delete/7/-1",
            "delete/+7/21",
            "delete/7/21?",
            "delete/7/4294967296",
            "Delete/7/21",
            "remove/7/21",
            "confirm/",
            "confirm/abc",
            "confirm/+0000000000000000000000000000abc",
            "confirm/00000000000000000000000000000abcd",
        ] {
            assert_eq!(
                of(wrong),
                if wrong == "rescan/" { Some(Action::Rescan) } else { None },
                "{wrong}"
            );
        }
    }
}
