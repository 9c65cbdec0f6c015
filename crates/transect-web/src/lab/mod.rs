//! The page of a report of the lab: styles and scripts. The lab passes its data.

use crate::page::{Data, ELEMENTS, Nonce, Page};

const STYLE: &str = include_str!("page.css");

/// The scripts, with those of elements between both.
const FIRST_SCRIPT: &str = scripts!(format);
const SCRIPTS: &str = scripts! {
    nodes session plot samples ratios calls scaling detail table articles head overview page
};

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
        script: &[FIRST_SCRIPT, ELEMENTS, SCRIPTS].concat(),
        connects: false,
    };
    page.html(nonce)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_and_scripts_load_nothing() {
        let own = [FIRST_SCRIPT, ELEMENTS, SCRIPTS, STYLE].concat();
        // The name of a namespace is not fetched.
        let own = own.replace("http://www.w3.org/2000/svg", "");
        for address in ["http://", "https://", "@import", "url(", "innerHTML", "insertAdjacent"] {
            assert!(!own.contains(address), "{address}");
        }
    }
}
