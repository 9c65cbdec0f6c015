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
fn listing_reported_as_session_with_verdicts() {
    let env = TestEnv::new();
    listing(&env, "a.txt", "");
    listing(&env, "b.txt", "SEQUENTIAL");
    let shown = env.lab(["import", "a.txt"]).exits(0).quiet().stdout_text();
    for line in [
        "4M in a.txt: 4194304 bytes; copy; what is written may be in memory only",
        "CRT,block=16K against CRT,block=1K: 0.76 (0.75 to 0.76), faster",
        "STD,block=1K against CRT,block=1K: 1.00 (0.99 to 1.01), no difference",
        "STD,block=16K against CRT,block=16K: 1.97 (1.95 to 1.98), slower",
        "STD,block=16K against STD,block=1K: 1.49 (1.48 to 1.50), slower",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
    }
    let both = env.lab(["import", "a.txt", "b.txt"]).exits(0).quiet().stdout_text();
    let flag =
        "CRT,block=1K with the sequential hint against without: 1.00 (0.99 to 1.01), no difference";
    assert!(both.lines().any(|shown| shown == flag), "{both}");

    let object = env.lab(["import", "--json", "a.txt"]).exits(0).quiet().json();
    assert_eq!(object["schema"], "transect.lab.report/1");
    let row = &object["rankings"][0]["rows"][0];
    assert_eq!(
        (&row["cell"]["name"], &row["time"]["median"]),
        (&"CRT,block=16K".into(), &3.1e9.into())
    );

    let csv = env.lab(["import", "--csv", "a.txt", "b.txt"]).exits(0).quiet().stdout_text();
    assert_eq!(
        csv.lines().filter(|line| line.contains("STD,block=16K,hint=sequential")).count(),
        4,
        "{csv}"
    );

    let refused = env.lab(["import", "a.txt", "a.txt"]).exits(2).stderr_text();
    assert!(refused.contains("import listings of different devices one by one"), "{refused}");
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
