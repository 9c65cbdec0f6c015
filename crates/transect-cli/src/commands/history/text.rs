//! A history for people: a table, and a curve of the disk usage.

use std::io::{self, Write as _};

use transect_web::history::Point;

use super::point::History;
use crate::output::time::TimeFormatter;
use crate::output::units::{bytes, count, counted, signed_bytes, signed_count};
use crate::output::{self, BOLD, DIM, WARN, quote};

const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The columns of the curve without a terminal, and the least number of them.
const WIDTH: usize = 60;
const MIN_WIDTH: usize = 8;

pub(super) fn write(history: &History) -> io::Result<()> {
    let History { series, points, .. } = history;
    let mut out = output::buffer();
    let number = counted(points.len() as u64, "snapshot", "snapshots");
    let root = quote::for_terminal(series.root().as_os_str());
    let host = quote::for_terminal(series.host().as_ref());
    writeln!(out, "{BOLD}{root}{BOLD:#} on {host}: {number}\n")?;
    let times = TimeFormatter::local();
    writeln!(
        out,
        "{DIM}{:<19}  {:>10}  {:>11}  {:>11}  {:>8}{DIM:#}",
        "taken", "disk usage", "change", "entries", "change"
    )?;
    let mut before: Option<&Point> = None;
    for point in points {
        let usage = |point: &Point| i128::from(point.totals.allocated);
        let entries = |point: &Point| i128::from(point.totals.entries);
        let grown = before.map(|it| signed_bytes(usage(point) - usage(it))).unwrap_or_default();
        let more = before.map(|it| signed_count(entries(point) - entries(it))).unwrap_or_default();
        let (time, totals) = (times.text(point.taken), &point.totals);
        let partial = if point.metadata.complete { "" } else { "  partial" };
        let inherited = if point.has_inherited() { "  inherited attributes" } else { "" };
        let (usage, entries) = (bytes(totals.allocated), count(totals.entries));
        let line = format!("{time:<19}  {usage:>10}  {grown:>11}  {entries:>11}  {more:>8}");
        writeln!(out, "{}{WARN}{partial}{WARN:#}{DIM}{inherited}{DIM:#}", line.trim_end())?;
        before = Some(point);
    }
    if points.len() > 1 {
        let usage: Vec<u64> = points.iter().map(|point| point.totals.allocated).collect();
        let (least, most) = (usage.iter().min().copied(), usage.iter().max().copied());
        let (least, most) = (bytes(least.unwrap_or(0)), bytes(most.unwrap_or(0)));
        let taken = "disk usage   to ".len() + least.len() + most.len();
        let width = output::terminal_width().unwrap_or(WIDTH + taken);
        let curve = sparkline(&usage, width.saturating_sub(taken).max(MIN_WIDTH));
        writeln!(out, "\ndisk usage  {curve}  {least} to {most}")?;
    }
    output::print_wrapped(out)
}

/// Draws numbers as a curve of at most `width` characters, from the least to the greatest. Several numbers
/// in one place are shown by the last of them.
fn sparkline(numbers: &[u64], width: usize) -> String {
    let width = width.min(numbers.len());
    let least = numbers.iter().min().copied().unwrap_or(0);
    let span = numbers.iter().max().map_or(0, |most| most - least);
    let height = |number: u64| match span {
        0 => HEIGHTS[0],
        _ => {
            let level = u128::from(number - least) * (HEIGHTS.len() as u128 - 1) / u128::from(span);
            HEIGHTS[level as usize]
        }
    };
    (1..=width).map(|place| height(numbers[place * numbers.len() / width - 1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparkline_spans_least_to_greatest() {
        assert_eq!(sparkline(&[0, 1, 2, 3, 4, 5, 6, 7], 80), "▁▂▃▄▅▆▇█");
        assert_eq!(sparkline(&[1000, 1007, 1000], 3), "▁█▁");
        assert_eq!(sparkline(&[5, 5, 5], 3), "▁▁▁");
        assert_eq!(sparkline(&[0, u64::MAX], 2), "▁█");
        assert_eq!(sparkline(&[], 3), "");
    }

    #[test]
    fn sparkline_of_many_numbers_ends_with_the_last() {
        let numbers: Vec<u64> = (0..=700).collect();
        assert_eq!(sparkline(&numbers, 8), "▁▂▃▄▅▆▇█");
        assert_eq!(sparkline(&numbers, 1), "█");
    }
}
