//! The selected position in a list, and the visible part of the list.

use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Motion {
    Down,
    Up,
    PageDown,
    PageUp,
    First,
    Last,
}

/// A position in a list. Every call takes the length, because lists change.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    pub(crate) index: usize,
    /// The first visible index, as long as the position is visible with it.
    first: usize,
    /// The height of the list when it was last drawn.
    page: usize,
}

impl Cursor {
    pub(crate) fn move_by(&mut self, motion: Motion, length: usize) {
        let last = length.saturating_sub(1);
        let page = self.page.saturating_sub(1).max(1);
        self.index = match motion {
            Motion::Down => self.index.saturating_add(1).min(last),
            Motion::Up => self.index.saturating_sub(1),
            Motion::PageDown => self.index.saturating_add(page).min(last),
            Motion::PageUp => self.index.saturating_sub(page),
            Motion::First => 0,
            Motion::Last => last,
        };
    }

    /// Returns the visible part of a list that is `height` lines high. It contains the position and
    /// scrolls as little as possible.
    pub(crate) fn window(&mut self, length: usize, height: usize) -> Range<usize> {
        self.page = height;
        self.index = self.index.min(length.saturating_sub(1));
        let lowest = (self.index + 1).saturating_sub(height);
        // No empty lines below the end.
        let highest = self.index.min(length.saturating_sub(height));
        self.first = self.first.clamp(lowest.min(highest), highest);
        self.first..(self.first + height).min(length)
    }

    /// Returns the visible part of a text that is scrolled and has no selected line.
    pub(crate) fn scroll(&mut self, length: usize, height: usize) -> Range<usize> {
        self.page = height;
        self.index = self.index.min(length.saturating_sub(height));
        self.first = self.index;
        self.index..(self.index + height).min(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_scrolls_as_little_as_possible() {
        let mut cursor = Cursor::default();
        assert_eq!(cursor.window(10, 4), 0..4);
        cursor.index = 3;
        assert_eq!(cursor.window(10, 4), 0..4);
        cursor.index = 4;
        assert_eq!(cursor.window(10, 4), 1..5);
        cursor.index = 2;
        assert_eq!(cursor.window(10, 4), 1..5);
        cursor.index = 0;
        assert_eq!(cursor.window(10, 4), 0..4);
        cursor.index = 9;
        assert_eq!(cursor.window(10, 4), 6..10);
        // A larger window shows more; a shorter list moves the position into the list.
        assert_eq!(cursor.window(10, 8), 2..10);
        assert_eq!(cursor.window(3, 8), 0..3);
        assert_eq!(cursor.index, 2);
    }

    #[test]
    fn window_empty_list_or_no_height() {
        let mut cursor = Cursor::default();
        for motion in [Motion::Down, Motion::Up, Motion::PageDown, Motion::PageUp, Motion::Last] {
            for (length, height) in [(0, 0), (0, 5), (5, 0), (1, 1), (usize::MAX / 2, 1)] {
                cursor.move_by(motion, length);
                let window = cursor.window(length, height);
                assert!(window.end <= length && window.len() <= height);
                assert!(cursor.scroll(length, height).end <= length);
            }
        }
    }

    #[test]
    fn page_overlaps_by_one_line() {
        let mut cursor = Cursor::default();
        cursor.window(100, 10);
        cursor.move_by(Motion::PageDown, 100);
        assert_eq!(cursor.index, 9);
        cursor.move_by(Motion::Last, 100);
        cursor.move_by(Motion::PageUp, 100);
        assert_eq!(cursor.index, 90);
    }
}
