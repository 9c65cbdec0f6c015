//! Names in the colours of `LS_COLORS`.

use anstream::ColorChoice;
use lscolors::{Indicator, LsColors, Style};
use transect::FileType;
use transect::internal::ListEntry;

use crate::args::ColorWhen;
use crate::output::stream::stdout_colours;

#[derive(Debug)]
pub(super) struct Colours(LsColors);

impl Colours {
    /// Returns the colours of `LS_COLORS`, or the defaults of `ls`. With `auto`, `None` if standard
    /// output is not a terminal with colours, or with `NO_COLOR`.
    pub(super) fn new(when: ColorWhen) -> Option<Self> {
        let is_wanted = match when {
            // `LS_COLORS` is a convention of Unix.
            ColorWhen::Auto => !cfg!(windows) && stdout_colours() != ColorChoice::Never,
            ColorWhen::Always => true,
            ColorWhen::Never => false,
        };
        is_wanted.then(|| Self(LsColors::from_env().unwrap_or_default()))
    }

    /// Appends a path: its parent in the colour of directories, the name in that of the entry.
    pub(super) fn paint(&self, above: &str, own: &str, entry: &ListEntry<'_>, line: &mut Vec<u8>) {
        append(line, self.0.style_for_indicator(Indicator::Directory), above);
        append(line, self.style(own, entry), own);
    }

    fn style(&self, name: &str, entry: &ListEntry<'_>) -> Option<&Style> {
        let indicator = indicator(entry);
        let by_name =
            if indicator == Indicator::RegularFile { self.0.style_for_str(name) } else { None };
        by_name.or_else(|| self.0.style_for_indicator(indicator))
    }
}

fn append(line: &mut Vec<u8>, style: Option<&Style>, text: &str) {
    let style = style.filter(|_| !text.is_empty()).map(Style::to_nu_ansi_term_style);
    let text = match style {
        Some(style) => style.paint(text).to_string(),
        None => text.to_owned(),
    };
    line.extend_from_slice(text.as_bytes());
}

/// Returns the indicator of an entry. Links have a colour of their own; targets are not queried.
fn indicator(entry: &ListEntry<'_>) -> Indicator {
    let mode = entry.attributes().mode().unwrap_or(0);
    let has = |bits: u16| mode & bits != 0;
    match entry.attributes().file_type() {
        FileType::Directory => match (has(0o1000), has(0o002)) {
            (true, true) => Indicator::StickyAndOtherWritable,
            (true, false) => Indicator::Sticky,
            (false, true) => Indicator::OtherWritable,
            (false, false) => Indicator::Directory,
        },
        FileType::Symlink => Indicator::SymbolicLink,
        FileType::Block => Indicator::BlockDevice,
        FileType::Char => Indicator::CharacterDevice,
        FileType::Fifo => Indicator::FIFO,
        FileType::Socket => Indicator::Socket,
        FileType::File if has(0o4000) => Indicator::Setuid,
        FileType::File if has(0o2000) => Indicator::Setgid,
        FileType::File if has(0o111) => Indicator::ExecutableFile,
        FileType::File | FileType::Unknown => Indicator::RegularFile,
    }
}
