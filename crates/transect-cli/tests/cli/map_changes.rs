//! Maps of what changed between two trees, in a real browser.

use serde_json::json;

use crate::harness::TestEnv;
use crate::map::{ROWS, assert_silent, nested, open, text};
use crate::map_served::Served;

#[test]
fn map_changes_shows_growth_and_what_is_gone() {
    let env = TestEnv::new();
    nested(&env);
    env.write("tree/large/gone.iso", 900_000);
    env.write("tree/large/shrinks", 500_000);
    env.mkdir("tree/moves");
    env.write("tree/moves/here", 50_000);
    let _ =
        env.transect(["snapshot", "--all-times", "tree", "-o", "before.parquet"]).exits(0).quiet();
    let _ = env.sh("cd tree && rm large/gone.iso && mv moves moved").exits(0);
    env.write("tree/large/shrinks", 100_000);
    env.write("tree/large/inner/film.mkv", 4_000_000);
    env.write("tree/small/<b>new", 700_000);
    let test = "map_changes_shows_growth_and_what_is_gone";
    let Some(browser) = open(test, &env, &["before.parquet", "tree"]) else { return };
    assert_eq!(text(&browser, "#colours option"), "by change");
    let classes =
        "return [...document.querySelectorAll('.legend button')].map(b => b.dataset.class)";
    browser.wait_for(
        &format!("{classes}.filter(c => c !== 'unchanged' && c !== 'changed, same size').join()"),
        &json!("added,grew,moved,less than half left,removed"),
    );
    let legend = text(&browser, "#legend");
    assert!(legend.contains("removed\u{2212}") && legend.contains("added+"), "{legend}");
    let facts = text(&browser, ".facts");
    assert!(facts.contains(" now · ") && facts.contains(" before · +"), "{facts}");
    assert!(text(&browser, "#disk").contains("+"));
    // The largest changes, largest first.
    browser.click("#tab-changes");
    let rows = browser.run(ROWS);
    assert_eq!(rows, json!(["film.mkv", "gone.iso", "<b>new", "shrinks"]), "{rows}");
    let cells = browser
        .run("return [...document.querySelectorAll('tbody tr')].map(r => r.cells[1].textContent)");
    assert_eq!(cells[1], "gone", "{cells}");
    let changes = browser.run(
        "return [...document.querySelectorAll('tbody tr')].map(r => r.cells[2].textContent[0])",
    );
    assert_eq!(changes, json!(["+", "\u{2212}", "+", "\u{2212}"]));
    // What moved is where it is now, and says where it was.
    browser.run("location.hash = '#/moved'");
    browser.wait_for(
        "return document.querySelector('#detail .path').textContent.endsWith('/moved')",
        &json!(true),
    );
    let detail = text(&browser, "#detail");
    assert!(detail.contains("moved from") && detail.contains("/tree/moves"), "{detail}");
    browser.prefer_dark(true);
    browser.wait_until_drawn();
    assert_silent(&browser);
    // Served, the page is the same, and reports that it is open.
    let served = Served::map(&env, &["before.parquet", "tree"]);
    browser.visit(&served.address);
    browser.wait_for("return document.documentElement.dataset.ready", &json!("yes"));
    assert_eq!(text(&browser, ".facts"), facts);
    browser.run("fetch('alive').then(answer => { window.heard = answer.status })");
    browser.wait_for("return window.heard", &json!(204));
    assert_silent(&browser);
}

#[test]
fn map_changes_of_equal_trees_and_wrong_options() {
    let env = TestEnv::new();
    nested(&env);
    let _ = env.transect(["snapshot", "tree", "-o", "tree.parquet"]).exits(0).quiet();
    let page = env.transect(["map", "--html", "-", "--diff", "tree", "tree"]).exits(0).quiet();
    assert!(page.stdout_text().contains(r#""changes":{"before_read_at":"#));
    for (args, word) in [
        (&["--allow-removal", "tree.parquet", "tree"][..], "does not remove"),
        (&["-t", "f", "tree.parquet", "tree"], "leave out filters"),
        (&["--diff", "tree", "tree", "tree"], "--diff needs two PATHs"),
        (&["tree.parquet", "missing"], "cannot access"),
    ] {
        let refused = env.transect(["map"].iter().chain(args)).exits(2);
        assert!(refused.stderr_text().contains(word), "{args:?}: {}", refused.text());
    }
}
