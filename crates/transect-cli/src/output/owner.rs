//! Names of users and groups.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

#[cfg(unix)]
use uzers::{get_group_by_gid, get_group_by_name, get_user_by_name, get_user_by_uid};

/// Returns the name of a user, or the number if it has no name.
pub(crate) fn user_name_or_id(uid: u32) -> String {
    user_name(uid).unwrap_or_else(|| uid.to_string())
}

#[cfg(unix)]
pub(crate) fn user_name(uid: u32) -> Option<String> {
    Some(transect_text::quote::for_terminal(get_user_by_uid(uid)?.name()))
}

#[cfg(unix)]
pub(crate) fn group_name(gid: u32) -> Option<String> {
    Some(transect_text::quote::for_terminal(get_group_by_gid(gid)?.name()))
}

#[cfg(unix)]
pub(crate) fn uid_by_name(name: &str) -> Option<u32> {
    Some(get_user_by_name(name)?.uid())
}

#[cfg(unix)]
pub(crate) fn gid_by_name(name: &str) -> Option<u32> {
    Some(get_group_by_name(name)?.gid())
}

/// Users and groups have no numbers on other systems.
#[cfg(not(unix))]
mod none {
    pub(crate) fn name(_: u32) -> Option<String> {
        None
    }

    pub(crate) fn number(_: &str) -> Option<u32> {
        None
    }
}

#[cfg(not(unix))]
pub(crate) use none::{
    name as group_name, name as user_name, number as gid_by_name, number as uid_by_name,
};

/// A cache of names: each lookup reads a file, or queries a directory service.
#[derive(Debug)]
pub(crate) struct NameCache {
    look_up: fn(u32) -> Option<String>,
    known: Mutex<HashMap<u32, Option<String>>>,
}

impl NameCache {
    pub(crate) fn new(look_up: fn(u32) -> Option<String>) -> Self {
        Self { look_up, known: Mutex::default() }
    }

    pub(crate) fn of(&self, number: u32) -> Option<String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(number).or_insert_with(|| (self.look_up)(number)).clone()
    }
}
