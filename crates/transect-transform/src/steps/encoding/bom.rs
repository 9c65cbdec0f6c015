//! The byte order mark of UTF-8.

use super::Encoding;
use crate::output::OutputBuffer;
use crate::step::{Finding, InvalidData, Step, StepError};
use crate::steps::info::StepResult;
use crate::steps::pending::carry_over;

/// Length of the mark.
const MARK: usize = 3;

/// Adds or removes the byte order mark of UTF-8. An empty file stays empty.
struct Bom {
    add: bool,
    /// The first bytes, until there are as many as a mark has.
    beginning: Option<Vec<u8>>,
    changed: bool,
}

pub(in crate::steps) fn bom(parameter: Option<&str>) -> StepResult {
    let add = match parameter {
        Some("add") => true,
        Some("remove") => false,
        _ => return Err("neither add nor remove".to_owned()),
    };
    Ok(Box::new(Bom { add, beginning: Some(Vec::with_capacity(MARK)), changed: false }))
}

impl Bom {
    fn begin(&mut self, beginning: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let mark = Encoding::Utf8.mark().unwrap_or_default();
        let (put, rest) = match Encoding::from_mark(beginning) {
            Some(Encoding::Utf8) if self.add => (&b""[..], beginning),
            Some(Encoding::Utf8) => (&b""[..], &beginning[mark.len()..]),
            Some(other) => {
                let reason = format!("the byte order mark of {}, not of utf-8,", other.name());
                return Err(InvalidData::at(0, reason).into());
            }
            None if self.add => (mark, beginning),
            None => (&b""[..], beginning),
        };
        self.changed = !put.is_empty() || rest.len() < beginning.len();
        out.put(put)?;
        out.put(rest)
    }
}

impl Step for Bom {
    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let Some(mut beginning) = self.beginning.take() else { return out.put(input) };
        let rest = carry_over(&mut beginning, MARK, input);
        if beginning.len() < MARK {
            self.beginning = Some(beginning);
            return Ok(());
        }
        self.begin(&beginning, out)?;
        out.put(rest)
    }

    fn finish(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        match self.beginning.take() {
            Some(beginning) if !beginning.is_empty() => self.begin(&beginning, out),
            _ => Ok(()),
        }
    }

    fn findings(&self) -> Vec<Finding> {
        vec![Finding::new("changed", u8::from(self.changed))]
    }

    fn reset(&mut self) {
        self.beginning = Some(Vec::with_capacity(MARK));
        self.changed = false;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::{StepTester, cuts, made_of};

    const BOM: &[u8] = b"\xef\xbb\xbf";

    #[test]
    fn bom_added_or_removed_once() {
        for (input, added, removed) in [
            (&b""[..], &b""[..], &b""[..]),
            (b"a", b"\xef\xbb\xbfa", b"a"),
            (b"\xef\xbb", b"\xef\xbb\xbf\xef\xbb", b"\xef\xbb"),
            (BOM, BOM, b""),
            (b"\xef\xbb\xbf\xef\xbb\xbfa", b"\xef\xbb\xbf\xef\xbb\xbfa", b"\xef\xbb\xbfa"),
        ] {
            for (line, expected) in [("bom=add", added), ("bom=remove", removed)] {
                let outcome = StepTester::parse(line).run(input, &[1]).unwrap();
                assert_eq!(outcome.result, expected, "{line} {input:?}");
                assert_eq!(outcome.count("changed"), u64::from(expected != input));
            }
        }
        for parameter in [None, Some(""), Some("yes")] {
            assert!(bom(parameter).is_err(), "{parameter:?}");
        }
    }

    #[test]
    fn bom_of_other_encoding_rejected() {
        for line in ["bom=add", "bom=remove"] {
            let error = StepTester::parse(line).run(b"\xff\xfea\0", &[1]).unwrap_err();
            let reason = "the byte order mark of utf-16le, not of utf-8, at byte 0";
            assert_eq!(error.to_string(), format!("{line}: {reason}"));
        }
    }

    proptest! {
        #[test]
        fn bom_add_remove_round_trip(input in made_of(&[b"\xef", b"\xbb", b"\xbf", b"a"]), sizes in cuts()) {
            let both = StepTester::parse("bom=add bom=remove").result(&input, &sizes);
            prop_assert_eq!(&both, input.strip_prefix(BOM).unwrap_or(&input));
        }
    }
}
