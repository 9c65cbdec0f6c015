//! Patterns of `.gitignore` files, matched byte by byte.
//!
//! The syntax is that of gitignore(5) and, for sets in brackets, of POSIX.1-2017, XCU 2.13; where
//! these are silent, git's behaviour decides, and a test compares with it. Names need not be UTF-8,
//! so `?` and a set match one byte. There are no alternatives (`{a,b}`).

use memchr::memchr;

/// A compiled pattern: literal bytes, then wildcards, then literal bytes.
///
/// The literal ends reject most names with one comparison.
#[derive(Debug)]
pub(super) struct Pattern {
    prefix: Box<[u8]>,
    wild: Box<[Token]>,
    suffix: Box<[u8]>,
}

#[derive(Debug)]
enum Token {
    Literal(u8),
    /// `?`: one byte, but no slash.
    Any,
    /// `[…]`: one byte of a set.
    OneOf(Box<ByteSet>),
    /// `*`: bytes without a slash.
    Star,
    /// `**` at the end: any bytes.
    Everything,
    /// `**/`: nothing, or any bytes up to a slash.
    Directories,
}

impl Pattern {
    /// Compiles a pattern; `None` if it can never match, as one with an unclosed set or with a
    /// backslash at its end.
    pub(super) fn parse(pattern: &[u8]) -> Option<Self> {
        let mut tokens = Vec::new();
        let mut rest = pattern;
        while let Some((&byte, after)) = rest.split_first() {
            let token;
            (token, rest) = match byte {
                b'\\' => after.split_first().map(|(&byte, after)| (Token::Literal(byte), after))?,
                b'?' => (Token::Any, after),
                b'[' => {
                    ByteSet::parse(after).map(|(set, rest)| (Token::OneOf(set.into()), rest))?
                }
                b'*' => parse_stars(pattern[..pattern.len() - rest.len()].last(), rest),
                _ => (Token::Literal(byte), after),
            };
            tokens.push(token);
        }
        let suffix_len = tokens.iter().rev().map_while(Token::literal).count();
        let suffix = tokens.split_off(tokens.len() - suffix_len);
        let prefix_len = tokens.iter().map_while(Token::literal).count();
        let wild = tokens.split_off(prefix_len);
        let bytes = |tokens: &[Token]| tokens.iter().map_while(Token::literal).collect();
        Some(match wild.is_empty() {
            true => Self { prefix: bytes(&suffix), wild: wild.into(), suffix: Box::default() },
            false => Self { prefix: bytes(&tokens), wild: wild.into(), suffix: bytes(&suffix) },
        })
    }

    /// Returns the byte with which every match begins; `None` if it may be another one.
    pub(super) fn first(&self) -> Option<u8> {
        self.prefix.first().copied()
    }

    /// Returns the byte with which every match ends; `None` if it may be another one.
    pub(super) fn last(&self) -> Option<u8> {
        let end = if self.wild.is_empty() { &self.prefix } else { &self.suffix };
        end.last().copied()
    }

    /// Returns whether the whole text matches: a name, or a path with slashes.
    pub(super) fn matches(&self, text: &[u8]) -> bool {
        if self.wild.is_empty() {
            return *text == *self.prefix;
        }
        let rest = text.strip_prefix(&*self.prefix);
        rest.and_then(|rest| rest.strip_suffix(&*self.suffix))
            .is_some_and(|middle| Matching::new(&self.wild, middle).run())
    }
}

impl Token {
    fn literal(&self) -> Option<u8> {
        if let Self::Literal(byte) = *self { Some(byte) } else { None }
    }

    /// Returns whether the token matches one byte; false for those that match several.
    fn matches(&self, byte: u8) -> bool {
        match self {
            Self::Literal(literal) => *literal == byte,
            Self::Any => byte != b'/',
            Self::OneOf(set) => set.contains(byte),
            Self::Star | Self::Everything | Self::Directories => false,
        }
    }
}

/// Parses the stars at the start of a pattern, which the byte `before` precedes. Two or more cross
/// slashes if they are a whole component of the path.
fn parse_stars<'p>(before: Option<&u8>, pattern: &'p [u8]) -> (Token, &'p [u8]) {
    let count = pattern.iter().take_while(|&&byte| byte == b'*').count();
    let after = &pattern[count..];
    let is_wide = count > 1 && before.is_none_or(|&byte| byte == b'/');
    match after {
        [b'/', after @ ..] if is_wide => (Token::Directories, after),
        [] | [b'\\', b'/', ..] if is_wide => (Token::Everything, after),
        _ => (Token::Star, after),
    }
}

/// A search for a match of wildcards.
///
/// Only the last `*` and the last `**` are tried again with a longer match: what is before them
/// matched as early as possible, and no later match leaves more to choose from. So the work is
/// bounded by a polynomial, also for `*a*a*a*a*b`.
struct Matching<'m> {
    tokens: &'m [Token],
    text: &'m [u8],
    /// The positions of the next token and of the next byte.
    token: usize,
    at: usize,
    /// The token after the last `*`, and the end of what it matches.
    star: Option<(usize, usize)>,
    /// The same for the last `**`.
    wide: Option<(usize, usize)>,
}

impl<'m> Matching<'m> {
    fn new(tokens: &'m [Token], text: &'m [u8]) -> Self {
        Self { tokens, text, token: 0, at: 0, star: None, wide: None }
    }

    fn run(mut self) -> bool {
        loop {
            let is_last = self.token + 1 == self.tokens.len();
            match self.tokens.get(self.token) {
                None if self.at == self.text.len() => return true,
                Some(Token::Everything) if is_last => return true,
                Some(Token::Star) if is_last => {
                    if memchr(b'/', &self.text[self.at..]).is_none() {
                        return true;
                    }
                    self.star = None;
                }
                Some(Token::Star) => {
                    self.token += 1;
                    self.star = Some((self.token, self.at));
                    continue;
                }
                Some(Token::Everything | Token::Directories) => {
                    self.token += 1;
                    self.star = None;
                    self.wide = Some((self.token, self.at));
                    continue;
                }
                Some(token) if self.text.get(self.at).is_some_and(|&it| token.matches(it)) => {
                    self.token += 1;
                    self.at += 1;
                    continue;
                }
                _ => {}
            }
            if !self.lengthen_star() && !self.lengthen_wide() {
                return false;
            }
        }
    }

    /// Continues with one more byte for the last `*`. Returns false if there is none.
    fn lengthen_star(&mut self) -> bool {
        let Some((token, end)) = self.star else { return false };
        if self.text.get(end).is_none_or(|&byte| byte == b'/') {
            self.star = None;
            return false;
        }
        self.star = Some((token, end + 1));
        (self.token, self.at) = (token, end + 1);
        true
    }

    /// Continues with more bytes for the last `**`. Returns false if there are none.
    fn lengthen_wide(&mut self) -> bool {
        let Some((token, end)) = self.wide else { return false };
        let rest = &self.text[end..];
        let more = match self.tokens[token - 1] {
            Token::Directories => memchr(b'/', rest).map(|slash| slash + 1),
            _ => (!rest.is_empty()).then_some(1),
        };
        let Some(more) = more else { return false };
        self.wide = Some((token, end + more));
        (self.token, self.at) = (token, end + more);
        true
    }
}

/// A set of bytes: one bit for each. It never contains a slash.
#[derive(Debug, Default)]
struct ByteSet([u64; 4]);

impl ByteSet {
    /// Parses a set after its opening bracket, and returns it with what follows it; `None` if it is
    /// not closed or has an unknown class. A range whose end is before its start is empty.
    fn parse(text: &[u8]) -> Option<(Self, &[u8])> {
        let (is_negated, mut rest) = match text {
            [b'!' | b'^', rest @ ..] => (true, rest),
            _ => (false, text),
        };
        let mut set = Self::default();
        let mut is_first = true;
        // The last byte, which a hyphen makes the start of a range.
        let mut start = None;
        loop {
            let (byte, after) = rest.split_first()?;
            match (byte, after) {
                (b']', _) if !is_first => {
                    rest = after;
                    break;
                }
                (b'-', [end, ..]) if start.is_some() && *end != b']' => {
                    let end;
                    (end, rest) = unescape(after)?;
                    set.insert_all(|byte| (start..=Some(end)).contains(&Some(byte)));
                    start = None;
                }
                (b'[', [b':', class @ ..]) => {
                    let close = memchr(b']', class)?;
                    if let Some(name) = class[..close].strip_suffix(b":") {
                        set.insert_all(class_of(name)?);
                        (start, rest) = (None, &class[close + 1..]);
                    } else {
                        set.insert(b'[');
                        (start, rest) = (Some(b'['), after);
                    }
                }
                _ => {
                    let byte;
                    (byte, rest) = unescape(rest)?;
                    set.insert(byte);
                    start = Some(byte);
                }
            }
            is_first = false;
        }
        let mut chosen = Self::default();
        chosen.insert_all(|byte| set.contains(byte) != is_negated && byte != b'/');
        Some((chosen, rest))
    }

    fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte / 64)] |= 1 << (byte % 64);
    }

    fn insert_all(&mut self, is_in: impl Fn(u8) -> bool) {
        (0..=u8::MAX).filter(|&byte| is_in(byte)).for_each(|byte| self.insert(byte));
    }

    fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte / 64)] & 1 << (byte % 64) != 0
    }
}

/// Returns the first byte of a pattern, without a backslash that escapes it, and the rest.
fn unescape(pattern: &[u8]) -> Option<(u8, &[u8])> {
    let pattern = pattern.strip_prefix(b"\\").unwrap_or(pattern);
    pattern.split_first().map(|(&byte, rest)| (byte, rest))
}

/// Returns which bytes a POSIX class contains: only ASCII. As in git, a vertical tab and a form feed
/// are no blank space.
fn class_of(name: &[u8]) -> Option<fn(u8) -> bool> {
    Some(match name {
        b"alnum" => |byte| byte.is_ascii_alphanumeric(),
        b"alpha" => |byte| byte.is_ascii_alphabetic(),
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => |byte| byte.is_ascii_control(),
        b"digit" => |byte| byte.is_ascii_digit(),
        b"graph" => |byte| byte.is_ascii_graphic(),
        b"lower" => |byte| byte.is_ascii_lowercase(),
        b"print" => |byte| byte.is_ascii_graphic() || byte == b' ',
        b"punct" => |byte| byte.is_ascii_punctuation(),
        b"space" => |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'),
        b"upper" => |byte| byte.is_ascii_uppercase(),
        b"xdigit" => |byte| byte.is_ascii_hexdigit(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::parse(pattern.as_bytes()).is_some_and(|pattern| pattern.matches(text.as_bytes()))
    }

    #[test]
    fn wildmatch_literal_ends_do_not_overlap() {
        for (pattern, text, expected) in [
            ("ab*ba", "aba", false),
            ("ab*ba", "abba", true),
            ("*.log", ".log", true),
            ("*", "", true),
            ("a**", "abc", true),
            ("**/b", "b", true),
            ("**/b", "ab", false),
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/x/y/b", true),
            ("a/**/b", "a/xb", false),
            ("a/**", "a/", true),
            ("a**/b", "ab", false),
            ("a**/b", "ax/b", true),
            ("**\\/b", "b", false),
            ("**\\/b", "x/y/b", true),
            ("a/***/b", "a/b", true),
            ("*/b", "x/y/b", false),
            ("**/a*/b*/c", "a/b/a1/b1/c", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} and {text}");
        }
    }

    #[test]
    fn wildmatch_malformed_pattern_is_none() {
        for pattern in
            ["[", "a[", "[]", "[!", "[!]", "[a-", "[[:digit:", "[[:foo:]]", "[[::]]", "a\\"]
        {
            assert!(Pattern::parse(pattern.as_bytes()).is_none(), "{pattern}");
        }
        assert!(Pattern::parse(b"[[:]").is_some() && Pattern::parse(b"[[:x]").is_some());
    }

    /// A matcher that tries every star again would need 10^60 steps here.
    #[test]
    fn wildmatch_hostile_pattern_is_quick() {
        let (many, deep) = ("a".repeat(4_000), "a/".repeat(2_000) + "a");
        for (pattern, text) in [
            ("*a".repeat(60) + "*b*", &many),
            ("a*".repeat(60) + "[b]*", &many),
            ("**/".repeat(60) + "b?", &deep),
            ("**/a/".repeat(60) + "b*", &deep),
            ("**/*a/".repeat(60) + "*b*", &deep),
        ] {
            assert!(!matches(&pattern, text), "{pattern}");
        }
    }
}
