//! The table of counted events: which parts of a processor a method uses.

use transect_text::style::Style;
use transect_text::units::count;

use super::format::percent;
use super::value::Form;
use crate::harness::counters::Counters;
use crate::ranking::Row;
use transect_text::table::Table;

/// What the table shows.
pub(super) const ABOUT: &str = "Counted in a run of its own, whole processes with their start; cores over time are \
                                in equal intervals, █ is all cores";

/// The heights of bars, from nothing to all cores.
const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Returns the cells of a row after its name; `None` if nothing was counted.
fn cells(row: &Row, cores: usize) -> Option<[String; 7]> {
    let counters = row.counters.as_ref()?;
    let number = |number: Option<u64>| number.map_or_else(|| "unknown".to_owned(), count);
    let per_cycle = match (counters.instructions, counters.cycles) {
        (Some(instructions), Some(cycles)) if cycles > 0 => {
            format!("{:.2}", instructions as f64 / cycles as f64)
        }
        _ => "unknown".to_owned(),
    };
    let used = counters.mean_cores();
    Some([
        format!("{used:.2}"),
        percent(used / cores.max(1) as f64),
        number(counters.cycles),
        number(counters.instructions),
        per_cycle,
        number(counters.switches),
        bars(counters, cores),
    ])
}

/// Draws the cores used over time.
fn bars(counters: &Counters, cores: usize) -> String {
    let all = cores.max(1) as f64;
    let bar = |used: &f64| {
        let height = (used / all * 8.0).round().clamp(0.0, 8.0);
        BARS[height as usize]
    };
    format!("|{}|", counters.cores.iter().map(bar).collect::<String>())
}

/// Returns the table of some rows; `None` if nothing was counted.
pub(super) fn table(rows: &[Row], cores: usize, form: Form) -> Option<Table> {
    let numbers = ["cores", "of all", "cycles", "instructions", "per cycle", "switches"];
    let mut table = Table::new(&["method"], &numbers, &["cores over time"]);
    for row in rows {
        let Some(cells) = cells(row, cores) else { continue };
        table.add(Style::new(), std::iter::once(form.name(&row.cell.name)).chain(cells));
    }
    (!table.rows.is_empty()).then_some(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_show_share_of_all_cores() {
        let counters = Counters { cores: vec![0.0, 0.5, 1.0, 2.0, 2.3], ..Counters::default() };
        assert_eq!(bars(&counters, 2), "| ▂▄██|");
    }
}
