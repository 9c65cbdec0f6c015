//! One line of cells, written from the left.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use transect_text::quote::{shorten, width};

/// Writes a line. Text outside the line or the screen is clipped, so callers need not check sizes.
pub(super) struct Pen<'b> {
    buffer: &'b mut Buffer,
    x: u16,
    y: u16,
    end: u16,
}

impl<'b> Pen<'b> {
    /// Returns a pen at the start of line `line` of an area.
    pub(super) fn new(buffer: &'b mut Buffer, area: Rect, line: u16) -> Self {
        let y = area.y.saturating_add(line);
        let drawn = area.intersection(buffer.area);
        let is_there = y < drawn.bottom() && line < area.height;
        let end = if is_there { drawn.right() } else { drawn.x };
        Self { buffer, x: drawn.x, y, end }
    }

    /// Returns how many columns are left.
    pub(super) fn room(&self) -> usize {
        usize::from(self.end.saturating_sub(self.x))
    }

    pub(super) fn text(&mut self, text: &str, style: Style) {
        if self.room() > 0 {
            (self.x, _) = self.buffer.set_stringn(self.x, self.y, text, self.room(), style);
        }
    }

    /// Writes a text, right-aligned in `columns` columns, and a gap of one; nothing without columns.
    pub(super) fn right(&mut self, columns: usize, text: &str, style: Style) {
        if columns > 0 {
            self.skip(columns.saturating_sub(width(text)));
            self.text(text, style);
            self.skip(1);
        }
    }

    /// Writes a text, left-aligned in `columns` columns.
    pub(super) fn left(&mut self, columns: usize, text: &str, style: Style) {
        self.text(text, style);
        self.skip(columns.saturating_sub(width(text)));
    }

    /// Writes a text at the end of the line, if `least` columns remain.
    pub(super) fn at_end(&mut self, text: &str, style: Style, least: usize) {
        let columns = width(text);
        if columns > 0 && columns + least <= self.room() {
            let start = self.end - columns as u16;
            self.buffer.set_stringn(start, self.y, text, columns, style);
            self.end = start.saturating_sub(1);
        }
    }

    /// Writes a name, shortened in the middle if necessary.
    pub(super) fn name(&mut self, name: String, style: Style) {
        let room = self.room();
        self.text(&shorten(name, room), style);
    }

    pub(super) fn skip(&mut self, columns: usize) {
        let columns = columns.min(self.room());
        self.x += columns as u16;
    }
}
