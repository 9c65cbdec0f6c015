//! Prints or counts what was found.

use std::io::{self, Stdout};
use std::ops::ControlFlow;
use std::sync::Arc;

use transect::internal::{ListEntry, ListOutput, ListSink};
use transect::{Attributes, Flow};
use transect_sys::name_from_bytes;

use super::disk::{DiskCounts, DiskState};
use crate::args::FindArgs;
use crate::commands::list::lines;
use crate::output::columns::Column;
use crate::output::stream::Stream;
use transect_program::CliError;

#[derive(Clone, Copy, Default)]
pub(super) struct Found {
    pub(super) entries: u64,
    pub(super) disk: DiskCounts,
}

pub(super) struct Hits<'a> {
    pub(super) args: &'a FindArgs,
    pub(super) found: Found,
    /// Whether as many were printed as were requested.
    pub(super) is_full: bool,
    output: Arc<ListOutput<Stream<Stdout>>>,
    sink: ListSink<Stream<Stdout>>,
}

impl<'a> Hits<'a> {
    pub(super) fn new(args: &'a FindArgs, columns: &[Column]) -> Result<Self, CliError> {
        let output = lines::to_stdout(&args.lines, columns)?;
        let output = Arc::new(lines::ordered(&args.lines, output));
        let sink = ListSink::new(Arc::clone(&output), 0);
        Ok(Self { args, found: Found::default(), is_full: false, output, sink })
    }

    /// Adds an entry. Breaks if no more are wanted.
    pub(super) fn add(
        &mut self,
        directory: &[u8],
        name: &[u8],
        attributes: &Attributes,
    ) -> ControlFlow<()> {
        self.found.entries += 1;
        if self.args.count {
            return ControlFlow::Continue(());
        }
        let name = name_from_bytes(name.to_vec());
        let mut entry = ListEntry::new(directory, &name, attributes);
        if self.args.verify {
            let state = DiskState::of(&entry);
            self.found.disk.add(state);
            if self.args.lines.null && state == DiskState::Vanished {
                return ControlFlow::Continue(());
            }
            entry = entry.with_remark(Some(state.as_str()));
        }
        self.is_full = self.sink.add(&entry) == Flow::Quit;
        if self.is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    pub(super) fn finish(self) -> io::Result<Found> {
        drop(self.sink.finish());
        self.output.finish()?;
        Ok(self.found)
    }
}
