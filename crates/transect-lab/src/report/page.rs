//! The report of a session as an HTML page: one self-contained file that works offline.
//!
//! `transect_web::lab` has the template, styles and scripts. The report as JSON is the data of the scripts;
//! browsers without scripts show the report as Markdown.
//!
//! Names in a session are untrusted: methods, paths, error output of processes. Three measures keep them
//! from becoming markup: the Markdown is escaped, the JSON contains neither `<` nor `&`, and the scripts only
//! set text. As a last defence, the page's policy allows only scripts and styles with its own nonce, and loads
//! nothing.

use serde::Serialize;
use transect_web::lab;
use transect_web::page::{Nonce, escape_html};

use crate::report::{Report, csv, text};

#[derive(Serialize)]
struct Data<'r> {
    report: &'r Report<'r>,
    /// The experiment: `walk`, `transform` or `attributes`.
    kind: &'static str,
    /// The seed as text: it does not fit into a JavaScript number.
    seed: String,
    /// The CSV header, for copying the table.
    csv_head: String,
    csv: Vec<Vec<String>>,
}

/// Returns the page of a report. The same session and nonce give the same page.
///
/// # Errors
/// The report contains a number that JSON cannot represent.
pub fn html(report: &Report<'_>, nonce: &Nonce) -> serde_json::Result<String> {
    let rankings = report.rankings.iter();
    let data = Data {
        report,
        kind: report.session.words().kind,
        seed: report.session.seed.to_string(),
        csv_head: csv::header(),
        csv: rankings.map(|ranking| csv::lines(report, ranking)).collect(),
    };
    let data = serde_json::to_string(&data)?;
    let mut fallback = Vec::new();
    text::write_markdown(&mut fallback, report).expect("BUG: memory can be written to");
    let fallback = String::from_utf8_lossy(&fallback);
    // The escape makes line ends visible.
    let lines: Vec<String> = fallback.lines().map(escape_html).collect();
    let fallback = format!("<pre>\n{}\n</pre>\n", lines.join("\n"));
    Ok(lab::html(&title(report), &fallback, &data, nonce))
}

/// Returns the title: the number of methods and the names of the first datasets.
fn title(report: &Report<'_>) -> String {
    let datasets = &report.session.datasets;
    let names: Vec<&str> = datasets.iter().take(3).map(|dataset| dataset.name.as_str()).collect();
    let more = match datasets.len().saturating_sub(names.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let methods = report.session.cells.iter().filter(|cell| report.session.is_method(&cell.name));
    let methods = methods.count();
    format!("{methods} methods on {}{more} · transect lab", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{NAMES, data};

    fn page() -> String {
        html(&Report::of(&data()), &Nonce::predictable(1)).unwrap()
    }

    /// Returns the text between two markers.
    fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
        let rest = text.split_once(from).unwrap_or_else(|| panic!("no {from}")).1;
        rest.split_once(to).unwrap_or_else(|| panic!("no {to}")).0
    }

    #[test]
    fn page_names_never_become_markup() {
        let page = page();
        assert!(!page.contains("<img") && !page.contains("alert(1)</script>"));
        assert_eq!(page.matches("<script").count(), 2, "the data and the script");
        assert_eq!(page.matches("</script").count(), 2);
        assert!(page.contains("&lt;img src=x onerror=alert(1)\\&gt;"), "in the fallback");
        assert!(page.contains("{{script}}"), "a name like a placeholder stays a name");
    }

    #[test]
    fn page_data_equals_report() {
        let page = page();
        let json = between(&page, "<script type=\"application/json\" id=\"data\">", "</script>");
        let embedded: serde_json::Value = serde_json::from_str(json).unwrap();
        let report = serde_json::to_value(Report::of(&data())).unwrap();
        assert_eq!(embedded["report"], report);
        let cells: Vec<&str> = report["session"]["cells"]
            .as_array()
            .unwrap()
            .iter()
            .map(|cell| cell["name"].as_str().unwrap())
            .collect();
        for name in NAMES {
            assert!(cells.contains(name), "{name:?}");
        }
        assert_eq!(embedded["csv"][0].as_array().unwrap().len(), cells.len());
    }

    #[test]
    fn page_loads_nothing_and_runs_only_its_own_script() {
        let page = page();
        let policy = between(&page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        let nonce = between(policy, "script-src 'nonce-", "'");
        assert!(page.contains(&format!("<script nonce=\"{nonce}\">")));
    }

    #[test]
    fn page_is_reproducible() {
        let data = data();
        let page = || html(&Report::of(&data), &Nonce::predictable(1)).unwrap();
        assert!(page() == page());
    }
}
