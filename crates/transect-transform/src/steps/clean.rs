//! Finds spans that need no change without examining each line. Most files of a tree are already
//! right, and should cost no more than reading them.

/// Bytes to check at once: few enough to process again if a change is needed.
pub(super) const SPAN: usize = 4 << 10;

/// Returns how many bytes at the beginning are clean, in whole spans: 0 if the first is not.
///
/// `is_open` returns whether the meaning of a byte depends on what follows. No span ends with such
/// a byte, so each span is checked independently. `is_clean` gets non-empty spans.
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

/// Returns whether `holds` is true for any three adjacent bytes. Checks all of them: the compiler
/// vectorises that, which is faster than stopping at the first.
pub(super) fn any_of_three(bytes: &[u8], holds: impl Fn(u8, u8, u8) -> bool) -> bool {
    let (Some(second), Some(third)) = (bytes.get(1..), bytes.get(2..)) else { return false };
    let mut found = false;
    for ((&a, &b), &c) in bytes.iter().zip(second).zip(third) {
        found |= holds(a, b, c);
    }
    found
}
