//! Searches the names of a page.

use crate::byte_values::ByteValues;

use super::search::NameMatcher;

/// Calls `found` with the number of each name that matches, except those in `others`, which are sorted.
///
/// All names are searched at once, as one text; a match that belongs to two names is none.
pub(super) fn matches_in(
    names: &ByteValues,
    others: &[usize],
    matcher: &NameMatcher<'_>,
    folded: &mut Vec<u8>,
    mut found: impl FnMut(usize),
) {
    folded.clear();
    if matcher.ignore_case {
        folded.extend_from_slice(&names.bytes);
        folded.make_ascii_lowercase();
    }
    let text = if matcher.ignore_case { &folded[..] } else { &names.bytes[..] };
    // Only roots have paths for names; in most pages there is none.
    let has_paths = memchr::memchr(b'/', text).is_some() || cfg!(windows);
    let mut others = others.iter().copied().peekable();
    let mut is_other = |row: usize| {
        while others.next_if(|&other| other < row).is_some() {}
        others.peek() == Some(&row)
    };
    // The bytes of a name, from its last separator on.
    let range = |row: usize| {
        let begin = row.checked_sub(1).map_or(0, |before| names.ends[before] as usize);
        let end = names.ends[row] as usize;
        let skipped = if has_paths { path_length(&names.bytes[begin..end]) } else { 0 };
        begin + skipped..end
    };
    let Some(word) = matcher.first_word() else {
        for row in 0..names.len() {
            let range = range(row);
            if !is_other(row) && matcher.matches(&names.bytes[range.clone()], &text[range], 0) {
                found(row);
            }
        }
        return;
    };
    let (mut from, mut row) = (0, 0);
    while let Some(at) = word.find(&text[from..]).map(|at| from + at) {
        row += rows_before(&names.ends[row..], at as u32);
        let range = range(row);
        if at < range.start {
            // In the path of a root.
            from = range.start;
            continue;
        }
        from = names.ends[row] as usize;
        if at + word.needle().len() <= range.end
            && !is_other(row)
            && matcher.matches(&names.bytes[range.clone()], &text[range], 1)
        {
            found(row);
        }
    }
}

/// Returns whether a name that is not UTF-8 matches.
pub(super) fn matches_alone(name: &[u8], matcher: &NameMatcher<'_>, folded: &mut Vec<u8>) -> bool {
    let name = &name[path_length(name)..];
    folded.clear();
    folded.extend_from_slice(name);
    if matcher.ignore_case {
        folded.make_ascii_lowercase();
    }
    matcher.matches(name, folded, 0)
}

/// Returns the length of a name up to its last separator: 0 except for a root.
fn path_length(name: &[u8]) -> usize {
    let slash = memchr::memrchr(b'/', name);
    let last = if cfg!(windows) { slash.max(memchr::memrchr(b'\\', name)) } else { slash };
    last.map_or(0, |at| at + 1)
}

/// Returns how many of these ends are not behind an offset: the next few, or found by bisection.
fn rows_before(ends: &[u32], offset: u32) -> usize {
    let mut step = 1;
    while step < ends.len() && ends[step] <= offset {
        step *= 2;
    }
    ends[..ends.len().min(step + 1)].partition_point(|&end| end <= offset)
}
