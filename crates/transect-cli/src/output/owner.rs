//! Who a user's number belongs to.

/// Returns the name of a user, or the number if nobody has it.
#[cfg(unix)]
pub(crate) fn name(uid: u32) -> String {
    match uzers::get_user_by_uid(uid) {
        Some(user) => super::quote::for_terminal(user.name()),
        None => uid.to_string(),
    }
}

/// Returns the number: elsewhere users have none.
#[cfg(not(unix))]
pub(crate) fn name(uid: u32) -> String {
    uid.to_string()
}
