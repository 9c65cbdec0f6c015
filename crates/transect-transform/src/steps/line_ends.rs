//! The bytes that end lines (`eol.rs` defines what a line ending is).

use memchr::memchr_iter;

use super::clean::any_of_three;

pub(super) const CR: u8 = b'\r';
pub(super) const LF: u8 = b'\n';

/// Returns how many CRs are not part of a line ending, if every LF has exactly one CR before it.
pub(super) fn count_lone_cr(span: &[u8]) -> u64 {
    count(CR, span) - count(LF, span)
}

pub(super) fn count(byte: u8, bytes: &[u8]) -> u64 {
    memchr_iter(byte, bytes).count() as u64
}

/// Returns whether every LF has exactly one CR before it. The byte before the span is not a CR.
pub(super) fn has_crlf_only(span: &[u8]) -> bool {
    let begins_right = match span {
        [LF, ..] => false,
        [before, LF, ..] => *before == CR,
        _ => true,
    };
    begins_right && !any_of_three(span, |a, b, c| (c == LF) & ((b != CR) | (a == CR)))
}
