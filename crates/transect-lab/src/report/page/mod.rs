//! The report as a page: one file that needs nothing beside it, and asks nothing of any network.
//!
//! ```text
//! transect_web::page ── the skeleton, with places for all that follows
//! page.css, scripts/ ── looks and behaviour, as real files
//! plain.rs ── the report as plain tables: what a browser without scripts shows
//! the report as JSON ── what the scripts draw from
//! ```
//!
//! Names in a session are anybody's: methods, paths, what a process said when it died. They are data
//! and never markup, three times over: in the plain tables they are escaped, in the JSON there is
//! neither `<` nor `&`, and the scripts write text only. Should all that fail, the page's policy runs
//! no script and takes no style but those that carry its own nonce, and loads nothing.

mod plain;

use serde::Serialize;
use transect_web::page::{self, ELEMENTS, Nonce, Page};

use crate::report::{Report, csv};

const STYLE: &str = include_str!("page.css");

/// What the page does, in the order in which it is put together: each file uses those before it.
const SCRIPTS: &[&str] = &[
    include_str!("scripts/format.js"),
    ELEMENTS,
    include_str!("scripts/nodes.js"),
    include_str!("scripts/session.js"),
    include_str!("scripts/plot.js"),
    include_str!("scripts/samples.js"),
    include_str!("scripts/ratios.js"),
    include_str!("scripts/calls.js"),
    include_str!("scripts/scaling.js"),
    include_str!("scripts/detail.js"),
    include_str!("scripts/table.js"),
    include_str!("scripts/articles.js"),
    include_str!("scripts/head.js"),
    include_str!("scripts/page.js"),
];

/// What the scripts draw from.
#[derive(Serialize)]
struct Data<'r> {
    report: &'r Report<'r>,
    /// The seed once more: it has more digits than a number of the scripts holds.
    seed: String,
    /// The names of the columns, for who copies the table.
    csv_head: String,
    /// A line for each row and what is not ranked, for each ranking.
    csv: Vec<Vec<String>>,
}

/// Returns the page of a report: the same for the same session and the same nonce.
///
/// # Errors
/// A number in it is none, which JSON cannot say.
pub fn html(report: &Report<'_>, nonce: &Nonce) -> serde_json::Result<String> {
    let rankings = report.rankings.iter();
    let data = Data {
        report,
        seed: report.session.seed.to_string(),
        csv_head: csv::header(),
        csv: rankings.map(|ranking| csv::lines(report.session, ranking)).collect(),
    };
    let data = serde_json::to_string(&data)?;
    let title = title(report);
    let page = Page {
        generator: "transect lab",
        title: &title,
        heading: &title,
        plain: &plain::write(report),
        style: STYLE,
        data: &[("data", page::Data::Json(&data))],
        script: &SCRIPTS.concat(),
        asks: false,
    };
    Ok(page.html(nonce))
}

/// Returns the name of the page: the first tree and how many more, and how many methods.
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

    /// Returns what is between two texts.
    fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
        let rest = text.split_once(from).unwrap_or_else(|| panic!("no {from}")).1;
        rest.split_once(to).unwrap_or_else(|| panic!("no {to}")).0
    }

    #[test]
    fn no_name_is_markup() {
        let page = page();
        assert!(!page.contains("<img") && !page.contains("alert(1)</script>"));
        assert_eq!(page.matches("<script").count(), 2, "the data and the script");
        assert_eq!(page.matches("</script").count(), 2);
        assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;"), "in the plain table");
        assert!(page.contains("{{script}}"), "a name like a place is a name");
    }

    #[test]
    fn the_data_is_the_report() {
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
    fn nothing_is_loaded_and_nothing_foreign_runs() {
        let page = page();
        let policy = between(&page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        let nonce = between(policy, "script-src 'nonce-", "'");
        assert!(page.contains(&format!("<script nonce=\"{nonce}\">")));
        let own = SCRIPTS.concat() + STYLE;
        for address in ["http://", "https://", "@import", "url(", "innerHTML", "insertAdjacent"] {
            // The name of a namespace is no address, and nothing is asked there.
            let own = own.replace("http://www.w3.org/2000/svg", "");
            assert!(!own.contains(address), "{address}");
        }
    }

    #[test]
    fn the_same_session_is_the_same_page() {
        let data = data();
        let page = || html(&Report::of(&data), &Nonce::predictable(1)).unwrap();
        assert!(page() == page());
    }
}
