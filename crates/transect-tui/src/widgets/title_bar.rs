//! The first line: the current directory and its totals.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

use super::pen::Pen;
use crate::app::App;
use crate::theme::Theme;
use transect_text::quote;
use transect_text::units::{bytes, counted};

struct TitleBar {
    path: String,
    /// A long and a short text.
    sums: [String; 2],
    theme: Theme,
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, app: &App, theme: Theme) {
    let (path, sums) = match app.directory {
        Some(at) => (quote::for_terminal(app.table.path(at).as_os_str()), app.table.totals(at)),
        None => ("all roots".to_owned(), app.table.grand_total()),
    };
    let size = bytes(app.order.measure.of(&sums));
    let entries = counted(sums.entries(), "entry", "entries");
    let sums = [format!("{size} in {entries}"), size];
    frame.render_widget(TitleBar { path, sums, theme }, area);
}

impl Widget for TitleBar {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        buffer.set_style(area.intersection(buffer.area), self.theme.selected());
        let style = self.theme.selected();
        let mut pen = Pen::new(buffer, area, 0);
        let [full, short] = &self.sums;
        let sums = if area.width >= 60 { full } else { short };
        pen.skip(1);
        pen.at_end(&format!("{sums} "), style, 12);
        pen.name(self.path, self.theme.selected().patch(self.theme.bold()));
    }
}
