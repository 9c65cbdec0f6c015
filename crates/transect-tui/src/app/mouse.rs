//! The mouse: a click selects an entry, a click on the selected entry opens it, the wheel scrolls.

use std::ops::Range;

use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::App;
use crate::cursor::Motion;
use crate::keys::{Action, Context};

const LINES_PER_STEP: usize = 3;

/// Where entries were drawn last: one line for each of `entries`.
#[derive(Clone, Debug, Default)]
pub(crate) struct DrawnEntries {
    pub(crate) area: Rect,
    pub(crate) entries: Range<usize>,
}

impl App {
    pub(crate) fn mouse(&mut self, event: MouseEvent) {
        let motion = match event.kind {
            MouseEventKind::ScrollDown => Motion::Down,
            MouseEventKind::ScrollUp => Motion::Up,
            MouseEventKind::Down(MouseButton::Left) => {
                return self.click(Position { x: event.column, y: event.row });
            }
            _ => return,
        };
        self.message = None;
        for _ in 0..LINES_PER_STEP {
            self.act(Action::Move(motion));
        }
    }

    fn click(&mut self, at: Position) {
        let DrawnEntries { area, entries } = &self.drawn;
        if self.context() != Context::Directory || !area.contains(at) {
            return;
        }
        let index = entries.start + usize::from(at.y - area.y);
        if !entries.contains(&index) {
            return;
        }
        self.message = None;
        if index == self.listing.index() {
            self.enter();
        } else {
            self.listing.select_at(index);
        }
    }
}
