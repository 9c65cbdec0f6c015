//! A value of a table, and how each form of a report writes it.

use transect_stats::Ratios;
use transect_text::quote;
use transect_text::units::{bytes, count, time};

/// A form of a report that has tables for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Text on a terminal: times have units.
    Terminal,
    /// Markdown: times are milliseconds.
    Markdown,
}

impl Form {
    /// Escapes a name that is not ours.
    pub(super) fn name(self, name: &str) -> String {
        match self {
            Self::Terminal => quote::for_terminal(name.as_ref()),
            Self::Markdown => markdown_escaped(name),
        }
    }
}

/// Escapes a text so that it is plain text in one line of Markdown, also inside a table.
fn markdown_escaped(text: &str) -> String {
    const MARKUP: &str = "\\`*_[]<>|~&#";
    let visible = quote::for_terminal(text.as_ref());
    let mut escaped = String::with_capacity(visible.len());
    for character in visible.chars() {
        if MARKUP.contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

pub(super) enum Value {
    /// Unknown, or not applicable.
    Empty,
    /// A name from outside, which each form escapes.
    Name(String),
    /// Text of the lab that no form changes.
    Text(String),
    /// A time in nanoseconds.
    Time(f64),
    /// A whole number; a terminal has no space for separators of thousands.
    Number(f64),
    /// A whole number with separators of thousands.
    Count(u64),
    Bytes(f64),
    /// A length in bytes; on a terminal, the title has the unit.
    ShortBytes(f64),
}

impl Value {
    pub(super) fn known<T>(value: Option<T>, of: fn(T) -> Self) -> Self {
        value.map_or(Self::Empty, of)
    }

    pub(super) fn factor(factor: f64) -> Self {
        Self::Text(format!("{factor:.2}"))
    }

    pub(super) fn interval(ratios: Option<Ratios>) -> Self {
        Self::known(ratios, |ratios| Self::Text(ratios.to_string()))
    }

    pub(super) fn text(self, form: Form) -> String {
        match (self, form) {
            (Self::Empty, _) => String::new(),
            (Self::Name(name), form) => form.name(&name),
            (Self::Text(text), _) => text,
            (Self::Time(nanoseconds), Form::Terminal) => time(nanoseconds),
            (Self::Time(nanoseconds), Form::Markdown) => format!("{:.3}", nanoseconds / 1e6),
            (Self::Number(number) | Self::ShortBytes(number), Form::Terminal) => {
                format!("{number:.0}")
            }
            (Self::Number(number), Form::Markdown) => count(number as u64),
            (Self::Count(number), _) => count(number),
            (Self::Bytes(number), _) | (Self::ShortBytes(number), Form::Markdown) => {
                bytes(number as u64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_never_become_markup() {
        let escaped = |name| Value::Name(String::from(name)).text(Form::Markdown);
        assert_eq!(escaped("a|b`c`"), "a\\|b\\`c\\`");
        assert_eq!(escaped("<img src=x>\n# x"), "\\<img src=x\\>\\\\n\\# x");
        assert_eq!(escaped("\u{202e}x"), "\\\\u{202e}x");
        assert_eq!(escaped("getdents-statx/recursive (again)"), "getdents-statx/recursive (again)");
    }
}
