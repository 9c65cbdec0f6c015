//! Who the numbers of users and groups belong to.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

#[cfg(unix)]
use uzers::{get_group_by_gid, get_group_by_name, get_user_by_name, get_user_by_uid};

/// Returns the name of a user, or the number if nobody has it.
pub(crate) fn user_name_or_id(uid: u32) -> String {
    user_name(uid).unwrap_or_else(|| uid.to_string())
}

/// Returns the name of a user; `None` if nobody has the number.
#[cfg(unix)]
pub(crate) fn user_name(uid: u32) -> Option<String> {
    Some(super::quote::for_terminal(get_user_by_uid(uid)?.name()))
}

/// Returns the name of a group; `None` if none has the number.
#[cfg(unix)]
pub(crate) fn group_name(gid: u32) -> Option<String> {
    Some(super::quote::for_terminal(get_group_by_gid(gid)?.name()))
}

/// Returns the number of the user with this name.
#[cfg(unix)]
pub(crate) fn uid_by_name(name: &str) -> Option<u32> {
    Some(get_user_by_name(name)?.uid())
}

/// Returns the number of the group with this name.
#[cfg(unix)]
pub(crate) fn gid_by_name(name: &str) -> Option<u32> {
    Some(get_group_by_name(name)?.gid())
}

/// Returns nothing: elsewhere users and groups have no numbers.
#[cfg(not(unix))]
mod none {
    pub(crate) fn user_name(_: u32) -> Option<String> {
        None
    }

    pub(crate) fn group_name(_: u32) -> Option<String> {
        None
    }

    pub(crate) fn uid_by_name(_: &str) -> Option<u32> {
        None
    }

    pub(crate) fn gid_by_name(_: &str) -> Option<u32> {
        None
    }
}

#[cfg(not(unix))]
pub(crate) use none::{gid_by_name, group_name, uid_by_name, user_name};

/// Names that were looked up before: every question reads a file, or asks another machine.
#[derive(Debug)]
pub(crate) struct NameCache {
    look_up: fn(u32) -> Option<String>,
    known: Mutex<HashMap<u32, Option<String>>>,
}

impl NameCache {
    /// Returns names that `look_up` finds.
    pub(crate) fn new(look_up: fn(u32) -> Option<String>) -> Self {
        Self { look_up, known: Mutex::default() }
    }

    /// Returns the name that a number has.
    pub(crate) fn of(&self, number: u32) -> Option<String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(number).or_insert_with(|| (self.look_up)(number)).clone()
    }
}
