//! A number over time as a curve in SVG. It fits any width without scripts: horizontal places are percentages,
//! vertical ones are pixels.

use std::fmt::Write;

use transect_text::units::{UNITS, count};

use crate::page::escape_html;

/// The height of the curve, and where it begins, in pixels.
const HEIGHT: f64 = 150.0;
const TOP: f64 = 10.0;
/// The height of the whole, with the times below the curve.
const WHOLE: f64 = 186.0;
/// The width of a letter beside the lines, in pixels.
const LETTER: f64 = 6.8;
/// More points than these have no dots, except those of partial snapshots.
const MAX_DOTS: usize = 80;

/// What the numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Bytes,
    Count,
}

/// A snapshot on a curve.
#[derive(Clone, Debug)]
pub(super) struct Dot {
    /// When it was taken, in nanoseconds since 1970 UTC.
    pub(super) taken: i64,
    pub(super) value: u64,
    pub(super) complete: bool,
    /// Its text, shown when a pointer rests on it.
    pub(super) text: String,
}

/// The range of a curve, and its lines.
#[derive(Debug)]
struct Axis {
    /// The unit, its name, and the digits behind the point.
    size: f64,
    unit: &'static str,
    decimals: usize,
    /// The distance of two lines in units, and the numbers of the first and the last one.
    step: f64,
    first: f64,
    last: f64,
    scale: Scale,
}

impl Axis {
    /// Returns an axis for values between these. It begins at 0, unless the curve would be flat then.
    fn of(least: u64, most: u64, scale: Scale) -> Self {
        let (size, unit) = match scale {
            Scale::Bytes => unit_for(most),
            Scale::Count => (1.0, ""),
        };
        let (from, to) = (least as f64 / size, most as f64 / size);
        let from = if from * 2.0 < to { 0.0 } else { from };
        // Values that are nearly equal make no steep curve.
        let rough = (to - from).max(to / 1000.0) / 4.0;
        let whole = if size > 1.0 { 1e-6 } else { 1.0 };
        let step = round_up(rough.max(whole));
        // The last bits of `step` differ between systems, so that a value on a line may lie beside it.
        let first = (from / step + 1e-9).floor();
        let last = (to / step - 1e-9).ceil().max(first + 1.0);
        let decimals = -exponent(step).min(0);
        Self { size, unit, decimals: decimals as usize, step, first, last, scale }
    }

    /// Returns how far above the lowest line a value is, in pixels.
    fn height(&self, value: f64) -> f64 {
        (value / self.step - self.first) / (self.last - self.first) * HEIGHT
    }

    /// Returns the lines: their heights, and their values as text.
    fn lines(&self) -> Vec<(f64, String)> {
        let mut lines = Vec::new();
        let mut number = self.first;
        while number <= self.last {
            let value = number * self.step;
            let text = match self.scale {
                Scale::Count => count(value as u64),
                Scale::Bytes => format!("{value:.*} {}", self.decimals, self.unit),
            };
            lines.push((self.height(value), text));
            number += 1.0;
        }
        lines
    }
}

/// Returns the largest binary unit that a size has.
fn unit_for(bytes: u64) -> (f64, &'static str) {
    let unit = (bytes.checked_ilog2().unwrap_or(0) / 10) as usize;
    (1024_f64.powi(unit as i32), UNITS[unit])
}

/// Returns the least of 1, 2, 5, 10, 20, 50, … that is not less.
fn round_up(number: f64) -> f64 {
    let power = 10_f64.powi(exponent(number));
    let digits = [1.0, 2.0, 5.0].into_iter().find(|digit| digit * power >= number * (1.0 - 1e-9));
    digits.unwrap_or(10.0) * power
}

/// Returns the power of ten of the first digit of a number above 0. Logarithms would make the system load
/// libm at every start of the program.
fn exponent(mut number: f64) -> i32 {
    let mut exponent = 0;
    while number >= 10.0 {
        number /= 10.0;
        exponent += 1;
    }
    while number < 1.0 {
        number *= 10.0;
        exponent -= 1;
    }
    exponent
}

/// Returns the curve of at least one snapshot, sorted by time, as markup. `label` describes it, and `times` are those at
/// its begin, middle and end.
pub(super) fn svg(dots: &[Dot], scale: Scale, label: &str, times: [&str; 3]) -> String {
    let values = || dots.iter().map(|dot| dot.value);
    let axis = Axis::of(values().min().unwrap_or(0), values().max().unwrap_or(0), scale);
    let begin = dots.first().map_or(0, |dot| dot.taken);
    let span = dots.last().map_or(0, |dot| i128::from(dot.taken) - i128::from(begin));
    // In thousandths of the width.
    let across = |dot: &Dot| match span {
        0 => 500.0,
        span => (i128::from(dot.taken) - i128::from(begin)) as f64 / span as f64 * 1000.0,
    };
    let down = |dot: &Dot| HEIGHT - axis.height(dot.value as f64 / axis.size);
    let mut out = String::from("<div class=\"chart\">");
    let lines = axis.lines();
    let longest = lines.iter().map(|(_, text)| text.len()).max().unwrap_or(0);
    let margin = longest as f64 * LETTER + 8.0;
    let _ = writeln!(out, "<svg width=\"{margin:.0}\" height=\"{WHOLE}\" aria-hidden=\"true\">");
    for (height, text) in &lines {
        let y = TOP + HEIGHT - height + 4.0;
        let _ = writeln!(out, "<text class=\"tick\" x=\"0\" y=\"{y:.1}\">{text}</text>");
    }
    let label = escape_html(label);
    let _ = writeln!(
        out,
        "</svg><svg class=\"plot\" height=\"{WHOLE}\" role=\"img\" aria-label=\"{label}\">"
    );
    for (height, _) in &lines {
        let y = TOP + HEIGHT - height;
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
        );
    }
    let points: Vec<String> =
        dots.iter().map(|dot| format!("{:.2},{:.2}", across(dot), down(dot))).collect();
    let _ = writeln!(
        out,
        "<svg y=\"{TOP}\" width=\"100%\" height=\"{HEIGHT}\" viewBox=\"0 0 1000 {HEIGHT}\" preserveAspectRatio=\"none\">\
         <polyline class=\"curve\" points=\"{}\" vector-effect=\"non-scaling-stroke\"/></svg>",
        points.join(" ")
    );
    for dot in dots.iter().filter(|dot| dots.len() <= MAX_DOTS || !dot.complete) {
        let class = if dot.complete { "dot" } else { "dot partial" };
        let (x, y) = (across(dot) / 10.0, TOP + down(dot));
        let text = escape_html(&dot.text);
        let _ = writeln!(
            out,
            "<circle class=\"{class}\" cx=\"{x:.2}%\" cy=\"{y:.1}\" r=\"4\"><title>{text}</title></circle>"
        );
    }
    let places = [("0", "start"), ("50%", "middle"), ("100%", "end")];
    for ((x, anchor), time) in places.into_iter().zip(times).filter(|(_, time)| !time.is_empty()) {
        let (y, time) = (WHOLE - 6.0, escape_html(time));
        let _ = writeln!(
            out,
            "<text class=\"tick time {anchor}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{time}</text>"
        );
    }
    out.push_str("</svg></div>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(least: u64, most: u64, scale: Scale) -> Vec<String> {
        Axis::of(least, most, scale).lines().into_iter().map(|line| line.1).collect()
    }

    #[test]
    fn axis_has_few_lines_around_all_values() {
        let cases = [0, 1, 2, 7, 1023, 1024, 25 << 20, (25 << 20) + 5, 1 << 40, u64::MAX];
        for (least, most) in
            cases.iter().flat_map(|a| cases.iter().map(move |b| (a.min(b), a.max(b))))
        {
            for scale in [Scale::Bytes, Scale::Count] {
                let axis = Axis::of(*least, *most, scale);
                let lines = axis.lines();
                assert!((2..=7).contains(&lines.len()), "{least} {most}: {lines:?}");
                for value in [least, most] {
                    let height = axis.height(*value as f64 / axis.size);
                    assert!((-0.01..=HEIGHT + 0.01).contains(&height), "{least} {most}: {height}");
                }
                let mut texts: Vec<&String> = lines.iter().map(|line| &line.1).collect();
                texts.dedup();
                assert_eq!(texts.len(), lines.len(), "{least} {most}: {lines:?}");
            }
        }
    }

    #[test]
    fn axis_begins_at_zero_unless_the_curve_would_be_flat() {
        assert_eq!(texts(10, 1000, Scale::Count), ["0", "500", "1,000"]);
        assert_eq!(texts(9_000, 10_000, Scale::Count), ["9,000", "9,500", "10,000"]);
        let texts = texts(25 << 20, (25 << 20) + (50 << 10), Scale::Bytes);
        assert_eq!(texts, ["25.00 MiB", "25.02 MiB", "25.04 MiB", "25.06 MiB"]);
    }

    #[test]
    fn svg_spans_the_width_and_escapes_text() {
        let dot = |taken: i64, value: u64, complete: bool| Dot {
            taken,
            value,
            complete,
            text: "<script>\"".to_owned(),
        };
        let dots = [dot(i64::MIN, 0, true), dot(0, 5, false), dot(i64::MAX, 10, true)];
        let svg = svg(&dots, Scale::Count, "a \"label\"", ["<b>", "", "end"]);
        assert!(!svg.contains("<script") && !svg.contains("<b>"), "{svg}");
        assert!(svg.contains("aria-label=\"a &quot;label&quot;\""), "{svg}");
        assert!(svg.contains("points=\"0.00,150.00 500.00,75.00 1000.00,0.00\""), "{svg}");
        assert_eq!((svg.matches("<circle").count(), svg.matches("dot partial").count()), (3, 1));
        assert_eq!(svg.matches("<text class=\"tick time").count(), 2);
    }

    #[test]
    fn svg_of_one_snapshot_and_of_many() {
        let dot = |taken: i64| Dot { taken, value: 7, complete: taken != 3, text: String::new() };
        let one = svg(&[dot(0)], Scale::Bytes, "", ["", "now", ""]);
        assert!(one.contains("points=\"500.00,") && !one.contains("NaN"), "{one}");
        let many: Vec<Dot> = (0..200).map(dot).collect();
        assert_eq!(svg(&many, Scale::Count, "", [""; 3]).matches("<circle").count(), 1);
    }
}
