//! Answers: a status byte, and its data.

use transect::{Attributes, FaultKind};
use transect_cache::{LookupError, LookupResult};

use super::{ByteReader, ProtocolError, WireLayout};

const FOUND: u8 = 0;
/// The name does not exist (`ENOENT`, `ERROR_FILE_NOT_FOUND`).
const MISSING: u8 = 1;
/// Access is denied (`EACCES`, `ERROR_ACCESS_DENIED`).
const DENIED: u8 = 2;
/// Another error of the system: its number follows.
const REFUSED: u8 = 3;
/// The path contains a NUL.
const INVALID: u8 = 4;
/// The path is outside the roots of the service.
const OUTSIDE: u8 = 5;
/// The path is relative.
const RELATIVE: u8 = 6;
/// An error without a number.
const FAILED: u8 = 7;

/// The system's numbers of these two errors.
const ENOENT: i32 = 2;
const EACCES: i32 = if cfg!(windows) { 5 } else { 13 };

/// The directory that contains a name, and the attributes found there.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ResolvedName {
    /// The directory, counted from 0.
    pub index: u32,
    /// The attributes of the name, links followed.
    pub attributes: Attributes,
}

/// Appends an answer about attributes.
#[inline]
pub fn append_attributes(out: &mut Vec<u8>, layout: WireLayout, answer: &LookupResult) {
    match answer {
        Ok(attributes) => {
            out.push(FOUND);
            layout.append(attributes, out);
        }
        Err(error) => append_error(out, *error),
    }
}

/// Parses an answer about attributes.
///
/// # Errors
/// It is malformed; the same holds for the functions that follow.
#[inline]
pub fn take_attributes(
    from: &mut ByteReader<'_>,
    layout: WireLayout,
) -> Result<LookupResult, ProtocolError> {
    Ok(match from.u8()? {
        FOUND => Ok(layout.take(from)?),
        status => Err(take_error(status, from)?),
    })
}

/// Appends an answer about existence.
pub fn append_exists(out: &mut Vec<u8>, answer: Result<bool, LookupError>) {
    match answer {
        Ok(true) => out.push(FOUND),
        Ok(false) => out.push(MISSING),
        Err(error) => append_error(out, error),
    }
}

/// Parses an answer about existence.
pub fn take_exists(from: &mut ByteReader<'_>) -> Result<Result<bool, LookupError>, ProtocolError> {
    Ok(match from.u8()? {
        FOUND => Ok(true),
        MISSING => Ok(false),
        status => Err(take_error(status, from)?),
    })
}

/// Appends an answer about a name in directories.
pub fn append_resolved(
    out: &mut Vec<u8>,
    layout: WireLayout,
    answer: Result<Option<ResolvedName>, LookupError>,
) {
    match answer {
        Ok(Some(holder)) => {
            out.push(FOUND);
            out.extend_from_slice(&holder.index.to_le_bytes());
            layout.append(&holder.attributes, out);
        }
        Ok(None) => out.push(MISSING),
        Err(error) => append_error(out, error),
    }
}

/// Parses an answer about a name in directories.
pub fn take_resolved(
    from: &mut ByteReader<'_>,
    layout: WireLayout,
) -> Result<Result<Option<ResolvedName>, LookupError>, ProtocolError> {
    Ok(match from.u8()? {
        FOUND => Ok(Some(ResolvedName { index: from.u32()?, attributes: layout.take(from)? })),
        MISSING => Ok(None),
        status => Err(take_error(status, from)?),
    })
}

fn append_error(out: &mut Vec<u8>, error: LookupError) {
    match error {
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

fn take_error(status: u8, from: &mut ByteReader<'_>) -> Result<LookupError, ProtocolError> {
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
        _ => return Err(ProtocolError("an unknown answer")),
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

    /// Returns the bytes of an answer, and its error.
    fn shown(answer: &LookupResult, layout: WireLayout) -> String {
        let mut out = Vec::new();
        append_attributes(&mut out, layout, answer);
        format!("{out:?} {:?}", answer.as_ref().err())
    }

    proptest! {
        #[test]
        fn answer_round_trip(
            answers in prop::collection::vec(any_answer(), 0..9),
            want in any::<u16>(),
        ) {
            let layout = WireLayout::new(FieldMask::from_bits_truncate(want));
            let mut out = Vec::new();
            answers.iter().for_each(|answer| append_attributes(&mut out, layout, answer));
            let mut from = ByteReader(&out);
            for answer in &answers {
                let got = take_attributes(&mut from, layout).unwrap();
                prop_assert_eq!(shown(&got, layout), shown(answer, layout));
            }
            prop_assert!(from.is_empty());
        }

        #[test]
        fn exists_and_resolve_answers_round_trip(
            answer in any_answer(),
            index in any::<u32>(),
        ) {
            let layout = WireLayout::new(WireLayout::ALL);
            let missing = answer.is_err_and(|error| error.kind() == Some(FaultKind::NotFound));
            let presence = if missing { Ok(false) } else { answer.map(|_| true) };
            let mut out = Vec::new();
            append_exists(&mut out, presence);
            prop_assert_eq!(take_exists(&mut ByteReader(&out)), Ok(presence));

            let holder = |attributes| Some(ResolvedName { index, attributes });
            let held = if missing { Ok(None) } else { answer.map(holder) };
            out.clear();
            append_resolved(&mut out, layout, held);
            let got = take_resolved(&mut ByteReader(&out), layout).unwrap();
            prop_assert_eq!(format!("{got:?}"), format!("{held:?}"));
        }

        #[test]
        fn parser_random_bytes_no_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..100),
            want in any::<u16>(),
        ) {
            let layout = WireLayout::new(FieldMask::from_bits_truncate(want));
            let mut from = ByteReader(&bytes);
            while !from.is_empty() && take_attributes(&mut from, layout).is_ok() {}
            let _ = take_exists(&mut ByteReader(&bytes));
            let _ = take_resolved(&mut ByteReader(&bytes), layout);
        }
    }
}
