//! Input that a step keeps until the next block arrives.

/// Moves bytes from the beginning of the input to `kept`, until that has `most` bytes. Returns the
/// rest of the input.
pub(super) fn carry_over<'a>(kept: &mut Vec<u8>, most: usize, input: &'a [u8]) -> &'a [u8] {
    let (first, rest) = input.split_at(input.len().min(most.saturating_sub(kept.len())));
    kept.extend_from_slice(first);
    rest
}
