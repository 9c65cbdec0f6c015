//! Where somebody is in a list, and which part of it can be seen.

use std::ops::Range;

/// A step in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Motion {
    Down,
    Up,
    PageDown,
    PageUp,
    First,
    Last,
}

/// A place in a list, whose length is told with every question: lists change.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    index: usize,
    /// The first that can be seen, as long as the place can be seen with it.
    first: usize,
    /// How many could be seen when somebody last looked.
    page: usize,
}

impl Cursor {
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    pub(crate) fn set(&mut self, index: usize) {
        self.index = index;
    }

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

    /// Returns what can be seen of a list where there is room for `height`: the place is in it, and
    /// nothing moves that need not.
    pub(crate) fn window(&mut self, length: usize, height: usize) -> Range<usize> {
        self.page = height;
        self.index = self.index.min(length.saturating_sub(1));
        let lowest = (self.index + 1).saturating_sub(height);
        // No room is wasted below the end.
        let highest = self.index.min(length.saturating_sub(height));
        self.first = self.first.clamp(lowest.min(highest), highest);
        self.first..(self.first + height).min(length)
    }

    /// Returns what can be seen of a text that is read by moving it, and has no place of its own.
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
    fn it_shows_the_place_and_moves_no_more_than_it_has_to() {
        let mut cursor = Cursor::default();
        assert_eq!(cursor.window(10, 4), 0..4);
        cursor.set(3);
        assert_eq!(cursor.window(10, 4), 0..4);
        cursor.set(4);
        assert_eq!(cursor.window(10, 4), 1..5);
        cursor.set(2);
        assert_eq!(cursor.window(10, 4), 1..5);
        cursor.set(0);
        assert_eq!(cursor.window(10, 4), 0..4);
        cursor.set(9);
        assert_eq!(cursor.window(10, 4), 6..10);
        // A larger window shows more, and a shorter list is shown from a place that is there.
        assert_eq!(cursor.window(10, 8), 2..10);
        assert_eq!(cursor.window(3, 8), 0..3);
        assert_eq!(cursor.index(), 2);
    }

    #[test]
    fn it_lives_with_no_room_and_with_nothing_to_show() {
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
    fn a_page_leaves_one_line_to_go_on_from() {
        let mut cursor = Cursor::default();
        cursor.window(100, 10);
        cursor.move_by(Motion::PageDown, 100);
        assert_eq!(cursor.index(), 9);
        cursor.move_by(Motion::Last, 100);
        cursor.move_by(Motion::PageUp, 100);
        assert_eq!(cursor.index(), 90);
    }
}
