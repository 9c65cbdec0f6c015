//! A framed list above everything else.

use std::ops::Range;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, BorderType, Clear, Widget};

use super::pen::Pen;
use crate::cursor::Cursor;
use crate::theme::Theme;

/// Returns the centered area for a frame with this many lines of this width.
pub(super) fn centered(area: Rect, width: usize, lines: usize) -> Rect {
    let fit = |wanted: usize, most: u16| u16::try_from(wanted).unwrap_or(u16::MAX).min(most);
    // A border and a space on each side.
    let (width, height) = (fit(width + 4, area.width), fit(lines + 2, area.height));
    Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    }
}

/// Returns the area inside the frame. On a screen too small for a frame, none is drawn.
pub(super) fn inner(area: Rect) -> Rect {
    match area.width >= 12 && area.height >= 3 {
        true => {
            Rect { x: area.x + 2, y: area.y + 1, width: area.width - 4, height: area.height - 2 }
        }
        false => area,
    }
}

/// Draws a frame with a title and, of a long list, which of its lines are visible.
pub(super) fn border(
    buffer: &mut Buffer,
    area: Rect,
    title: &str,
    (shown, total): (&Range<usize>, usize),
    theme: Theme,
) {
    let area = area.intersection(buffer.area);
    Clear.render(area, buffer);
    if inner(area) == area {
        return;
    }
    let block = Block::bordered().border_type(BorderType::Rounded);
    block.border_style(theme.dim()).render(area, buffer);
    let room = usize::from(area.width - 4);
    let title = transect_text::quote::shorten(title.to_owned(), room.saturating_sub(2));
    let mut pen = Pen::new(buffer, Rect { x: area.x + 2, width: area.width - 3, ..area }, 0);
    pen.text(&format!(" {title} "), theme.bold());
    if shown.len() < total {
        let place = format!(" {}–{} of {total} ", shown.start + 1, shown.end);
        let line = Rect { width: area.width - 2, ..area };
        Pen::new(buffer, line, area.height - 1).at_end(&place, theme.dim(), 2);
    }
}

/// Draws a list in a frame as wide as `area`, and returns the area inside it. `draw` draws the visible lines, by their
/// indices; that of the cursor is highlighted.
pub(super) fn list(
    frame: &mut Frame<'_>,
    area: Rect,
    title: &str,
    (cursor, length): (&mut Cursor, usize),
    theme: Theme,
    draw: impl Fn(Pen<'_>, usize),
) -> Rect {
    let place = centered(area, usize::from(area.width), length.max(1));
    let inside = inner(place);
    let shown = cursor.window(length, usize::from(inside.height));
    border(frame.buffer_mut(), place, title, (&shown, length), theme);
    for (at, index) in (0..).zip(shown) {
        draw(Pen::new(frame.buffer_mut(), inside, at), index);
        if index == cursor.index {
            let line = Rect { y: inside.y.saturating_add(at), height: 1, ..inside };
            let buffer = frame.buffer_mut();
            buffer.set_style(line.intersection(buffer.area), theme.selected());
        }
    }
    inside
}
