//! Styles of text on a terminal: one for each meaning.

#[expect(clippy::disallowed_types, reason = "the one place that defines styles")]
use anstyle::AnsiColor;
pub use anstyle::Style;

/// All styles. The program's last step before a terminal passes these, and escapes others.
pub const ALL: [Style; 6] = [BAR, BOLD, DIM, ERROR, GOOD, WARN];

/// Bars of charts.
pub const BAR: Style = AnsiColor::Cyan.on_default();
/// Headings and names.
pub const BOLD: Style = Style::new().bold();
/// Details that a reader may skip.
pub const DIM: Style = Style::new().dimmed();
/// Errors.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
/// Good results.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Warnings.
pub const WARN: Style = AnsiColor::Yellow.on_default();
