//! Chains: several steps run one after the other in one pass.

use std::fmt;
use std::str::FromStr;

use crate::output::OutputBuffer;
use crate::step::{Cost, Finding, InvalidData, Shape, Stage, Step, StepError};
use crate::steps::{self, STEPS, StepInfo};

/// Several steps run one after the other in one pass, written as words: `decode=auto eol=lf
/// blake3`. A chain is itself a step. Each block that a step produces is passed to the next step at
/// once. Nothing is allocated after the first block of each step.
///
/// ```
/// use transect_transform::chain::Chain;
/// use transect_transform::output::OutputBuffer;
/// use transect_transform::step::Step;
///
/// let mut chain = Chain::parse(&["eol=lf", "case=upper", "crc32c"])?;
/// let (mut gathered, mut result) = (Vec::new(), Vec::new());
/// let mut next = |block: &[u8]| {
///     result.extend_from_slice(block);
///     Ok(())
/// };
/// let mut out = OutputBuffer::new(&mut gathered, &mut next);
/// chain.feed(b"one\r\nt", &mut out)?;
/// chain.feed(b"wo\r\n", &mut out)?;
/// chain.finish(&mut out)?;
/// out.flush()?;
/// assert_eq!(result, b"ONE\nTWO\n");
/// assert_eq!(chain.findings().last().unwrap().name, "crc32c");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Chain {
    steps: Vec<ChainedStep>,
    shape: Shape,
}

struct ChainedStep {
    word: String,
    info: &'static StepInfo,
    step: Box<dyn Step>,
    /// Output that was not passed on yet.
    gathered: Vec<u8>,
}

impl Chain {
    /// Parses a chain. Without words, the chain changes nothing.
    ///
    /// # Errors
    /// A word is not a step ([`STEPS`]), or its parameter is invalid.
    pub fn parse<Word: AsRef<str>>(words: &[Word]) -> Result<Self, ParseError> {
        let steps: Result<Vec<_>, _> =
            words.iter().map(|word| ChainedStep::parse(word.as_ref())).collect();
        let steps = steps?;
        let shape = steps
            .iter()
            .map(|entry| entry.step.shape())
            .reduce(Shape::then)
            .unwrap_or(Shape::Reduce);
        Ok(Self { steps, shape })
    }

    /// Returns the words that the chain was parsed from.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().map(|entry| entry.word.as_str())
    }

    /// Returns whether binary files ([`is_binary`](crate::text::is_binary)) should be skipped: a
    /// step is for text, and reads the file itself, not what an earlier step makes of it.
    pub fn is_for_text(&self) -> bool {
        let is_text_made = |entry: &ChainedStep| {
            entry.word.starts_with("decode=utf-16")
                || !entry.info.text && entry.step.shape() == Shape::Resizing
        };
        let as_it_is = self.steps.iter().take_while(|entry| !is_text_made(entry));
        as_it_is.into_iter().any(|entry| entry.info.text)
    }

    /// Returns another chain of the same steps in their initial state, for another thread. On one
    /// thread, [`Step::reset`] is cheaper.
    #[must_use]
    pub fn clone_reset(&self) -> Self {
        Self { steps: self.steps.iter().map(ChainedStep::clone_reset).collect(), shape: self.shape }
    }
}

impl ChainedStep {
    fn parse(word: &str) -> Result<Self, ParseError> {
        let (name, parameter) = match word.split_once('=') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (word, None),
        };
        let Some(info) = STEPS.iter().find(|info| info.name == name) else {
            let names = STEPS.iter().map(|info| info.name);
            let nearest = transect_text::nearest::nearest(name, names);
            return Err(ParseError::Unknown { name: name.to_owned(), nearest });
        };
        let step = (info.make)(parameter).map_err(|reason| ParseError::Parameter {
            word: word.to_owned(),
            info,
            reason,
        })?;
        Ok(Self { word: word.to_owned(), info, step, gathered: Vec::new() })
    }

    /// Returns the same step in its initial state.
    fn clone_reset(&self) -> Self {
        Self::parse(&self.word).expect("BUG: this word has been parsed before")
    }

    fn is_reduce(&self) -> bool {
        self.step.shape() == Shape::Reduce
    }

    /// Calls a step that produces no result.
    fn inspect(
        &mut self,
        call: impl FnOnce(&mut dyn Step, &mut OutputBuffer<'_>) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        let mut nothing = Vec::new();
        let mut next = |_: &[u8]| unreachable!("BUG: a step that only looks made something");
        let outcome = call(self.step.as_mut(), &mut OutputBuffer::new(&mut nothing, &mut next));
        debug_assert!(nothing.is_empty(), "a step that only looks made something");
        outcome.map_err(|error| with_step_name(&self.word, error))
    }

    /// Feeds a block to a step that produces no result, where only the step itself can fail.
    fn inspect_or_refuse(&mut self, block: &[u8]) -> Result<(), InvalidData> {
        self.inspect(|step, out| step.feed(block, out)).map_err(|error| match error {
            StepError::Invalid(error) => error,
            StepError::Closed => {
                unreachable!("BUG: a step without output reported that its output was closed")
            }
        })
    }
}

/// Adds the name of a step to an error, unless it already has one.
fn with_step_name(word: &str, mut error: StepError) -> StepError {
    if let StepError::Invalid(error) = &mut error
        && error.step.is_empty()
    {
        word.clone_into(&mut error.step);
    }
    error
}

/// Feeds bytes through all steps, and the result into `out`.
fn feed(
    steps: &mut [ChainedStep],
    input: &[u8],
    out: &mut OutputBuffer<'_>,
) -> Result<(), StepError> {
    let Some((first, rest)) = steps.split_first_mut() else { return out.put(input) };
    if first.is_reduce() {
        first.inspect(|step, out| step.feed(input, out))?;
        return feed(rest, input, out);
    }
    feed_rest(first, rest, out, |step, out| step.feed(input, out))
}

/// Ends all steps in order. What each still writes passes through the later ones.
fn finish(steps: &mut [ChainedStep], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
    let Some((first, rest)) = steps.split_first_mut() else { return Ok(()) };
    if first.is_reduce() {
        first.inspect(|step, out| step.finish(out))?;
    } else {
        feed_rest(first, rest, out, |step, out| step.finish(out))?;
    }
    finish(rest, out)
}

/// Calls the first step, and feeds all its output through the others. Output must not wait for the
/// next block: it could no longer be compared with its input, and a reader at the other end of a
/// pipe would wait, too.
fn feed_rest(
    first: &mut ChainedStep,
    rest: &mut [ChainedStep],
    out: &mut OutputBuffer<'_>,
    call: impl FnOnce(&mut dyn Step, &mut OutputBuffer<'_>) -> Result<(), StepError>,
) -> Result<(), StepError> {
    let ChainedStep { word, step, gathered, .. } = first;
    if rest.is_empty() {
        return call(step.as_mut(), out).map_err(|error| with_step_name(word, error));
    }
    let mut next = |block: &[u8]| feed(rest, block, out);
    let mut between = OutputBuffer::new(gathered, &mut next);
    let outcome = call(step.as_mut(), &mut between);
    between
        .flush_before_error(outcome)
        .and_then(|()| between.flush())
        .map_err(|error| with_step_name(word, error))
}

impl Step for Chain {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn cost(&self) -> Cost {
        self.steps.iter().map(|entry| entry.step.cost()).max().unwrap_or_default()
    }

    fn use_threads(
        &mut self,
        size: u64,
        another: &mut dyn FnMut() -> bool,
    ) -> Result<(), InvalidData> {
        self.steps.iter_mut().try_for_each(|entry| {
            entry.step.use_threads(size, another).map_err(|mut error| {
                entry.word.clone_into(&mut error.step);
                error
            })
        })
    }

    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        match self.shape {
            // Nothing is changed, so the caller already has the bytes.
            Shape::Reduce => Ok(self.accept_unchanged(input)?),
            _ => feed(&mut self.steps, input, out),
        }
    }

    fn finish(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        finish(&mut self.steps, out)
    }

    fn change(&mut self, block: &mut [u8]) -> Result<(), InvalidData> {
        for entry in &mut self.steps {
            if entry.is_reduce() {
                entry.inspect_or_refuse(block)?;
            } else {
                entry.step.change(block).map_err(|mut error| {
                    entry.word.clone_into(&mut error.step);
                    error
                })?;
            }
        }
        Ok(())
    }

    fn leaves_unchanged(&self, input: &[u8]) -> bool {
        self.steps.iter().all(|entry| entry.is_reduce() || entry.step.leaves_unchanged(input))
    }

    fn accept_unchanged(&mut self, input: &[u8]) -> Result<(), InvalidData> {
        self.steps.iter_mut().try_for_each(|entry| match entry.is_reduce() {
            true => entry.inspect_or_refuse(input),
            false => entry.step.accept_unchanged(input),
        })
    }

    fn blake3_slot(&mut self) -> Option<&mut Option<[u8; 32]>> {
        match self.steps.as_mut_slice() {
            [only] => only.step.blake3_slot(),
            _ => None,
        }
    }

    fn findings(&self) -> Vec<Finding> {
        let changing = self.steps.iter().filter(|entry| !entry.is_reduce()).count();
        let mut changed = 0;
        let mut findings = Vec::new();
        for entry in &self.steps {
            // Findings of a step that changes something describe its input.
            let stage = match changed {
                0 => Stage::Input,
                _ if changed == changing => Stage::Result,
                _ => Stage::Between,
            };
            let step = || entry.word.clone();
            let of_link = entry.step.findings().into_iter();
            findings.extend(of_link.map(|finding| Finding { step: step(), stage, ..finding }));
            changed += usize::from(!entry.is_reduce());
        }
        findings
    }

    fn reset(&mut self) {
        for entry in &mut self.steps {
            entry.step.reset();
            entry.gathered.clear();
        }
    }
}

/// Writes the words in one line that can be parsed again. Whitespace inside a word is written as an
/// escape, which every step that can contain it accepts.
impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, word) in self.words().enumerate() {
            if at > 0 {
                f.write_str(" ")?;
            }
            for character in word.chars() {
                if character.is_ascii_whitespace() {
                    write!(f, "\\x{:02x}", u32::from(character))?;
                } else {
                    write!(f, "{character}")?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.words()).finish()
    }
}

/// Parses words separated by whitespace.
impl FromStr for Chain {
    type Err = ParseError;

    fn from_str(line: &str) -> Result<Self, ParseError> {
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        Self::parse(&words)
    }
}

/// Why words are not a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseError {
    /// No step has this name.
    Unknown {
        /// The name as typed.
        name: String,
        /// The most similar name of a step.
        nearest: Option<&'static str>,
    },
    /// The parameter is invalid or missing.
    Parameter {
        /// The word as typed.
        word: String,
        /// The step.
        info: &'static StepInfo,
        /// What is wrong.
        reason: String,
    },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, nearest } => {
                write!(f, "unknown step '{name}'")?;
                if let Some(nearest) = nearest {
                    write!(f, " (did you mean '{nearest}'?)")?;
                }
                write!(f, "; the steps are {}", steps::names())
            }
            Self::Parameter { word, info, reason } => {
                write!(f, "'{word}': {reason}; the step is {}", info.syntax())
            }
        }
    }
}

impl std::error::Error for ParseError {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::{StepTester, any_bytes, cuts, made_of};

    #[test]
    fn chain_cost_is_highest_of_its_steps() {
        for (line, cost) in [
            ("", Cost::Light),
            ("eol=lf trim blake3", Cost::Light),
            ("zstd=1", Cost::Heavy),
            ("eol=lf gzip crc32c", Cost::Heavy),
            ("gunzip eol=lf", Cost::Heavy),
            ("unzstd", Cost::Heavy),
        ] {
            assert_eq!(line.parse::<Chain>().unwrap().cost(), cost, "{line}");
        }
    }

    const PIECES: &[&[u8]] = &[b" ", b"\t", b"\r\n", b"\n", b"a", b"\xc3\xa9", b"\xef\xbb\xbf"];

    fn error(words: &[&str]) -> String {
        Chain::parse(words).unwrap_err().to_string()
    }

    #[test]
    fn finding_stage_follows_position_in_chain() {
        let outcome =
            StepTester::parse("crc32c trim blake3 case=upper xxh3").run(b"a \n", &[2]).unwrap();
        let stages = |finding: &Finding| (finding.name, finding.stage);
        assert_eq!(
            outcome.findings.iter().map(stages).collect::<Vec<_>>(),
            [
                ("crc32c", Stage::Input),
                ("trimmed", Stage::Input),
                ("blake3", Stage::Between),
                ("xxh3", Stage::Result),
            ]
        );
    }

    #[test]
    fn chain_is_for_text_if_a_text_step_reads_the_file() {
        for (line, text) in [
            ("", false),
            ("blake3 zstd", false),
            ("blake3 eol=lf", true),
            ("decode=auto eol=lf", true),
            ("decode=utf-16le eol=lf", false),
            ("gunzip eol=lf", false),
            ("eol=lf gzip", true),
            ("replace=a/b", true),
        ] {
            assert_eq!(line.parse::<Chain>().unwrap().is_for_text(), text, "{line}");
        }
    }

    #[test]
    fn chain_unknown_step_error_suggests_nearest() {
        assert_eq!(
            error(&["trim", "elo=lf"]),
            "unknown step 'elo' (did you mean 'eol'?); the steps are blake3, sha256, xxh3, crc32c, case, \
             decode, encode, bom, eol, trim, final-newline, replace, zstd, unzstd, gzip, gunzip"
        );
        assert!(error(&["frobnicate"]).starts_with("unknown step 'frobnicate'; the steps are "));
        assert!(error(&[""]).starts_with("unknown step ''; the steps are "));
    }

    #[test]
    fn chain_invalid_parameter_error_shows_syntax() {
        for (word, expected) in [
            ("eol", "'eol': neither lf nor crlf nor report; the step is eol=lf|crlf|report"),
            ("trim=2", "'trim=2': it has no parameter; the step is trim"),
            ("zstd=99", "'zstd=99': not a level from 1 to 22; the step is zstd[=LEVEL]"),
            ("replace=/a", "'replace=/a': OLD is empty; the step is replace=OLD/NEW"),
        ] {
            assert_eq!(error(&[word]), expected);
        }
    }

    #[test]
    fn steps_all_listed_can_be_created() {
        let parameters = [
            ("case", "upper"),
            ("decode", "auto"),
            ("encode", "utf-16le,bom"),
            ("bom", "add"),
            ("eol", "lf"),
            ("replace", "a/b"),
        ];
        for (at, info) in STEPS.iter().enumerate() {
            let parameter = parameters.iter().find(|(name, _)| *name == info.name);
            let word = match parameter {
                Some((name, parameter)) => format!("{name}={parameter}"),
                None => info.name.to_owned(),
            };
            let chain: Chain = word.parse().unwrap();
            assert_eq!(chain.shape(), info.shape, "{word}");
            assert_eq!(chain.to_string(), word);
            let first = STEPS.iter().position(|other| other.name == info.name);
            assert_eq!(first, Some(at), "names are unique");
            assert!(info.about.len() < 90 && !info.about.ends_with('.'), "{word}");
        }
    }

    #[test]
    fn chain_shape_combines_its_steps() {
        for (line, shape) in [
            ("", Shape::Reduce),
            ("blake3", Shape::Reduce),
            ("blake3 eol=report", Shape::Reduce),
            ("case=upper case=lower", Shape::SameSize),
            ("case=upper crc32c", Shape::SameSize),
            ("blake3 eol=lf", Shape::Resizing),
        ] {
            assert_eq!(line.parse::<Chain>().unwrap().shape(), shape, "{line}");
        }
    }

    #[test]
    fn findings_in_order_with_words_as_typed() {
        let line = "eol=report decode=auto eol=lf crc32c";
        let outcome = StepTester::parse(line).run(b"123456789", &[2]).unwrap();
        let found: Vec<_> = outcome
            .findings
            .iter()
            .map(|finding| (finding.step.as_str(), finding.name, finding.value.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("eol=report", "lf", "0"),
                ("eol=report", "crlf", "0"),
                ("eol=report", "crcrlf", "0"),
                ("eol=report", "cr", "0"),
                ("eol=report", "mixed", "no"),
                ("decode=auto", "encoding", "utf-8"),
                ("eol=lf", "changed", "0"),
                ("eol=lf", "cr", "0"),
                ("crc32c", "crc32c", "e3069283"),
            ]
        );
    }

    #[test]
    fn chain_digest_covers_input_of_its_step() {
        let line = "crc32c case=upper crc32c case=lower crc32c";
        let outcome = StepTester::parse(line).run(b"aB", &[1]).unwrap();
        let digests: Vec<_> = outcome.findings.iter().map(|found| found.value.clone()).collect();
        let expected = [b"aB", b"AB", b"ab"].map(|text| format!("{:08x}", crc32c::crc32c(text)));
        assert_eq!(digests, expected);
        assert_eq!(outcome.result, b"ab");
        let mut chain: Chain = "case=upper crc32c".parse().unwrap();
        let mut block = *b"aB";
        chain.change(&mut block).unwrap();
        assert_eq!((&block, &chain.findings()[0].value), (b"AB", &expected[1]));
    }

    #[test]
    fn chain_reports_error_at_earliest_byte() {
        let encoding = b"abc\xe2\x82\xacdef\xff";
        for (sizes, input) in [(&[1][..], &encoding[..]), (&[100], encoding)] {
            let error =
                StepTester::parse("decode=utf-8 encode=latin1").run(input, sizes).unwrap_err();
            assert_eq!(
                error.to_string(),
                "encode=latin1: U+20AC, which latin1 does not have, at byte 3"
            );
        }
        // The other way round, the first step fails before the second has any input to fail on.
        let error = StepTester::parse("decode=utf-8 gunzip").run(b"\xff", &[1]).unwrap_err();
        assert_eq!(error.step, "decode=utf-8");
    }

    #[test]
    fn chain_closed_output_stops_all_steps() {
        let mut chain: Chain = "eol=crlf trim case=upper blake3 zstd".parse().unwrap();
        let (mut gathered, mut calls) = (Vec::new(), 0);
        let mut next = |_: &[u8]| {
            calls += 1;
            Err(StepError::Closed)
        };
        let mut out = OutputBuffer::new(&mut gathered, &mut next);
        chain.feed(b"text", &mut out).unwrap();
        chain.finish(&mut out).unwrap();
        assert_eq!(out.flush(), Err(StepError::Closed));
        assert_eq!(calls, 1);
    }

    #[test]
    fn chain_clone_reset_has_initial_state() {
        let mut chain: Chain = "crc32c".parse().unwrap();
        chain.change(&mut b"123456789".to_vec()).unwrap();
        assert_eq!(chain.findings()[0].value, "e3069283");
        assert_eq!(chain.clone_reset().findings()[0].value, "00000000");
        chain.reset();
        assert_eq!(chain.findings()[0].value, "00000000");
    }

    #[test]
    fn chain_display_parses_to_same_chain() {
        let words = ["replace=a b/\t", r"replace=\\ /\n", "trim"];
        let chain = Chain::parse(&words).unwrap();
        assert!(chain.words().eq(words));
        let line = chain.to_string();
        assert_eq!(line, r"replace=a\x20b/\x09 replace=\\\x20/\n trim");
        let again: Chain = line.parse().unwrap();
        assert_eq!(again.to_string(), line);
        let mut trials = [StepTester::parse(&line), StepTester::parse(&again.to_string())];
        let results = trials.each_mut().map(|trial| trial.result(b"a b\t \\ x  ", &[1]));
        assert_eq!(results[0], results[1]);
    }

    proptest! {
        #[test]
        fn chain_equals_steps_run_in_sequence(
            input in made_of(PIECES),
            sizes in cuts(),
        ) {
            let words = [
                "decode=auto",
                "eol=crlf",
                "trim",
                "replace=a/bcd",
                "final-newline",
                "case=upper",
                "encode=utf-16be",
            ];
            let mut expected = input.clone();
            for word in words {
                expected = StepTester::parse(word).result(&expected, &sizes);
            }
            let line = words.join(" sha256 ");
            let outcome = StepTester::parse(&line).run(&input, &sizes).unwrap();
            prop_assert_eq!(outcome.result, expected);
        }

        #[test]
        fn chain_change_in_place_equals_feed(input in any_bytes(), sizes in cuts()) {
            let line = "case=upper crc32c case=lower xxh3";
            let outcome = StepTester::parse(line).run(&input, &sizes).unwrap();
            let mut chain: Chain = line.parse().unwrap();
            let mut changed = input;
            changed.chunks_mut(7).for_each(|block| chain.change(block).unwrap());
            prop_assert_eq!(changed, outcome.result);
            prop_assert_eq!(chain.findings(), outcome.findings);
        }
    }
}
