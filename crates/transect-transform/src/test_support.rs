//! Test support: feeds steps in pieces of any size.

use proptest::prelude::*;

use crate::chain::Chain;
use crate::output::OutputBuffer;
use crate::step::{Finding, InvalidData, Shape, Step, StepError};

/// A chain under test.
pub(crate) struct StepTester(Chain);

/// The outcome for an input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) result: Vec<u8>,
    pub(crate) findings: Vec<Finding>,
}

impl Outcome {
    /// Returns the value of a finding.
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
    /// Parses a chain to test.
    pub(crate) fn parse(line: &str) -> Self {
        Self::new(line.parse().unwrap_or_else(|error| panic!("{error}")))
    }

    /// Returns a tester for a chain.
    pub(crate) fn new(chain: Chain) -> Self {
        Self(chain)
    }

    /// Feeds an input in pieces of these sizes, repeated; then in one piece; and then skipping the
    /// step for pieces that it would leave unchanged. The outcome must be the same.
    pub(crate) fn run(&mut self, input: &[u8], sizes: &[usize]) -> Result<Outcome, InvalidData> {
        let in_pieces = self.feed(input, sizes);
        let at_once = self.feed(input, &[usize::MAX]);
        assert_eq!(in_pieces, at_once, "{:?} cut into {sizes:?}", self.0);
        let kept = self.feed_unless(input, sizes, Chain::leaves_unchanged);
        assert_eq!(in_pieces, kept, "{:?} cut into {sizes:?}, kept where it can be", self.0);
        in_pieces
    }

    /// Returns the result of an input that must be valid.
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
        // Also discards what an error has left behind.
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
            Err(StepError::Closed) => unreachable!("BUG: the output is never closed"),
        }
    }
}

/// Sizes of pieces: small ones, and some empty.
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

/// Arbitrary bytes.
pub(crate) fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..300),
        // Longer than the spans that steps check at once.
        (prop::collection::vec(any::<u8>(), 1..50), 1..400_usize)
            .prop_map(|(bytes, times)| bytes.repeat(times)),
    ]
}

/// A random sequence of pieces that matter to a step, with long spans of other bytes in between.
pub(crate) fn made_of(pieces: &'static [&'static [u8]]) -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        60 => prop::sample::select(pieces).prop_map(<[u8]>::to_vec),
        1 => (0..6000_usize).prop_map(|length| vec![b'x'; length]),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}
