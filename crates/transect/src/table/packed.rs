//! Numbers in few bits: what entries near each other have is mostly similar.
//!
//! Each group of 64 numbers has its least one and a step that all differences to it are multiples of, as allocated sizes are
//! multiples of a block. So a number is `least + step * n`, and `n` has as many bits as the largest one in the group needs.

/// The numbers in a group.
const GROUP: usize = 64;

/// The most bits that a number can have: with those of the byte that it begins in, it has to fit into a word. Longer ones
/// have 64, and begin with a byte.
const MAX_BITS: u32 = u64::BITS - 7;

/// Numbers that do not change.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    groups: Vec<Group>,
    /// The bits of all groups, and a word behind them, so that each number can be read as part of a word.
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    least: u64,
    step: u32,
    /// Where its bits begin in `bytes`, and how many a number has.
    begin_and_bits: u32,
}

impl Packed {
    /// Packs the numbers of a chunk.
    pub(super) fn new(numbers: impl ExactSizeIterator<Item = u64>) -> Self {
        let mut groups = Vec::with_capacity(numbers.len().div_ceil(GROUP));
        let (mut bytes, mut group) = (Vec::new(), Vec::with_capacity(GROUP));
        let mut numbers = numbers.peekable();
        while numbers.peek().is_some() {
            group.clear();
            group.extend(numbers.by_ref().take(GROUP));
            groups.push(push_group(&mut bytes, &mut group));
        }
        bytes.extend([0; size_of::<u64>()]);
        bytes.shrink_to_fit();
        Self { groups, bytes }
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> u64 {
        let Group { least, step, begin_and_bits } = self.groups[at / GROUP];
        let bits = begin_and_bits % 128;
        let bit = at % GROUP * bits as usize;
        let begin = (begin_and_bits / 128) as usize + bit / 8;
        let word = self.bytes[begin..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let number = (word >> (bit % 8)) & u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0);
        least.wrapping_add(number.wrapping_mul(u64::from(step)))
    }

    /// Returns the number of bytes that it takes.
    pub(super) fn size(&self) -> usize {
        size_of_val(&*self.groups) + self.bytes.len()
    }
}

/// Appends the bits of a group.
fn push_group(bytes: &mut Vec<u8>, numbers: &mut [u64]) -> Group {
    let least = numbers.iter().copied().min().unwrap_or(0);
    let (mut divisor, mut greatest) = (0, 0);
    for number in &mut *numbers {
        *number -= least;
        greatest = greatest.max(*number);
        if divisor != 1 {
            divisor = greatest_common_divisor(divisor, *number);
        }
    }
    let step = u32::try_from(divisor.max(1)).unwrap_or(1);
    let bits = match u64::BITS - (greatest / u64::from(step)).leading_zeros() {
        bits if bits > MAX_BITS => u64::BITS,
        bits => bits,
    };
    let begin = bytes.len();
    let end = begin + (numbers.len() * bits as usize).div_ceil(8);
    bytes.resize(end + size_of::<u64>(), 0);
    for (at, &number) in numbers.iter().enumerate() {
        let number = if step == 1 { number } else { number / u64::from(step) };
        let bit = at * bits as usize;
        if let Some(place) = bytes[begin + bit / 8..].first_chunk_mut() {
            *place = (u64::from_le_bytes(*place) | number << (bit % 8)).to_le_bytes();
        }
    }
    bytes.truncate(end);
    let begin = u32::try_from(begin * 128).expect("BUG: more numbers than a chunk has");
    Group { least, step, begin_and_bits: begin + bits }
}

/// Returns the greatest common divisor; of 0 and a number, the number.
fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::table::row::CHUNK;

    proptest! {
        #[test]
        fn packed_numbers_are_those_given(
            least in any::<u64>(),
            step in prop_oneof![Just(1_u64), Just(512), Just(1_000_000_000), any::<u64>()],
            steps in prop::collection::vec(
                prop_oneof![Just(0), 0..9_u64, 0..1_u64 << 33, any::<u64>()],
                0..300,
            ),
        ) {
            let number = |&steps: &u64| least.wrapping_add(step.wrapping_mul(steps));
            let numbers: Vec<u64> = steps.iter().map(number).collect();
            let packed = Packed::new(numbers.iter().copied());
            let got: Vec<u64> = (0..numbers.len()).map(|at| packed.get(at)).collect();
            prop_assert_eq!(got, numbers);
        }
    }

    #[test]
    fn packed_numbers_take_the_bits_of_their_range() {
        let size =
            |number: fn(u64) -> u64| Packed::new((0..640_u32).map(|at| number(at.into()))).size();
        let equal = size(|_| u64::MAX);
        assert_eq!(equal, 10 * size_of::<Group>() + 8);
        // Each a multiple of 512 below that of 16, behind a large number.
        assert_eq!(size(|at| (7 << 50) + at % 16 * 512), equal + 640 * 4 / 8);
        assert_eq!(size(|at| at % 2 * u64::MAX), equal + 640 * 8);
    }

    #[test]
    fn packed_chunk_of_the_longest_numbers_has_room() {
        let number = |at: usize| if at.is_multiple_of(2) { 0 } else { u64::MAX - at as u64 };
        let packed = Packed::new((0..CHUNK).map(number));
        assert_eq!(packed.get(CHUNK - 1), number(CHUNK - 1));
        assert_eq!(packed.get(CHUNK - 2), 0);
    }
}
