//! The page of a report of the lab: styles and scripts. The lab passes its data.

use crate::page::{Data, ELEMENTS, Nonce, Page};

const STYLE: &str = include_str!("page.css");

/// The scripts, in order: each uses those before it.
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
    include_str!("scripts/overview.js"),
    include_str!("scripts/page.js"),
];

/// Returns the page of a report: `data` is the JSON object that its scripts read, and `fallback` the markup that
/// browsers without scripts show. The same parts and the same nonce give the same page.
pub fn html(title: &str, fallback: &str, data: &str, nonce: &Nonce) -> String {
    let page = Page {
        generator: "transect lab",
        title,
        heading: title,
        fallback,
        style: STYLE,
        data: &[("data", Data::Json(data))],
        script: &SCRIPTS.concat(),
        connects: false,
    };
    page.html(nonce)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_and_scripts_load_nothing() {
        let own = SCRIPTS.concat() + STYLE;
        // The name of a namespace is not fetched.
        let own = own.replace("http://www.w3.org/2000/svg", "");
        for address in ["http://", "https://", "@import", "url(", "innerHTML", "insertAdjacent"] {
            assert!(!own.contains(address), "{address}");
        }
    }
}
