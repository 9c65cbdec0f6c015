//! Several steps, one after the other in one pass.

use std::fmt;
use std::str::FromStr;

use crate::out::Out;
use crate::step::{Finding, Refusal, Shape, Step, Stop};
use crate::steps::{self, Described, STEPS};

mod nearest;

/// Several steps, one after the other in one pass, written as words: `decode=auto eol=lf blake3`.
/// A chain is itself a step. What a step makes goes on to the next as soon as it is a block; nothing
/// is allocated once each of them has been one.
///
/// ```
/// use transect_transform::chain::Chain;
/// use transect_transform::out::Out;
/// use transect_transform::step::Step;
///
/// let mut chain = Chain::parse(&["eol=lf", "case=upper", "crc32c"])?;
/// let (mut gathered, mut result) = (Vec::new(), Vec::new());
/// let mut next = |block: &[u8]| {
///     result.extend_from_slice(block);
///     Ok(())
/// };
/// let mut out = Out::new(&mut gathered, &mut next);
/// chain.feed(b"one\r\nt", &mut out)?;
/// chain.feed(b"wo\r\n", &mut out)?;
/// chain.finish(&mut out)?;
/// out.flush()?;
/// assert_eq!(result, b"ONE\nTWO\n");
/// assert_eq!(chain.findings().last().unwrap().name, "crc32c");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Chain {
    links: Vec<Link>,
    shape: Shape,
}

/// A step in its place in a chain.
struct Link {
    word: String,
    step: Box<dyn Step>,
    /// What it made and did not hand on yet.
    gathered: Vec<u8>,
}

impl Chain {
    /// Returns the chain that words stand for. No words: a chain that leaves everything as it is.
    ///
    /// # Errors
    /// A word is no step ([`STEPS`]), or its parameter is not what the step takes.
    pub fn parse<Word: AsRef<str>>(words: &[Word]) -> Result<Self, ParseError> {
        let links: Result<Vec<_>, _> =
            words.iter().map(|word| Link::parse(word.as_ref())).collect();
        let links = links?;
        let shape =
            links.iter().map(|link| link.step.shape()).reduce(Shape::then).unwrap_or(Shape::Reduce);
        Ok(Self { links, shape })
    }

    /// Returns the words that it was made of.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.links.iter().map(|link| link.word.as_str())
    }

    /// Returns another chain of the same words, at its beginning, for another thread. On one thread
    /// [`Step::reset`] is cheaper.
    #[must_use]
    pub fn fresh(&self) -> Self {
        let words: Vec<_> = self.words().collect();
        Self::parse(&words).expect("BUG: these words have been parsed before")
    }
}

impl Link {
    fn parse(word: &str) -> Result<Self, ParseError> {
        let (name, parameter) = match word.split_once('=') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (word, None),
        };
        let Some(described) = STEPS.iter().find(|described| described.name == name) else {
            let names = STEPS.iter().map(|described| described.name);
            let nearest = nearest::nearest(name, names);
            return Err(ParseError::Unknown { name: name.to_owned(), nearest });
        };
        let step = described.make(parameter).map_err(|reason| ParseError::Parameter {
            word: word.to_owned(),
            described,
            reason,
        })?;
        Ok(Self { word: word.to_owned(), step, gathered: Vec::new() })
    }

    fn is_reduce(&self) -> bool {
        self.step.shape() == Shape::Reduce
    }

    /// Lets a step that only looks have a block.
    fn look(&mut self, block: &[u8]) -> Result<(), Stop> {
        let outcome = with_no_result(|out| self.step.feed(block, out));
        self.named(outcome)
    }

    /// Tells a step that only looks that this was all.
    fn look_no_more(&mut self) -> Result<(), Stop> {
        let outcome = with_no_result(|out| self.step.finish(out));
        self.named(outcome)
    }

    /// Says which step refused, if it was this one.
    fn named(&self, outcome: Result<(), Stop>) -> Result<(), Stop> {
        outcome.map_err(|stop| named(&self.word, stop))
    }
}

/// Says which step refused, unless that is known.
fn named(word: &str, mut stop: Stop) -> Stop {
    if let Stop::Refused(refusal) = &mut stop
        && refusal.step.is_empty()
    {
        word.clone_into(&mut refusal.step);
    }
    stop
}

/// Calls a step that only looks, and so makes nothing.
fn with_no_result(call: impl FnOnce(&mut Out<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
    let mut nothing = Vec::new();
    let mut next = |_: &[u8]| unreachable!("BUG: a step that only looks made something");
    let outcome = call(&mut Out::new(&mut nothing, &mut next));
    debug_assert!(nothing.is_empty(), "a step that only looks made something");
    outcome
}

/// Lets bytes go through all links, and what comes out at the end into `out`.
fn feed(links: &mut [Link], input: &[u8], out: &mut Out<'_>) -> Result<(), Stop> {
    let Some((first, rest)) = links.split_first_mut() else { return out.put(input) };
    if first.is_reduce() {
        first.look(input)?;
        return feed(rest, input, out);
    }
    through(first, rest, out, |step, out| step.feed(input, out))
}

/// Ends all links, the first one first: what it still gives goes through the others.
fn finish(links: &mut [Link], out: &mut Out<'_>) -> Result<(), Stop> {
    let Some((first, rest)) = links.split_first_mut() else { return Ok(()) };
    if first.is_reduce() {
        first.look_no_more()?;
    } else {
        through(first, rest, out, |step, out| {
            step.finish(out)?;
            out.flush()
        })?;
    }
    finish(rest, out)
}

/// Calls the first of some links, and lets what it makes go through the others.
fn through(
    first: &mut Link,
    rest: &mut [Link],
    out: &mut Out<'_>,
    call: impl FnOnce(&mut dyn Step, &mut Out<'_>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let Link { word, step, gathered } = first;
    let mut next = |block: &[u8]| feed(rest, block, out);
    let mut between = Out::new(gathered, &mut next);
    let outcome = call(step.as_mut(), &mut between);
    between.settle(outcome).map_err(|stop| named(word, stop))
}

impl Step for Chain {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn feed(&mut self, input: &[u8], out: &mut Out<'_>) -> Result<(), Stop> {
        match self.shape {
            // Nobody made anything of the bytes: whoever feeds has them already.
            Shape::Reduce => self.links.iter_mut().try_for_each(|link| link.look(input)),
            _ => feed(&mut self.links, input, out),
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) -> Result<(), Stop> {
        finish(&mut self.links, out)
    }

    fn change(&mut self, block: &mut [u8]) -> Result<(), Refusal> {
        for link in &mut self.links {
            if link.is_reduce() {
                match link.look(block) {
                    Ok(()) => {}
                    Err(Stop::Refused(refusal)) => return Err(refusal),
                    Err(Stop::Closed) => unreachable!("BUG: what makes nothing cannot be stopped"),
                }
            } else {
                link.step.change(block).map_err(|mut refusal| {
                    link.word.clone_into(&mut refusal.step);
                    refusal
                })?;
            }
        }
        Ok(())
    }

    fn findings(&self) -> Vec<Finding> {
        let of = |link: &Link| {
            let step = link.word.clone();
            let findings = link.step.findings();
            findings.into_iter().map(move |finding| Finding { step: step.clone(), ..finding })
        };
        self.links.iter().flat_map(of).collect()
    }

    fn reset(&mut self) {
        for link in &mut self.links {
            link.step.reset();
            link.gathered.clear();
        }
    }
}

/// The words, in one line that can be parsed again: blanks inside a word are written as escapes, which
/// every step that can have them understands.
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

/// Words in one line, between blanks.
impl FromStr for Chain {
    type Err = ParseError;

    fn from_str(line: &str) -> Result<Self, ParseError> {
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        Self::parse(&words)
    }
}

/// Why words are no chain.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseError {
    /// There is no step of this name.
    Unknown {
        /// What was typed.
        name: String,
        /// What may have been meant.
        nearest: Option<&'static str>,
    },
    /// The step does not take this parameter, or needs one.
    Parameter {
        /// What was typed.
        word: String,
        /// The step.
        described: &'static Described,
        /// What is wrong.
        reason: String,
    },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, nearest } => {
                write!(f, "no step is called '{name}'")?;
                if let Some(nearest) = nearest {
                    write!(f, ", but '{nearest}' is")?;
                }
                write!(f, "; there are {}", steps::names())
            }
            Self::Parameter { word, described, reason } => {
                write!(f, "'{word}': {reason}; the step is {}", described.syntax())
            }
        }
    }
}

impl std::error::Error for ParseError {}
