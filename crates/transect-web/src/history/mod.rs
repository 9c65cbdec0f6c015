//! A history as an HTML page: one self-contained file without scripts, which works offline.
//!
//! ```text
//! points ─► Step::between: what grew from the first to the last, and between each two
//!        ─► chart: curves ─► the page, as its content without scripts
//! ```
//!
//! Paths, machines and errors are untrusted: everything is escaped.

mod chart;
mod point;
mod step;

use std::ffi::OsStr;
use std::fmt::Write;
use std::io;
use std::path::Path;

use transect_snapshot::Diff;
use transect_text::quote::is_hostile;
use transect_text::units::{bytes, count, counted, signed_bytes, signed_count};

use crate::page::{Nonce, Page, escape_html};

use chart::{Dot, Scale};
use step::{Grown, Step};

pub use point::Point;

const STYLE: &str = include_str!("page.css");

/// How many places are shown that grew most in the whole series, and between two snapshots.
const MOST: usize = 20;
const MOST_OF_STEP: usize = 8;
/// The errors shown of a snapshot.
const MAX_ERRORS: usize = 50;

/// A number of each snapshot: its title, what it is, and how it is found.
type Curve = (&'static str, Scale, fn(&Point) -> u64);

/// The snapshots of a root, and how the page writes what it finds.
#[derive(Clone, Copy)]
pub struct History<'h> {
    /// An absolute path.
    pub root: &'h Path,
    /// The name of the machine.
    pub host: &'h str,
    /// The snapshots, at least one, sorted by time.
    pub points: &'h [Point],
    /// Why files are not among them.
    pub skipped: &'h [String],
    /// Writes nanoseconds since 1970 UTC in the local time zone.
    pub local_time: &'h dyn Fn(i64) -> String,
    /// Writes the numbers of changes.
    pub summary: fn(&Diff) -> Vec<String>,
}

/// A page, and why snapshots could not be compared.
#[derive(Debug)]
pub struct HistoryPage {
    /// The page.
    pub html: String,
    /// A message for each pair.
    pub skipped: Vec<String>,
}

impl HistoryPage {
    /// Returns the page of a history. Reads all snapshots again, to compare them.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn of(history: History<'_>) -> io::Result<Self> {
        let mut writer = PageWriter { history, out: String::new(), skipped: Vec::new() };
        writer.lead();
        writer.charts();
        writer.whole();
        writer.steps();
        writer.snapshots();
        writer.errors();
        let heading = format!("{} on {}", history.root.to_string_lossy(), history.host);
        let title = format!("{heading} · transect history");
        let page = Page {
            generator: "transect history",
            title: &title,
            heading: &heading,
            fallback: &writer.out,
            style: STYLE,
            data: &[],
            script: "",
            connects: false,
        };
        Ok(Self { html: page.html(&Nonce::random()?), skipped: writer.skipped })
    }
}

struct PageWriter<'h> {
    history: History<'h>,
    out: String,
    skipped: Vec<String>,
}

/// Appends markup.
macro_rules! put {
    ($to:expr, $($text:tt)*) => {{
        let _ = writeln!($to.out, $($text)*);
    }};
}

impl<'h> PageWriter<'h> {
    /// Returns nanoseconds since 1970 UTC as local time.
    fn time(&self, nanoseconds: i64) -> String {
        (self.history.local_time)(nanoseconds)
    }

    /// Returns the first and the last snapshot.
    fn ends(&self) -> (&'h Point, &'h Point) {
        let points = self.history.points;
        (&points[0], &points[points.len() - 1])
    }

    fn lead(&mut self) {
        let (first, last) = self.ends();
        let snapshots = counted(self.history.points.len() as u64, "snapshot", "snapshots");
        let (from, to) = (self.time(first.taken), self.time(last.taken));
        put!(
            self,
            "<p class=\"lead\">{snapshots}, <span class=\"when\">{from}</span> to <span class=\"when\">{to}</span></p>"
        );
    }

    fn charts(&mut self) {
        let (first, last) = self.ends();
        let middle = first.taken.midpoint(last.taken);
        let times = match first.taken == last.taken {
            true => [String::new(), self.time(first.taken), String::new()],
            false => [first.taken, middle, last.taken].map(|taken| self.time(taken)),
        };
        self.out.push_str("<section class=\"charts\">\n");
        let curves: [Curve; 3] = [
            ("Disk usage", Scale::Bytes, |point| point.totals.allocated),
            ("Apparent size", Scale::Bytes, |point| point.totals.apparent),
            ("Files", Scale::Count, |point| point.totals.files),
        ];
        for (title, scale, value) in curves {
            let shown = |number: u64| match scale {
                Scale::Bytes => bytes(number),
                Scale::Count => count(number),
            };
            let dot = |point: &Point| Dot {
                taken: point.taken,
                value: value(point),
                complete: point.metadata.complete,
                text: format!(
                    "{}: {}{}",
                    self.time(point.taken),
                    shown(value(point)),
                    if point.metadata.complete { "" } else { ", partial" }
                ),
            };
            let dots: Vec<Dot> = self.history.points.iter().map(dot).collect();
            let difference = i128::from(value(last)) - i128::from(value(first));
            let difference = match scale {
                Scale::Bytes => signed_bytes(difference),
                Scale::Count => signed_count(difference),
            };
            let (from, to) = (shown(value(first)), shown(value(last)));
            let growth = format!("{from} → {to} ({difference})");
            let label = format!("{title} over time: {growth}");
            let times = times.each_ref().map(String::as_str);
            let svg = chart::svg(&dots, scale, &label, times);
            put!(
                self,
                "<figure><figcaption><b>{title}</b> <span>{growth}</span></figcaption>\n{svg}</figure>"
            );
        }
        self.out.push_str("</section>\n");
        if self.history.points.iter().any(|point| !point.metadata.complete) {
            put!(
                self,
                "<p class=\"note\">Hollow points are partial snapshots: something could not be read.</p>"
            );
        }
    }

    /// Writes what changed from the first to the last snapshot.
    fn whole(&mut self) {
        let (first, last) = self.ends();
        if self.history.points.len() < 2 {
            return;
        }
        put!(self, "<h2>From the first to the last</h2>");
        match Step::between(first, last, MOST, self.history.summary) {
            Ok(step) => {
                put!(self, "<p class=\"note\">{}</p>", summary(&step));
                self.growth(&step.growth);
                self.commands(&step);
            }
            Err(skipped) => self.skipped.push(skipped),
        }
    }

    /// Writes what changed between each two snapshots, the newest first.
    fn steps(&mut self) {
        // Of two, there is nothing else to show.
        if self.history.points.len() < 3 {
            return;
        }
        put!(self, "<h2>Between each two</h2>");
        for pair in self.history.points.windows(2).rev() {
            let step = match Step::between(&pair[0], &pair[1], MOST_OF_STEP, self.history.summary) {
                Ok(step) => step,
                Err(skipped) => {
                    self.skipped.push(skipped);
                    continue;
                }
            };
            let usage = |point: &Point| i128::from(point.totals.allocated);
            let difference = usage(step.after) - usage(step.before);
            let (class, amount) = (class_of(difference), signed_bytes(difference));
            let (from, to) = (self.time(step.before.taken), self.time(step.after.taken));
            put!(
                self,
                "<details><summary><span class=\"when\">{from}</span> → <span class=\"when\">{to}</span><span class=\"amount {class}\">{amount}</span>\
                 <span class=\"what\">{}</span></summary>",
                summary(&step)
            );
            self.growth(&step.growth);
            self.commands(&step);
            put!(self, "</details>");
        }
    }

    /// Writes a table of what grew or shrank.
    fn growth(&mut self, growth: &[Grown]) {
        let most = growth.iter().map(|it| it.difference().unsigned_abs()).max().unwrap_or(0);
        if most == 0 {
            return;
        }
        put!(
            self,
            "<div class=\"card scroll\" role=\"region\" aria-label=\"What grew or shrank most\" \
             tabindex=\"0\"><table class=\"growth\"><thead><tr><th class=\"number\">change</th>\
             <th>where, and disk usage before and after</th></tr></thead><tbody>"
        );
        for it in growth {
            let (class, difference) = (class_of(it.difference()), it.difference());
            let share = difference.unsigned_abs() as f64 / most as f64 * 100.0;
            let sizes = match (it.before, it.after) {
                (Some(before), Some(after)) => format!("{} → {}", bytes(before), bytes(after)),
                (None, _) => "new".to_owned(),
                (_, None) => "gone".to_owned(),
            };
            put!(
                self,
                "<tr><th class=\"number {class}\">{}</th><td><bdi>{}</bdi> <span class=\"was\">{sizes}</span>\
                 <svg class=\"bar {class}\" aria-hidden=\"true\"><rect width=\"{share:.1}%\" height=\"5\" rx=\"2\"/></svg></td></tr>",
                signed_bytes(difference),
                escape_html(&self.below_root(&it.path))
            );
        }
        put!(self, "</tbody></table></div>");
    }

    /// Returns a path below the root as text.
    fn below_root(&self, path: &[u8]) -> String {
        let root = self.history.root.as_os_str().as_encoded_bytes();
        let below = path.strip_prefix(root).map(|below| below.strip_prefix(b"/").unwrap_or(below));
        match below {
            Some([]) => "the directory itself".to_owned(),
            below => String::from_utf8_lossy(below.unwrap_or(path)).into_owned(),
        }
    }

    /// Writes how to list all changes of a step.
    fn commands(&mut self, step: &Step<'_>) {
        let (before, after) =
            (shell_word(step.before.path.as_os_str()), shell_word(step.after.path.as_os_str()));
        if let (Some(before), Some(after)) = (before, after) {
            let (before, after) = (escape_html(&before), escape_html(&after));
            put!(
                self,
                "<p class=\"note\">All changes: <code>transect diff {before} {after}</code></p>"
            );
        }
    }

    fn snapshots(&mut self) {
        put!(
            self,
            "<h2>Snapshots</h2>\n<div class=\"card scroll\" role=\"region\" aria-label=\"Snapshots\" tabindex=\"0\">\
             <table><thead><tr><th>taken</th><th class=\"number\">disk usage</th><th class=\"number\">change</th>\
             <th class=\"number\">apparent size</th><th class=\"number\">files</th><th class=\"number\">entries</th>\
             <th class=\"number\">change</th><th class=\"number\">file size</th><th>state</th></tr></thead><tbody>"
        );
        let mut before: Option<&Point> = None;
        for point in self.history.points {
            let totals = &point.totals;
            let grown =
                before.map(|it| i128::from(totals.allocated) - i128::from(it.totals.allocated));
            let more = before.map(|it| i128::from(totals.entries) - i128::from(it.totals.entries));
            put!(
                self,
                "<tr><th>{}</th><td class=\"number\">{}</td><td class=\"number {}\">{}</td><td class=\"number\">{}</td>\
                 <td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
                 <td class=\"number\">{}</td>{}</tr>",
                self.time(point.taken),
                bytes(totals.allocated),
                class_of(grown.unwrap_or(0)),
                grown.map(signed_bytes).unwrap_or_default(),
                bytes(totals.apparent),
                count(totals.files),
                count(totals.entries),
                more.map(signed_count).unwrap_or_default(),
                point.file_size.map(bytes).unwrap_or_default(),
                self.state(point)
            );
            before = Some(point);
        }
        put!(self, "</tbody></table></div>");
    }

    /// Returns the cell with the state of a snapshot.
    fn state(&self, point: &Point) -> String {
        let errors = counted(point.metadata.errors, "error", "errors");
        let (class, mut state) = match (point.metadata.complete, point.metadata.errors) {
            (true, _) => ("", "complete".to_owned()),
            (false, 0) => (" class=\"bad\"", "partial".to_owned()),
            (false, _) => (" class=\"bad\"", format!("partial: {errors}")),
        };
        if let Some(inherited) = point.metadata.inherited.as_ref().filter(|_| point.has_inherited())
        {
            let entries = counted(inherited.entries, "entry", "entries");
            let oldest = self.time(inherited.oldest);
            let _ = write!(state, "; attributes of {entries} from {oldest}");
        }
        format!("<td{class}>{state}</td>")
    }

    /// Writes what could not be read, and files that are not snapshots.
    fn errors(&mut self) {
        let has_errors = |point: &&Point| !point.metadata.error_list.is_empty();
        let partial: Vec<&Point> = self.history.points.iter().filter(has_errors).collect();
        if !partial.is_empty() {
            put!(self, "<h2>What could not be read</h2>");
        }
        for point in partial.into_iter().rev() {
            let (time, all) = (self.time(point.taken), point.metadata.errors);
            put!(
                self,
                "<details><summary>{time}<span class=\"what\">{}</span></summary><ul>",
                counted(all, "error", "errors")
            );
            let errors = point.metadata.diagnostics().kept_errors;
            for error in errors.iter().take(MAX_ERRORS) {
                put!(self, "<li><bdi>{}</bdi></li>", escape_html(&error.to_string()));
            }
            let more = all.saturating_sub(errors.len().min(MAX_ERRORS) as u64);
            put!(
                self,
                "</ul>{}</details>",
                if more > 0 { format!("<p>{} more</p>", count(more)) } else { String::new() }
            );
        }
        let skipped = [self.history.skipped, &self.skipped].concat();
        if !skipped.is_empty() {
            put!(self, "<h2>Files that were skipped</h2><ul>");
            for reason in skipped {
                put!(self, "<li class=\"bad\"><bdi>{}</bdi></li>", escape_html(&reason));
            }
            put!(self, "</ul>");
        }
    }
}

/// Returns the numbers of changes.
fn summary(step: &Step<'_>) -> String {
    if step.parts.is_empty() { "no changes".to_owned() } else { step.parts.join(", ") }
}

/// Returns the class that paints a difference.
fn class_of(difference: i128) -> &'static str {
    match difference {
        0 => "same",
        1.. => "grew",
        _ => "shrank",
    }
}

/// Returns a word for a shell; `None` if characters of it are shown as escapes.
fn shell_word(word: &OsStr) -> Option<String> {
    let text = word.to_str().filter(|text| !text.contains(is_hostile))?;
    let is_plain = |c: char| c.is_alphanumeric() || "/._-:+@%,=".contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain) {
        return Some(text.to_owned());
    }
    match cfg!(windows) {
        true => Some(format!("\"{text}\"")),
        false => Some(format!("'{}'", text.replace('\'', "'\\''"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_word_is_quoted_where_needed() {
        let word = |text: &str| shell_word(text.as_ref());
        assert_eq!(word("/home/me/a-b_c.d"), Some("/home/me/a-b_c.d".to_owned()));
        assert_eq!(word("/a\nb"), None);
        assert_eq!(word("/\u{202e}b"), None);
        if cfg!(unix) {
            for (text, quoted) in [
                ("", "''"),
                ("-x", "'-x'"),
                ("it's $HOME", "'it'\\''s $HOME'"),
                ("<&>\"", "'<&>\"'"),
            ] {
                assert_eq!(word(text), Some(quoted.to_owned()));
            }
        }
    }

    #[test]
    fn style_loads_nothing() {
        for address in ["http", "@import", "url("] {
            assert!(!STYLE.contains(address), "{address}");
        }
    }
}
