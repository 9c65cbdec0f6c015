//! Lines for entries: their columns, their format and their order, as the options choose them.

use std::io::{Stdout, Write};

use transect::internal::{LineFormat, ListOutput};

use super::colours::Colours;
use super::human::{HumanFormat, Layout};
use super::machine::{self, Csv, Json};
use crate::args::LineArgs;
use crate::output::columns::{Column, Columns};
use crate::output::{self, stream};
use transect_program::CliError;

/// The columns of `--long`, in the order of `ls -l`.
const LONG_COLUMNS: &[Column] = &[
    Column::Mode,
    Column::Nlink,
    Column::Owner,
    Column::Group,
    Column::Size,
    Column::Mtime,
    Column::Path,
    Column::Target,
];

/// The columns of `--json` and `--csv` without `--columns`.
const MACHINE_COLUMNS: &[Column] =
    &[Column::Path, Column::Type, Column::Size, Column::Allocated, Column::Mtime];

/// Returns an output to standard output that prints these columns.
pub(crate) fn to_stdout(
    args: &LineArgs,
    columns: &[Column],
) -> Result<ListOutput<stream::Stream<Stdout>>, CliError> {
    let style = Style::of(args, stream::stdout_is_terminal());
    let mut stdout = match style.quoted {
        true if style.colours.is_some() => stream::painted_stdout(),
        _ => stream::stdout(),
    };
    if args.csv {
        stdout.write_all(&machine::header(columns))?;
    }
    let terminator = if args.null { b'\0' } else { b'\n' };
    let mut output = ListOutput::new(stdout, terminator);
    output.format = format(args, style, columns);
    Ok(output)
}

/// Returns an output with the number and the order of lines that the arguments request.
pub(crate) fn ordered<W: Write>(args: &LineArgs, mut output: ListOutput<W>) -> ListOutput<W> {
    output.limit = args.limit.or(output.limit);
    output.sort = args.sort.map(|key| (key, args.reverse));
    output
}

pub(crate) fn columns(args: &LineArgs, is_stored: bool) -> Vec<Column> {
    let columns = match args.columns.as_slice() {
        [] if args.long => LONG_COLUMNS,
        [] if args.json || args.csv => MACHINE_COLUMNS,
        [] => &[Column::Path],
        columns => columns,
    };
    // The disk may have another target by now.
    let is_known = |column: &Column| !is_stored || *column != Column::Target;
    columns.iter().copied().filter(is_known).collect()
}

/// How names are written.
struct Style {
    /// A terminal would interpret control characters.
    quoted: bool,
    colours: Option<Colours>,
    /// The columns of the terminal.
    width: Option<usize>,
}

impl Style {
    fn of(args: &LineArgs, to_terminal: bool) -> Self {
        if args.json || args.csv || args.null {
            // The bytes are wanted; but a Windows console accepts only Unicode.
            let quoted = args.null && to_terminal && cfg!(windows);
            return Self { quoted, colours: None, width: None };
        }
        let colours = Colours::new(args.color);
        // Colours are for a terminal, even if a pager passes them on.
        let quoted = to_terminal || colours.is_some();
        Self { quoted, colours, width: output::terminal_width().filter(|&width| width > 0) }
    }
}

/// Returns the format of the lines; `None` for plain paths.
fn format(args: &LineArgs, style: Style, columns: &[Column]) -> Option<Box<dyn LineFormat>> {
    if args.json {
        return Some(Box::new(Json(Columns::new(columns))));
    }
    if args.csv {
        return Some(Box::new(Csv(Columns::new(columns))));
    }
    let are_paths_alone = columns == [Column::Path];
    if !style.quoted && are_paths_alone {
        return None;
    }
    // A path alone is never shortened: it can be copied.
    let width = style.width.filter(|_| !are_paths_alone);
    let layout = Layout::new(columns, args.long, args.bytes, width);
    Some(Box::new(HumanFormat::new(layout, style.quoted, style.colours)))
}
