//! Patches on the command line: `OFFSET:OLD:NEW`.

use super::changes::{Change, Changes};
use crate::step::InvalidData;
use crate::steps::hex;

/// Parses words into changes.
pub(super) fn parse<'a>(words: impl Iterator<Item = &'a str>) -> Result<Changes, InvalidData> {
    let about = |word: &str, reason: String| InvalidData {
        step: word.to_owned(),
        ..InvalidData::new(reason)
    };
    let change = |word| change(word).map_err(|reason| about(word, reason));
    let mut list = words.map(change).collect::<Result<Vec<_>, _>>()?;
    list.sort_by_key(|change| change.offset);
    if let Some(both) = list.windows(2).find(|both| both[0].end() > both[1].offset) {
        let reason = format!("byte {} is changed twice", both[1].offset);
        return Err(InvalidData::new(reason));
    }
    Ok(Changes { list, ..Changes::default() })
}

fn change(word: &str) -> Result<Change, String> {
    let mut parts = word.split(':');
    let (Some(offset), Some(old), Some(new), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err("not of the form OFFSET:OLD:NEW".to_owned());
    };
    let offset = number(offset).ok_or("the offset is neither decimal nor 0x and hexadecimal")?;
    let old = bytes(old).ok_or("the old bytes are not pairs of hexadecimal digits")?;
    let new = bytes(new).ok_or("the new bytes are not pairs of hexadecimal digits")?;
    if old.len() != new.len() {
        return Err(format!("{} old bytes cannot become {}", old.len(), new.len()));
    }
    if offset.checked_add(new.len() as u64).is_none() {
        return Err("no file is so long".to_owned());
    }
    Ok(Change { offset, old: Some(old), new })
}

fn number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    // The parser would also accept a sign.
    let plain = digits.bytes().all(|digit| digit.is_ascii_alphanumeric());
    plain.then(|| u64::from_str_radix(digits, radix).ok())?
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let bytes: Option<Vec<_>> =
        pairs.iter().map(|&[high, low]| Some(hex(high)? << 4 | hex(low)?)).collect();
    bytes.filter(|bytes| !bytes.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(words: &[&str]) -> String {
        parse(words.iter().copied()).unwrap_err().to_string()
    }

    #[test]
    fn words_become_ordered_changes() {
        let changes = parse(["0x10:aaBB:0102", "0:00:ff", "18:cc:03"].into_iter()).unwrap();
        let change = |offset, old: &[u8], new: &[u8]| Change {
            offset,
            old: Some(old.to_vec()),
            new: new.to_vec(),
        };
        let expected = [
            change(0, &[0], &[0xff]),
            change(16, &[0xaa, 0xbb], &[1, 2]),
            change(18, &[0xcc], &[3]),
        ];
        assert_eq!(changes.list, expected);
    }

    #[test]
    fn words_invalid_rejected_with_reason() {
        let offset = "the offset is neither decimal nor 0x and hexadecimal";
        for (word, expected) in [
            ("", "not of the form OFFSET:OLD:NEW"),
            ("1:aa", "not of the form OFFSET:OLD:NEW"),
            ("1:aa:bb:cc", "not of the form OFFSET:OLD:NEW"),
            (":aa:bb", offset),
            ("-1:aa:bb", offset),
            ("+1:aa:bb", offset),
            ("0x:aa:bb", offset),
            ("0x+1:aa:bb", offset),
            ("1f:aa:bb", offset),
            ("18446744073709551616:aa:bb", offset),
            ("18446744073709551615:aa:bb", "no file is so long"),
            ("1::", "the old bytes are not pairs of hexadecimal digits"),
            ("1:a:bb", "the old bytes are not pairs of hexadecimal digits"),
            ("1:aa:bg", "the new bytes are not pairs of hexadecimal digits"),
            ("1:aa:bbcc", "1 old bytes cannot become 2"),
        ] {
            let told = reason(&[word]);
            assert!(told.ends_with(expected), "{word}: {told}");
        }
        assert_eq!(reason(&["4:aa:bb", "3:aabb:ccdd"]), "byte 4 is changed twice");
    }
}
