//! Changes ASCII letters to upper or lower case.

use crate::output::OutputBuffer;
use crate::step::{InvalidData, Shape, Step, StepError};
use crate::steps::info::StepResult;

/// Changes each byte independently.
struct Case {
    change: fn(&mut [u8]),
}

pub(super) fn case(parameter: Option<&str>) -> StepResult {
    let change = match parameter {
        Some("upper") => <[u8]>::make_ascii_uppercase,
        Some("lower") => <[u8]>::make_ascii_lowercase,
        _ => return Err("neither upper nor lower".to_owned()),
    };
    Ok(Box::new(Case { change }))
}

impl Step for Case {
    fn shape(&self) -> Shape {
        Shape::SameSize
    }

    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        out.put_changed(input, self.change)
    }

    fn change(&mut self, block: &mut [u8]) -> Result<(), InvalidData> {
        (self.change)(block);
        Ok(())
    }

    fn reset(&mut self) {}
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::{StepTester, any_bytes, cuts};

    #[test]
    fn case_unknown_parameter_rejected() {
        for parameter in [None, Some(""), Some("title")] {
            assert!(case(parameter).is_err(), "{parameter:?}");
        }
    }

    proptest! {
        #[test]
        fn case_equals_standard_library(input in any_bytes(), sizes in cuts()) {
            let upper = StepTester::parse("case=upper").result(&input, &sizes);
            prop_assert_eq!(upper, input.to_ascii_uppercase());
            let lower = StepTester::parse("case=lower").result(&input, &sizes);
            prop_assert_eq!(lower, input.to_ascii_lowercase());
        }
    }
}
