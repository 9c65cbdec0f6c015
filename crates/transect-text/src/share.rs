//! Parts of a whole: percentages and bars.

/// Returns a share in percent: `0%` only for nothing, `100%` only for everything.
pub fn percent(share: f64) -> String {
    let rounded = (share * 100.0).round();
    match rounded {
        r if r < 1.0 && share > 0.0 => "<1%".to_owned(),
        r if r >= 100.0 && share < 1.0 => "99%".to_owned(),
        r => format!("{r}%"),
    }
}

/// Returns a bar of `width` characters, filled by a share to an eighth of a character.
pub fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * (width * 8) as f64).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    bar.push_str(EIGHTHS[eighths % 8]);
    let filled = bar.chars().count();
    bar.push_str(&" ".repeat(width - filled));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bar_width_exact() {
        for share in [0.0, 1e-9, 0.03, 0.5, 0.999, 1.0, 2.0, f64::NAN] {
            for width in [0, 1, 7, 40] {
                assert_eq!(bar(share, width).chars().count(), width, "{share} of {width}");
            }
        }
        assert_eq!(bar(0.5, 4), "██  ");
        assert_eq!(bar(0.28, 4), "█▏  ");
    }

    #[test]
    fn percent_extremes_not_rounded() {
        for (share, text) in [
            (0.0, "0%"),
            (0.001, "<1%"),
            (0.012, "1%"),
            (0.5, "50%"),
            (0.999, "99%"),
            (1.0, "100%"),
        ] {
            assert_eq!(percent(share), text);
        }
    }
}
