//! Spans that need no change, found without looking at each line: files that are already right, which
//! are most of a tree, should cost what reading them costs.

/// Bytes that are looked at in one go: little enough to be looked at again if something is found.
pub(super) const SPAN: usize = 4 << 10;

/// Returns how many bytes at the beginning are clean, by spans: 0 if the first one is not.
///
/// `is_open` says of a byte that what follows decides about it: no span ends with one, and every span
/// is judged alone. `is_clean` sees spans that are not empty.
pub(super) fn clean_prefix(
    bytes: &[u8],
    is_open: impl Fn(u8) -> bool,
    is_clean: impl Fn(&[u8]) -> bool,
) -> usize {
    let mut end = 0;
    loop {
        let mut span = &bytes[end..bytes.len().min(end + SPAN)];
        while let [before @ .., last] = span
            && is_open(*last)
        {
            span = before;
        }
        if span.is_empty() || !is_clean(span) {
            return end;
        }
        end += span.len();
    }
}

/// Returns whether something holds anywhere of three bytes side by side. All of them are looked at:
/// the compiler makes vector instructions of that, which is faster than to stop at the first.
pub(super) fn any_of_three(bytes: &[u8], holds: impl Fn(u8, u8, u8) -> bool) -> bool {
    let (Some(second), Some(third)) = (bytes.get(1..), bytes.get(2..)) else { return false };
    let mut found = false;
    for ((&a, &b), &c) in bytes.iter().zip(second).zip(third) {
        found |= holds(a, b, c);
    }
    found
}
