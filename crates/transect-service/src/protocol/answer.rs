//! Answers: a byte that says how it went, and what belongs to it.

use transect::{Attributes, FaultKind};
use transect_cache::{LookupError, LookupResult};

use super::{Bytes, Layout, Malformed};

const FOUND: u8 = 0;
/// There is no such name (`ENOENT`).
const MISSING: u8 = 1;
/// The way there is closed (`EACCES`).
const DENIED: u8 = 2;
/// The system says something else: its number follows.
const REFUSED: u8 = 3;
/// No system takes such a path: there is a NUL in it.
const INVALID: u8 = 4;
/// The service does not answer for such paths.
const OUTSIDE: u8 = 5;
/// The path does not begin with `/`.
const RELATIVE: u8 = 6;
/// It failed, and the system has no number for it.
const FAILED: u8 = 7;

const ENOENT: i32 = 2;
const EACCES: i32 = 13;

/// Which of some directories holds a name, and the attributes of what is there.
#[derive(Clone, Copy, Debug)]
pub struct Holder {
    /// The directory, counted from 0.
    pub index: u32,
    /// What the name leads to.
    pub attributes: Attributes,
}

/// Appends an answer to a question about attributes.
#[inline]
pub fn append_answer(out: &mut Vec<u8>, layout: Layout, answer: &LookupResult) {
    match answer {
        Ok(attributes) => {
            out.push(FOUND);
            layout.append(attributes, out);
        }
        Err(refusal) => append_refusal(out, *refusal),
    }
}

/// Takes an answer to a question about attributes.
///
/// # Errors
/// It makes no sense; so it is with the two that follow.
#[inline]
pub fn take_answer(from: &mut Bytes<'_>, layout: Layout) -> Result<LookupResult, Malformed> {
    Ok(match from.u8()? {
        FOUND => Ok(layout.take(from)?),
        status => Err(take_refusal(status, from)?),
    })
}

/// Appends an answer to the question whether something is there.
pub fn append_presence(out: &mut Vec<u8>, answer: Result<bool, LookupError>) {
    match answer {
        Ok(true) => out.push(FOUND),
        Ok(false) => out.push(MISSING),
        Err(refusal) => append_refusal(out, refusal),
    }
}

/// Takes an answer to the question whether something is there.
pub fn take_presence(from: &mut Bytes<'_>) -> Result<Result<bool, LookupError>, Malformed> {
    Ok(match from.u8()? {
        FOUND => Ok(true),
        MISSING => Ok(false),
        status => Err(take_refusal(status, from)?),
    })
}

/// Appends an answer to the question where a name is found.
pub fn append_holder(
    out: &mut Vec<u8>,
    layout: Layout,
    answer: Result<Option<Holder>, LookupError>,
) {
    match answer {
        Ok(Some(holder)) => {
            out.push(FOUND);
            out.extend_from_slice(&holder.index.to_le_bytes());
            layout.append(&holder.attributes, out);
        }
        Ok(None) => out.push(MISSING),
        Err(refusal) => append_refusal(out, refusal),
    }
}

/// Takes an answer to the question where a name is found.
pub fn take_holder(
    from: &mut Bytes<'_>,
    layout: Layout,
) -> Result<Result<Option<Holder>, LookupError>, Malformed> {
    Ok(match from.u8()? {
        FOUND => Ok(Some(Holder { index: from.u32()?, attributes: layout.take(from)? })),
        MISSING => Ok(None),
        status => Err(take_refusal(status, from)?),
    })
}

fn append_refusal(out: &mut Vec<u8>, refusal: LookupError) {
    match refusal {
        LookupError::System { os_error: Some(ENOENT), .. } => out.push(MISSING),
        LookupError::System { os_error: Some(EACCES), .. } => out.push(DENIED),
        LookupError::System { os_error: Some(number), .. } => {
            out.push(REFUSED);
            out.extend_from_slice(&number.to_le_bytes());
        }
        LookupError::System { kind: FaultKind::InvalidName, .. } => out.push(INVALID),
        LookupError::OutsideRoots => out.push(OUTSIDE),
        LookupError::NoBase => out.push(RELATIVE),
        _ => out.push(FAILED),
    }
}

fn take_refusal(status: u8, from: &mut Bytes<'_>) -> Result<LookupError, Malformed> {
    let of_system = |number| LookupError::from(std::io::Error::from_raw_os_error(number));
    let without_number = |kind| LookupError::System { kind, os_error: None };
    Ok(match status {
        MISSING => of_system(ENOENT),
        DENIED => of_system(EACCES),
        REFUSED => of_system(from.u32()?.cast_signed()),
        INVALID => without_number(FaultKind::InvalidName),
        OUTSIDE => LookupError::OutsideRoots,
        RELATIVE => LookupError::NoBase,
        FAILED => without_number(FaultKind::Other),
        _ => return Err(Malformed("an answer that nobody knows")),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use transect::FieldMask;

    use super::*;
    use crate::protocol::record::tests::any_attributes;

    fn any_refusal() -> impl Strategy<Value = LookupError> {
        prop_oneof![
            (1..200_i32).prop_map(|number| std::io::Error::from_raw_os_error(number).into()),
            Just(LookupError::OutsideRoots),
            Just(LookupError::NoBase),
            Just(LookupError::System { kind: FaultKind::InvalidName, os_error: None }),
            Just(LookupError::System { kind: FaultKind::Other, os_error: None }),
        ]
    }

    fn any_answer() -> impl Strategy<Value = LookupResult> {
        prop_oneof![any_attributes().prop_map(Ok), any_refusal().prop_map(Err)]
    }

    /// Attributes of which only what is told can be seen.
    fn shown(answer: &LookupResult, layout: Layout) -> String {
        let mut out = Vec::new();
        append_answer(&mut out, layout, answer);
        format!("{out:?} {:?}", answer.as_ref().err())
    }

    proptest! {
        #[test]
        fn answers_come_out_as_they_went_in(
            answers in prop::collection::vec(any_answer(), 0..9),
            want in any::<u16>(),
        ) {
            let layout = Layout::new(FieldMask::from_bits_truncate(want));
            let mut out = Vec::new();
            answers.iter().for_each(|answer| append_answer(&mut out, layout, answer));
            let mut from = Bytes(&out);
            for answer in &answers {
                let got = take_answer(&mut from, layout).unwrap();
                prop_assert_eq!(shown(&got, layout), shown(answer, layout));
            }
            prop_assert!(from.is_empty());
        }

        #[test]
        fn what_is_there_and_where_comes_out_as_it_went_in(
            answer in any_answer(),
            index in any::<u32>(),
        ) {
            let layout = Layout::new(Layout::ALL);
            let missing = answer.is_err_and(|refusal| refusal.kind() == Some(FaultKind::NotFound));
            let presence = if missing { Ok(false) } else { answer.map(|_| true) };
            let mut out = Vec::new();
            append_presence(&mut out, presence);
            prop_assert_eq!(take_presence(&mut Bytes(&out)), Ok(presence));

            let holder = |attributes| Some(Holder { index, attributes });
            let held = if missing { Ok(None) } else { answer.map(holder) };
            out.clear();
            append_holder(&mut out, layout, held);
            let got = take_holder(&mut Bytes(&out), layout).unwrap();
            prop_assert_eq!(format!("{got:?}"), format!("{held:?}"));
        }

        #[test]
        fn no_bytes_make_it_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..100),
            want in any::<u16>(),
        ) {
            let layout = Layout::new(FieldMask::from_bits_truncate(want));
            let mut from = Bytes(&bytes);
            while !from.is_empty() && take_answer(&mut from, layout).is_ok() {}
            let _ = take_presence(&mut Bytes(&bytes));
            let _ = take_holder(&mut Bytes(&bytes), layout);
        }
    }
}
