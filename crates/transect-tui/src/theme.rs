//! Styles, in the terminal's own foreground colours; the background is never changed. No yellow,
//! which is hard to read on white, and no blue, which is hard to read on black. Colours only repeat
//! what letters or signs show.

use ratatui::style::{Color, Modifier, Style};

/// The styles, with or without colours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theme {
    colour: bool,
}

impl Theme {
    pub(crate) fn new(colour: bool) -> Self {
        Self { colour }
    }

    fn coloured(self, colour: Color) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }

    pub(crate) fn plain(self) -> Style {
        Style::new()
    }

    pub(crate) fn bold(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(crate) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(crate) fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Column titles, underlined as a rule.
    pub(crate) fn titles(self) -> Style {
        self.dim().add_modifier(Modifier::UNDERLINED)
    }

    pub(crate) fn bar(self) -> Style {
        self.coloured(Color::Cyan)
    }

    pub(crate) fn mark(self) -> Style {
        self.coloured(Color::Magenta).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn warning(self) -> Style {
        self.coloured(Color::Magenta)
    }

    pub(crate) fn error(self) -> Style {
        self.coloured(Color::Red).add_modifier(Modifier::BOLD)
    }
}
