//! Drawing: title bar, entries, panel, status line, and overlays.

mod duplicates;
mod entries;
mod help;
mod lists;
mod panel;
mod pen;
mod popup;
mod removal;
mod status_line;
#[cfg(test)]
mod tests;
mod title_bar;

use std::ops::RangeInclusive;

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::app::{App, Overlay};
use crate::theme::Theme;
use crate::view_options::ViewOptions;

/// From this width on, the panel is beside the entries.
const MIN_WIDE: u16 = 100;
const PANEL_WIDTH: RangeInclusive<u16> = 40..=60;

/// Draws the state, and records in it how many lines are visible.
pub(crate) fn draw(frame: &mut Frame<'_>, app: &mut App, view: &ViewOptions) {
    let theme = Theme::new(view.colour);
    let regions = Regions::of(frame.area(), app.panel.wanted);
    app.panel.shown = regions.panel.is_some();
    title_bar::draw(frame, regions.title_bar, app, theme);
    entries::draw(frame, regions.entries, app, view, theme);
    if let Some(area) = regions.panel {
        panel::draw(frame, area, app, view, theme);
    }
    status_line::draw(frame, regions.status_line, app, theme);
    let above = Rect { height: frame.area().height.saturating_sub(1), ..frame.area() };
    match app.overlay {
        Overlay::None | Overlay::Prompt(_) => {}
        Overlay::Help(_) => help::draw(frame, above, app, theme),
        Overlay::Errors(_) => lists::draw_errors(frame, above, app, theme),
        Overlay::KeptEntries(_) => lists::draw_kept(frame, above, app, theme),
        Overlay::Confirmation(_) => removal::draw_confirmation(frame, above, app, theme),
        Overlay::RemovalProgress(_) => removal::draw_progress(frame, above, app, theme),
        Overlay::Duplicates => duplicates::draw(frame, above, app, theme),
        Overlay::SearchResults(_) => lists::draw_found(frame, above, app, theme),
    }
}

#[derive(Debug)]
struct Regions {
    title_bar: Rect,
    entries: Rect,
    panel: Option<Rect>,
    status_line: Rect,
}

impl Regions {
    /// Divides the screen. On a low screen, only entries remain.
    fn of(area: Rect, panel: Option<bool>) -> Self {
        let head_height = u16::from(area.height >= 3);
        let foot_height = u16::from(area.height >= 2);
        let rest = area.height - head_height - foot_height;
        let middle = Rect { y: area.y + head_height, height: rest, ..area };
        let (entries, panel) = match panel.unwrap_or(area.width >= MIN_WIDE) {
            true => beside_or_below(middle),
            false => (middle, None),
        };
        Self {
            title_bar: Rect { height: head_height, ..area },
            entries,
            panel,
            status_line: Rect { y: area.bottom() - foot_height, height: foot_height, ..area },
        }
    }
}

fn beside_or_below(middle: Rect) -> (Rect, Option<Rect>) {
    if middle.width >= MIN_WIDE {
        let width = (middle.width / 4).clamp(*PANEL_WIDTH.start(), *PANEL_WIDTH.end());
        let entries = Rect { width: middle.width - width, ..middle };
        return (entries, Some(Rect { x: entries.right(), width, ..middle }));
    }
    // At most half of the height.
    let height = (middle.height / 2).min(panel::LINES);
    let entries = Rect { height: middle.height - height, ..middle };
    (entries, Some(Rect { y: entries.bottom(), height, ..middle }))
}
