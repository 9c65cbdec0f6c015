//! What the tests of steps share: a step that is fed in pieces.

use proptest::prelude::*;

use crate::chain::Chain;
use crate::output::OutputBuffer;
use crate::step::{Finding, InvalidData, Shape, Step, StepError};

/// A chain under test.
pub(crate) struct StepTester(Chain);

/// What became of an input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) result: Vec<u8>,
    pub(crate) findings: Vec<Finding>,
}

impl Outcome {
    /// Returns what was found out under a name.
    pub(crate) fn finding(&self, name: &str) -> String {
        let finding = self.findings.iter().find(|finding| finding.name == name);
        finding.unwrap_or_else(|| panic!("nothing was found out about {name}")).value.clone()
    }

    /// Returns a count.
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.finding(name).parse().unwrap()
    }
}

impl StepTester {
    /// Returns a trial of the chain that a line of words stands for.
    pub(crate) fn of(line: &str) -> Self {
        Self::with(line.parse().unwrap_or_else(|error| panic!("{error}")))
    }

    /// Returns a trial of a chain.
    pub(crate) fn with(chain: Chain) -> Self {
        Self(chain)
    }

    /// Feeds an input in pieces of these sizes, again and again, then once more in one piece, and once
    /// past the step where it would keep a piece as it is: the outcome must be the same.
    pub(crate) fn run(&mut self, input: &[u8], sizes: &[usize]) -> Result<Outcome, InvalidData> {
        let in_pieces = self.feed(input, sizes);
        let at_once = self.feed(input, &[usize::MAX]);
        assert_eq!(in_pieces, at_once, "{:?} cut into {sizes:?}", self.0);
        let kept = self.feed_unless(input, sizes, Chain::leaves_unchanged);
        assert_eq!(in_pieces, kept, "{:?} cut into {sizes:?}, kept where it can be", self.0);
        in_pieces
    }

    /// As [`StepTester::run`], for what must not be refused.
    pub(crate) fn result(&mut self, input: &[u8], sizes: &[usize]) -> Vec<u8> {
        self.run(input, sizes).unwrap_or_else(|error| panic!("{error}")).result
    }

    /// Feeds an input in pieces of these sizes, once.
    pub(crate) fn feed(&mut self, input: &[u8], sizes: &[usize]) -> Result<Outcome, InvalidData> {
        self.feed_unless(input, sizes, |_, _| false)
    }

    fn feed_unless(
        &mut self,
        input: &[u8],
        sizes: &[usize],
        keeps: fn(&Chain, &[u8]) -> bool,
    ) -> Result<Outcome, InvalidData> {
        // Also what a refusal has left behind must be gone.
        self.0.reset();
        let (mut gathered, mut result) = (Vec::new(), Vec::new());
        let mut next = |block: &[u8]| {
            assert!(!block.is_empty());
            result.extend_from_slice(block);
            Ok(())
        };
        let mut out = OutputBuffer::new(&mut gathered, &mut next);
        let mut feed_all = || {
            let (mut rest, mut sizes) = (input, sizes.iter().cycle());
            while !rest.is_empty() {
                let size = sizes.next().expect("at least one size");
                let (block, after) = rest.split_at(rest.len().min(*size));
                if keeps(&self.0, block) {
                    self.0.accept_unchanged(block)?;
                    if self.0.shape() != Shape::Reduce {
                        out.put(block)?;
                    }
                } else {
                    self.0.feed(block, &mut out)?;
                }
                rest = after;
            }
            self.0.finish(&mut out)?;
            out.flush()
        };
        match feed_all() {
            Ok(()) => Ok(Outcome { result, findings: self.0.findings() }),
            Err(StepError::Invalid(error)) => Err(error),
            Err(StepError::Closed) => unreachable!("BUG: nobody closed"),
        }
    }
}

/// Sizes of pieces, none of them large and some of them empty.
pub(crate) fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![
        Just(vec![1]),
        Just(vec![0, 1]),
        (prop::collection::vec(0..9_usize, 0..6), 1..9_usize).prop_map(|(mut sizes, last)| {
            sizes.push(last);
            sizes
        }),
        prop::collection::vec(1..5000_usize, 1..4),
    ]
}

/// Bytes of any kind.
pub(crate) fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..300),
        // Longer than what steps look at in one go.
        (prop::collection::vec(any::<u8>(), 1..50), 1..400_usize)
            .prop_map(|(bytes, times)| bytes.repeat(times)),
    ]
}

/// Bytes of pieces that a step cares for, one after the other, with long spans of what it does not
/// care for here and there.
pub(crate) fn made_of(pieces: &'static [&'static [u8]]) -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        60 => prop::sample::select(pieces).prop_map(<[u8]>::to_vec),
        1 => (0..6000_usize).prop_map(|length| vec![b'x'; length]),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}
