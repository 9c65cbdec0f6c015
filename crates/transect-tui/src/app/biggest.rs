//! To the biggest file below a directory, and on to the next.

use transect::table::Row;

use super::{App, Reading, Ticket};
use crate::desk::Job;
use transect_text::units::counted;

/// The largest files below a directory, one after the other.
#[derive(Debug)]
pub(crate) struct Biggest {
    below: Option<Row>,
    ticket: Ticket,
    rows: Vec<Row>,
    at: usize,
}

impl Biggest {
    /// How many are gone to.
    pub(crate) const LISTED: usize = 1000;

    /// Returns the one that was gone to last.
    fn current(&self) -> Option<Row> {
        self.rows.get(self.at).copied()
    }
}

impl App {
    /// Goes to the biggest file below this directory; from there to the next below the same one.
    pub(super) fn next_biggest(&mut self) {
        if self.reading == Reading::First {
            self.say("files are known when everything has been read");
            return;
        }
        match self.series() {
            Some(biggest) => {
                biggest.at = (biggest.at + 1).min(biggest.rows.len());
                self.go_to_biggest();
            }
            None => {
                let (ticket, below) = (self.next_ticket(), self.at);
                self.biggest = Some(Biggest { below, ticket, rows: Vec::new(), at: 0 });
                self.wish_for(Job::Largest { ticket, below });
            }
        }
    }

    pub(super) fn last_biggest(&mut self) {
        match self.series() {
            Some(biggest) if biggest.at > 0 => {
                biggest.at -= 1;
                self.go_to_biggest();
            }
            Some(_) => self.say("none is bigger"),
            None => self.say("b goes to the biggest file"),
        }
    }

    pub(super) fn found_biggest(&mut self, ticket: Ticket, rows: Vec<Row>) {
        if let Some(biggest) = self.biggest.as_mut().filter(|biggest| biggest.ticket == ticket) {
            biggest.rows = rows;
            self.go_to_biggest();
        }
    }

    /// Returns the files that are gone through, if somebody is at one of them: who has gone
    /// elsewhere begins anew from there.
    fn series(&mut self) -> Option<&mut Biggest> {
        let selected = self.listing.selected();
        self.biggest.as_mut().filter(|it| it.current().is_some() && it.current() == selected)
    }

    fn go_to_biggest(&mut self) {
        let Some(Biggest { below, rows, at, .. }) = &self.biggest else { return };
        let Some(&row) = rows.get(*at) else {
            let length = rows.len();
            if let Some(biggest) = &mut self.biggest {
                biggest.at = length.saturating_sub(1);
            }
            self.say(if length == 0 { "there are no files below" } else { "no more files below" });
            return;
        };
        let place = match below {
            Some(below) => transect_text::quote::for_terminal(self.table.path(*below).as_os_str()),
            None => "all roots".to_owned(),
        };
        let (number, of) = (at + 1, counted(rows.len() as u64, "file", "files"));
        let limit = if rows.len() == Biggest::LISTED { "the biggest " } else { "" };
        self.jump(Some(row));
        self.say(format!("number {number} of {limit}{of} below {place}"));
    }
}
