//! Lists for people: aligned columns, sizes with units, local times.

use std::ffi::{OsStr, OsString};

use transect::FieldMask;
use transect::internal::{LineFormat, ListEntry, ListTotals};

use super::colours::Colours;
use super::value;
use crate::output::columns::{Column, Columns, Value};
use crate::output::time::TimeFormatter;
use crate::output::{quote, terminal_width, units, wrap, wrap_lines};

const GAP: usize = 2;

const ARROW: &str = " -> ";

/// The width that a name keeps beside other columns.
const LEAST_NAME: usize = 16;

/// What a list in long form leaves out on a narrow terminal, in this order; then the time of day, then
/// the date.
const LEFT_OUT: [Column; 4] = [Column::Nlink, Column::Group, Column::Owner, Column::Mode];

/// The columns that fit on the terminal.
#[derive(Debug)]
pub(super) struct Layout {
    columns: Vec<Column>,
    /// The columns of the terminal; `None` elsewhere: nothing is left out or shortened.
    width: Option<usize>,
    /// Show sizes without units.
    exact: bool,
    /// Show days, not seconds.
    only_dates: bool,
}

impl Layout {
    /// Returns the layout of these columns. If the terminal is too narrow, `may_leave_out` allows to leave
    /// some of them out, so that a third of the line is left for the names.
    pub(super) fn new(
        columns: &[Column],
        may_leave_out: bool,
        exact: bool,
        width: Option<usize>,
    ) -> Self {
        let mut layout = Self { columns: columns.to_vec(), width, exact, only_dates: false };
        let Some(width) = width else { return layout };
        let least = LEAST_NAME.max(width / 3);
        let is_too_wide = |layout: &Self| layout.width_beside_names(0) + least > width;
        for column in LEFT_OUT.into_iter().filter(|_| may_leave_out) {
            if is_too_wide(&layout) {
                layout.columns.retain(|&it| it != column);
            }
        }
        layout.only_dates = is_too_wide(&layout);
        if may_leave_out && is_too_wide(&layout) {
            layout.columns.retain(|column| !column.field().intersects(FieldMask::TIMES));
        }
        layout
    }

    fn width_of(&self, column: Column) -> usize {
        match column {
            Column::Size | Column::Allocated if self.exact => 12,
            column if self.only_dates && column.field().intersects(FieldMask::TIMES) => 10,
            column => column.width(),
        }
    }

    /// Returns the width of the columns from `first` on, with gaps, except names and targets.
    fn width_beside_names(&self, first: usize) -> usize {
        let columns = self.columns.iter().skip(first).filter(|column| !is_name(**column));
        columns.map(|&column| self.width_of(column) + GAP).sum()
    }

    /// Returns the room for the name in column `place`, if the line is `used` columns long.
    fn room(&self, place: usize, used: usize) -> Option<usize> {
        let later = self.columns.iter().skip(place + 1);
        let names = later.filter(|&&column| is_name(column) && column != Column::Target).count();
        let taken = used + self.width_beside_names(place + 1) + names * (LEAST_NAME + GAP);
        self.width.map(|width| width.saturating_sub(taken).max(LEAST_NAME))
    }

    fn text(&self, value: Value, times: &TimeFormatter) -> String {
        match value {
            Value::Bytes(bytes) if self.exact => bytes.to_string(),
            Value::Time(time) if self.only_dates => times.date(time),
            value => value.text(times),
        }
    }
}

fn is_name(column: Column) -> bool {
    matches!(column, Column::Name | Column::Path | Column::Target)
}

/// Columns with the width of typical values: lines are printed before the widest one is found.
#[derive(Debug)]
pub(super) struct HumanFormat {
    layout: Layout,
    columns: Columns,
    /// Quote names, for a terminal.
    quoted: bool,
    colours: Option<Colours>,
    times: TimeFormatter,
}

impl HumanFormat {
    pub(super) fn new(layout: Layout, quoted: bool, colours: Option<Colours>) -> Self {
        let columns = Columns::new(&layout.columns);
        let times = TimeFormatter::for_fields(columns.fields());
        Self { layout, columns, quoted, colours, times }
    }

    /// Appends a name of at most `room` columns, and returns its width.
    fn write_name(
        &self,
        column: Column,
        name: &OsStr,
        room: Option<usize>,
        entry: &ListEntry<'_>,
        line: &mut Vec<u8>,
    ) -> usize {
        if !self.quoted {
            line.extend_from_slice(name.as_encoded_bytes());
            return name.len();
        }
        let text = quote::for_terminal(name);
        let text = match room {
            Some(room) => quote::shorten(text, room),
            None => text,
        };
        let width = quote::width(&text);
        match self.colours.as_ref().filter(|_| column != Column::Target) {
            None => line.extend_from_slice(text.as_bytes()),
            Some(colours) => {
                let own = quote::for_terminal(entry.name());
                let is_below = column == Column::Path && text.ends_with(&own);
                let (above, own) = text.split_at(if is_below { text.len() - own.len() } else { 0 });
                colours.paint(above, own, entry, line);
            }
        }
        width
    }

    /// Returns the target that follows a path or a name, if the next column shows it.
    fn target_after(&self, place: usize, entry: &ListEntry<'_>) -> Option<OsString> {
        let is_next = self.layout.columns.get(place + 1) == Some(&Column::Target);
        match is_next.then(|| value::of_column(&self.columns, Column::Target, entry))? {
            Value::Name(target) => Some(target),
            _ => None,
        }
    }

    /// Appends a name and its target, in at most `room` columns together; returns their width.
    fn write_link(
        &self,
        column: Column,
        name: &OsStr,
        target: &OsStr,
        room: Option<usize>,
        entry: &ListEntry<'_>,
        line: &mut Vec<u8>,
    ) -> usize {
        let rooms = room.map(|room| {
            let room = room.saturating_sub(ARROW.len());
            let [of_name, of_target] =
                [name, target].map(|name| quote::width(&quote::for_terminal(name)));
            let of_target = of_target.min(room.saturating_sub(of_name).max(room / 3));
            (room - of_target, of_target)
        });
        let width = self.write_name(column, name, rooms.map(|(name, _)| name), entry, line);
        line.extend_from_slice(ARROW.as_bytes());
        let room = rooms.map(|(_, target)| target);
        width + ARROW.len() + self.write_name(Column::Target, target, room, entry, line)
    }
}

impl LineFormat for HumanFormat {
    fn fields(&self) -> FieldMask {
        let coloured = if self.colours.is_some() { FieldMask::MODE } else { FieldMask::empty() };
        self.columns.fields() | coloured
    }

    fn write(&self, entry: &ListEntry<'_>, line: &mut Vec<u8>) {
        let begin = line.len();
        // Spaces that are due before the next column, and the width of the line without them.
        let (mut padding, mut used) = (0_usize, 0_usize);
        for (place, column) in self.columns.iter().enumerate() {
            if column == Column::Target && place > 0 {
                // As in ls: directly after the name, and nothing for other types.
                if !is_name(self.layout.columns[place - 1])
                    && let Value::Name(target) = value::of_column(&self.columns, column, entry)
                {
                    line.extend_from_slice(ARROW.as_bytes());
                    let room = self.layout.room(place, used + ARROW.len());
                    let written = self.write_name(column, &target, room, entry, line);
                    used += ARROW.len() + written;
                    padding = padding.saturating_sub(ARROW.len() + written);
                }
                continue;
            }
            let value = value::of_column(&self.columns, column, entry);
            let gap = padding + if place > 0 { GAP } else { 0 };
            line.resize(line.len() + gap, b' ');
            used += gap;
            let width = self.layout.width_of(column);
            if let Value::Name(name) = value {
                let room = self.layout.room(place, used);
                let written = match self.target_after(place, entry) {
                    Some(target) => self.write_link(column, &name, &target, room, entry, line),
                    None => self.write_name(column, &name, room, entry, line),
                };
                used += written;
                // Where names are cut, the column is as wide as the room.
                let width = room.filter(|&room| room < 2 * width).unwrap_or(width);
                padding = width.saturating_sub(written);
                continue;
            }
            let text = self.layout.text(value, &self.times);
            let missing = width.saturating_sub(text.chars().count());
            let before = if column.is_left_aligned() { 0 } else { missing };
            line.resize(line.len() + before, b' ');
            line.extend_from_slice(text.as_bytes());
            used += before + text.chars().count();
            padding = missing - before;
        }
        // A single path stays whole, so that it can be copied.
        if self.columns.iter().count() > 1
            && let Some(width) = self.layout.width.filter(|&width| used > width)
        {
            let text = String::from_utf8_lossy(&line[begin..]);
            let wrapped = wrap_lines(&text, width);
            line.splice(begin.., wrapped.into_bytes());
        }
    }
}

/// Returns the line of `--total`; several lines on a narrow terminal.
pub(super) fn total_lines(totals: &ListTotals, exact: bool) -> String {
    let bytes = |bytes: u64| match exact {
        true => format!("{bytes} B"),
        false => units::bytes(bytes),
    };
    let mut text = format!(
        "total: {}, apparent {}, disk usage {}",
        units::counted(totals.entries, "entry", "entries"),
        bytes(totals.sizes.apparent),
        bytes(totals.sizes.disk_usage()),
    );
    if totals.hard_links() > 0 {
        let further = units::counted(totals.hard_links(), "further name", "further names");
        text += &format!(", {further} of files counted once");
    }
    let width = terminal_width().filter(|&width| width > 0).unwrap_or(usize::MAX);
    wrap(&text, width).join("\n") + "\n"
}
