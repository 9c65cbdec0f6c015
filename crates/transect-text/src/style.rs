//! Styles of text on a terminal: one for each meaning.

use anstyle::AnsiColor;
pub use anstyle::Style;

/// Headings and names.
pub const BOLD: Style = Style::new().bold();
/// Details.
pub const DIM: Style = Style::new().dimmed();
/// Errors.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
/// Good results.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Warnings.
pub const WARN: Style = AnsiColor::Yellow.on_default();
