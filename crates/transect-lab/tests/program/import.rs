//! Tests of `transect lab import`.

use std::fmt::Write;

use crate::harness::TestEnv;

/// Writes a listing of two APIs and two blocks; the second API loses with large blocks.
fn listing(env: &TestEnv, name: &str, first_line: &str) {
    let mut text = format!("{first_line}\r\n");
    for (api, block, seconds) in [("CRT", 1, 4), ("CRT", 16, 3), ("STD", 1, 4), ("STD", 16, 6)] {
        let _ = write!(text, "-- TEST {block}kb {api} --\r\n\r\n");
        for run in [120, 80, 100, 110, 90] {
            let (blocks, bytes) = (4096 / block, block * 1024);
            let _ = write!(
                text,
                "Transformed {blocks} blocks of {bytes} bytes from in.bin into out.bin\r\n\
                 Real Time: 00:00:0{seconds}.{run:03}\r\n\
                 User Time: 00:00:00.015\r\nSys Time:  00:00:00.500\r\n"
            );
        }
    }
    env.text(name, &text);
}

#[test]
fn listing_imported_as_table_with_verdicts() {
    let env = TestEnv::new();
    listing(&env, "a.txt", "");
    listing(&env, "b.txt", "SEQUENTIAL");
    let shown = env.lab(["import", "a.txt", "b.txt"]).exits(0).quiet().stdout_text();
    for line in [
        "a.txt  20 runs in 4 cells",
        "cell           runs     min  median     max     user  system",
        "CRT 1K of 4M      5  4.08 s  4.10 s  4.12 s  15.0 ms  500 ms",
        "STD 1K of 4M to CRT   1.00 (0.99 to 1.01)  1.000   1.000  no difference",
        "STD 16K of 4M to CRT  1.97 (1.95 to 1.98)  0.008   0.032  slower",
        "CRT 16K of 4M to 1K   0.76 (0.75 to 0.76)  0.008   0.032  faster",
        "CRT 1K of 4M, sequential to none   1.00 (0.99 to 1.01)  1.000   1.000  no difference",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
    }

    let object = env.lab(["import", "--json", "a.txt"]).exits(0).quiet().json();
    assert_eq!(object["schema"], "transect.lab.import/1");
    let session = &object["sessions"][0];
    assert_eq!(session["path"], "a.txt");
    assert_eq!(session["cells"][1]["real"]["median"], 3.1e9);
    assert_eq!(session["differences"][1]["alone"]["verdict"], "no_difference");
    assert_eq!(object["sequential"].as_array().unwrap().len(), 0);

    let csv = env.lab(["import", "--csv", "a.txt", "b.txt"]).exits(0).quiet();
    assert_eq!(csv.stdout_text().lines().count(), 41);
    let line = "b.txt,STD,16384,4194304,true,6100000000,15000000,500000000";
    assert!(csv.stdout_text().lines().any(|shown| shown == line), "{}", csv.text());
}

#[test]
fn invalid_listing_refused_with_line_number() {
    let env = TestEnv::new();
    listing(&env, "good", "");
    env.text("prose", "-- TEST 1kb CRT --\n\nAnd here is\x1b[31m the second call:\n");
    env.text("empty", "");
    std::fs::write(env.path("binary"), [0, 159, 146, 150]).unwrap();
    for (file, reason) in [
        (
            "prose",
            "'prose': line 3: 'And here is\\e[31m the second call:' does not belong to a listing",
        ),
        ("empty", "'empty': line 1: no run is listed"),
        ("binary", "'binary': line 1: "),
        ("missing", "cannot read 'missing': No such file or directory"),
        (".", "cannot read '.': Is a directory"),
    ] {
        let refused = env.lab(["import", "good", file]).exits(2);
        assert!(refused.stdout.is_empty());
        let said = refused.stderr_text();
        assert!(said.starts_with(&format!("transect-lab: {reason}")), "{said}");
    }
    let _ = env.lab(["import"]).exits(2);
    let _ = env.lab(["import", "--json", "--csv", "good"]).exits(2);
}
