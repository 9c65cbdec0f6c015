//! What is drawn: a head, the entries, what is known of one of them, a foot; lists and questions
//! above. Each part is a widget with all that it shows, made here out of the state.

mod entries;
mod foot;
mod head;
mod help;
mod lists;
mod panel;
mod pen;
mod popup;
mod removal;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::app::{App, Over};
use crate::look::Look;
use crate::theme::Theme;

/// From this width on there is room beside the entries to describe one of them.
const WIDE: u16 = 100;
/// How much of it is given away, at least and at most.
const PANEL: RangeInclusive<u16> = 40..=60;

/// Draws everything. The state learns what can be seen of it: how far a page is.
pub(crate) fn draw(frame: &mut Frame<'_>, app: &mut App, look: &Look) {
    let theme = Theme::new(look.colour);
    let places = Places::of(frame.area(), app.panel.wanted);
    app.panel.shown = places.panel.is_some();
    head::draw(frame, places.head, app, theme);
    entries::draw(frame, places.entries, app, look, theme);
    if let Some(area) = places.panel {
        panel::draw(frame, area, app, look, theme);
    }
    foot::draw(frame, places.foot, app, theme);
    let above = Rect { height: frame.area().height.saturating_sub(1), ..frame.area() };
    match app.over {
        Over::Nothing | Over::Prompt(_) => {}
        Over::Help(_) => help::draw(frame, above, app, theme),
        Over::Errors(_) => lists::draw_errors(frame, above, app, theme),
        Over::Kept(_) => lists::draw_kept(frame, above, app, theme),
        Over::Question(_) => removal::draw_question(frame, above, app, theme),
        Over::Work(_) => removal::draw_work(frame, above, app, theme),
        Over::Found(_) => lists::draw_found(frame, above, app, theme),
    }
}

/// Where the parts are.
#[derive(Debug)]
struct Places {
    head: Rect,
    entries: Rect,
    panel: Option<Rect>,
    foot: Rect,
}

impl Places {
    /// Divides a screen: where it is low, entries are what is left last.
    fn of(area: Rect, panel: Option<bool>) -> Self {
        let head_height = u16::from(area.height >= 3);
        let foot_height = u16::from(area.height >= 2);
        let rest = area.height - head_height - foot_height;
        let middle = Rect { y: area.y + head_height, height: rest, ..area };
        let (entries, panel) = match panel.unwrap_or(area.width >= WIDE) {
            true => beside_or_below(middle),
            false => (middle, None),
        };
        Self {
            head: Rect { height: head_height, ..area },
            entries,
            panel,
            foot: Rect { y: area.bottom() - foot_height, height: foot_height, ..area },
        }
    }
}

fn beside_or_below(middle: Rect) -> (Rect, Option<Rect>) {
    if middle.width >= WIDE {
        let width = (middle.width / 4).clamp(*PANEL.start(), *PANEL.end());
        let entries = Rect { width: middle.width - width, ..middle };
        return (entries, Some(Rect { x: entries.right(), width, ..middle }));
    }
    // Half of a low screen, and no more than there is to say.
    let height = (middle.height / 2).min(panel::LINES);
    let entries = Rect { height: middle.height - height, ..middle };
    (entries, Some(Rect { y: entries.bottom(), height, ..middle }))
}
