//! The columns of a ranking, each defined once: its titles, its value in a row, and the reports that show it.
//! The writers only draw them.
//!
//! CSV has a list of its own ([`csv`](super::csv)): it is for programs, and has raw numbers with a name each.

use transect_stats::{Ratios, Verdict};
use transect_text::style::{DIM, ERROR, GOOD, Style, WARN};
use transect_text::table::Table;

use super::format::verdict_label;
use super::value::{Form, Value};
use crate::harness::accesses::Accesses;
use crate::ranking::Row;
use crate::spec::{SessionSpec, Spec};

type Shown = fn(Form, &SessionSpec) -> bool;

pub(super) struct Column {
    /// The titles on a terminal and in Markdown. `{item}` is what system calls are counted per.
    titles: [&'static str; 2],
    /// Numbers are aligned to the right, words to the left.
    is_number: bool,
    /// On a terminal, columns with the lowest number above 0 are dropped first if the table is too wide; 0 is
    /// kept.
    pub(super) drop_order: u8,
    /// The title of the shorter column that replaces it if it is dropped.
    pub(super) replaced_by: Option<&'static str>,
    shown: Shown,
    /// Whether Markdown leaves it out, too, if it is empty in every row.
    is_optional: bool,
    value: fn(&SessionSpec, &Row) -> Value,
}

const fn words(
    title: &'static str,
    drop_order: u8,
    value: fn(&SessionSpec, &Row) -> Value,
) -> Column {
    Column {
        titles: [title, title],
        is_number: false,
        drop_order,
        replaced_by: None,
        shown: |_, _| true,
        is_optional: false,
        value,
    }
}

const fn number(
    title: &'static str,
    drop_order: u8,
    value: fn(&SessionSpec, &Row) -> Value,
) -> Column {
    Column { is_number: true, ..words(title, drop_order, value) }
}

impl Column {
    const fn long(self, title: &'static str) -> Self {
        Self { titles: [self.titles[0], title], ..self }
    }

    const fn only(self, shown: Shown) -> Self {
        Self { shown, ..self }
    }

    const fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }

    const fn replaced_by(self, title: &'static str) -> Self {
        Self { replaced_by: Some(title), ..self }
    }

    /// Returns its title on a terminal, which no other column has.
    pub(super) fn title(&self) -> &'static str {
        self.titles[0]
    }

    fn title_in(&self, form: Form, spec: &SessionSpec) -> String {
        match form {
            Form::Terminal => self.titles[0].to_owned(),
            Form::Markdown => self.titles[1].replace("{item}", spec.words().item),
        }
    }

    fn text(&self, form: Form, spec: &SessionSpec, row: &Row) -> String {
        (self.value)(spec, row).text(form)
    }
}

fn is_terminal(form: Form, _: &SessionSpec) -> bool {
    form == Form::Terminal
}

fn is_transform(_: Form, spec: &SessionSpec) -> bool {
    spec.words().has_rates
}

fn is_process(_: Form, spec: &SessionSpec) -> bool {
    spec.words().has_rates || spec.whole_processes
}

/// Walks of a single file, where each system call can be told: the article's accesses per file.
fn is_single_file(_: Form, spec: &SessionSpec) -> bool {
    spec.experiment() == Spec::Walk && spec.datasets.iter().any(|it| it.expected.files == 1)
}

fn of_kind(row: &Row, kind: fn(Accesses) -> u64) -> Value {
    Value::known(row.accesses.map(kind), Value::Count)
}

/// All columns, in order. A replacement is shown only if the column it replaces was dropped.
pub(super) const COLUMNS: &[Column] = &[
    words("method", 0, |_, row| Value::Name(row.cell.name.clone())),
    words("language", 4, |_, row| Value::Name(row.cell.language.clone())),
    number("median", 0, |_, row| Value::Time(row.time.median)).long("median, ms"),
    number("min", 3, |_, row| Value::Time(row.time.min)).long("min, ms"),
    number("max", 2, |_, row| Value::Time(row.time.max)).long("max, ms"),
    number("n", 6, |_, row| Value::Number(row.time.n as f64)),
    number("MB/s", 2, |_, row| {
        Value::known(row.ns_per_byte, |each| Value::Text(format!("{:.0}", 1e3 / each)))
    })
    .only(is_transform),
    number("cpu", 8, |_, row| Value::known(row.run_cpu_ns, Value::Time)).long("cpu of a run, ms"),
    number("cores", 2, |_, row| Value::known(row.cores, Value::factor)).optional(),
    number("faults", 1, |_, row| Value::known(row.faults, Value::Number)).only(is_process),
    number("unwritten", 1, |_, row| Value::known(row.unwritten, Value::Bytes)).only(is_transform),
    number("read", 1, |_, row| Value::known(row.device_read, Value::Bytes)).only(is_transform),
    number("written", 1, |_, row| Value::known(row.device_written, Value::Bytes))
        .only(is_transform),
    number("start-up", 1, |_, row| Value::known(row.start_up, Value::Time)).only(is_terminal),
    number("without it", 1, |_, row| {
        Value::known(row.without_start, |time| Value::Time(time.max(0.0)))
    })
    .only(is_terminal),
    number("memory", 5, |_, row| Value::known(row.peak_memory, Value::Bytes)),
    number("B/name", 2, |_, row| Value::known(row.cache_bytes_per_name, Value::ShortBytes))
        .long("cache / name")
        .only(|form, spec| is_terminal(form, spec) || spec.experiment() == Spec::Attributes),
    number("calls", 9, |_, row| Value::known(row.accesses, |it| Value::factor(it.each(it.calls))))
        .long("calls / {item}"),
    number("opens", 1, |_, row| of_kind(row, |it| it.opens)).only(is_single_file),
    number("listings", 1, |_, row| of_kind(row, |it| it.listings)).only(is_single_file),
    number("queries", 1, |_, row| of_kind(row, |it| it.attributes)).only(is_single_file),
    number("closes", 1, |_, row| of_kind(row, |it| it.closes)).only(is_single_file),
    number("speed-up", 1, |_, row| Value::factor(row.speedup_over_slowest))
        .only(|form, spec| is_terminal(form, spec) && is_transform(form, spec)),
    number("× base (95 %)", 11, |_, row| Value::interval(row.to_base)).replaced_by("× base"),
    number("× base", 0, |_, row| ratio(row.to_base)).only(is_terminal),
    number("× floor (95 %)", 7, |_, row| Value::interval(row.to_floor)).replaced_by("× floor"),
    number("× floor", 10, |_, row| ratio(row.to_floor)).only(is_terminal),
    number("lines", 1, |_, row| Value::known(row.cell.code, |it| Value::Count(it.lines)))
        .optional(),
    words("verdict", 0, |spec, row| Value::Text(verdict_label(spec, row))),
];

fn ratio(ratios: Option<Ratios>) -> Value {
    Value::known(ratios, |ratios| Value::factor(ratios.median))
}

pub(super) fn shown(form: Form, spec: &SessionSpec, rows: &[&Row]) -> Vec<&'static Column> {
    let is_kept = |column: &&Column| match form {
        Form::Terminal => column.drop_order == 0,
        Form::Markdown => !column.is_optional,
    };
    let has_text =
        |column: &&Column| rows.iter().any(|row| !column.text(form, spec, row).is_empty());
    let shown = COLUMNS.iter().filter(|column| (column.shown)(form, spec));
    shown.filter(|column| is_kept(column) || has_text(column)).collect()
}

pub(super) fn table(form: Form, spec: &SessionSpec, columns: &[&Column], rows: &[&Row]) -> Table {
    let cells = |row: &Row| columns.iter().map(|column| column.text(form, spec, row)).collect();
    Table {
        titles: columns.iter().map(|column| column.title_in(form, spec)).collect(),
        is_number: columns.iter().map(|column| column.is_number).collect(),
        rows: rows.iter().map(|row| (style(row), cells(row))).collect(),
    }
}

fn style(row: &Row) -> Style {
    match row.judgement.map(|judgement| judgement.verdict) {
        _ if row.below_the_floor => ERROR,
        Some(Verdict::Faster | Verdict::LessCpu) => GOOD,
        Some(Verdict::Slower | Verdict::MoreCpu) => WARN,
        Some(Verdict::NoDifference) | None => Style::new(),
        Some(Verdict::Undecided) => DIM,
    }
}
