//! `transect reclaim` and `usage --by kind`: what is proposed, what is removed, and what stays.

use std::fs::{self, File};
use std::process::Command;

use serde_json::Value;
use transect_testkit::{Mount, loudly_skip};

use crate::harness::TestEnv;

/// Creates a new build, an old build with a file that has another name outside, and older packages.
fn home(env: &TestEnv) {
    for directory in ["home/new/target", "home/old/target", "home/site/node_modules/a"] {
        env.mkdir(directory);
    }
    for (name, size) in [
        ("new/Cargo.toml", 10),
        ("new/target/program", 100_000),
        ("old/Cargo.toml", 10),
        ("old/target/program", 200_000),
        ("old/target/linked", 300_000),
        ("site/package.json", 10),
        ("site/node_modules/a/index.js", 50_000),
        ("precious", 1000),
    ] {
        env.write(format!("home/{name}"), size);
    }
    let link = "ln home/old/target/linked 'home/other name'";
    let old = "find home/old -exec touch -d '200 days ago' {} +";
    let older = "find home/site -exec touch -d '300 days ago' {} +";
    [link, old, older].into_iter().for_each(|script| drop(env.sh(script).exits(0)));
}

fn proposed(env: &TestEnv, code: i32, args: &[&str]) -> Value {
    let all = ["reclaim", "--json", "home"].iter().chain(args);
    env.transect(all).exits(code).quiet().json()
}

fn paths(object: &Value) -> Vec<&str> {
    let places = object["places"].as_array().expect("an array");
    places.iter().map(|place| place["path"].as_str().expect("a path")).collect()
}

#[test]
fn reclaim_proposes_the_oldest_first() {
    let env = TestEnv::new();
    home(&env);
    let all = proposed(&env, 0, &[]);
    assert_eq!(paths(&all), ["home/site/node_modules", "home/old/target", "home/new/target"]);
    assert_eq!((&all["complete"], &all["removed"]), (&Value::Bool(true), &Value::Null));
    // The file with another name outside is not freed.
    let old = &all["places"][1];
    assert_eq!((old["kind"].as_str(), old["entries"].as_u64()), (Some("build"), Some(3)));
    let freed = old["freed"].as_u64().unwrap();
    assert!((200_000..300_000).contains(&freed), "{freed}");
    let sum = |object: &Value| -> u64 {
        object["places"].as_array().unwrap().iter().map(|it| it["freed"].as_u64().unwrap()).sum()
    };
    assert_eq!(all["freed_most"].as_u64(), Some(sum(&all)));
    let builds = proposed(&env, 0, &["--kind", "build"]);
    assert_eq!(paths(&builds), ["home/old/target", "home/new/target"]);
    let aged = proposed(&env, 0, &["--older", "250d"]);
    assert_eq!(paths(&aged), ["home/site/node_modules"]);
    let text = env.transect(["reclaim", "--older", "100d", "home"]).exits(0).quiet().stdout_text();
    assert!(text.contains("200 days  build     home/old/target"), "{text}");
    assert!(text.contains("nothing was removed; --remove removes these"), "{text}");
    assert!(env.path("home/old/target/program").exists());
    let text = env.transect(["usage", "--by", "kind", "home"]).exits(0).quiet().stdout_text();
    assert!(text.contains("build         5 entries"), "{text}");
    assert!(text.contains("(of no kind)"), "{text}");
}

#[test]
fn reclaim_keeps_as_much_as_is_enough() {
    let env = TestEnv::new();
    home(&env);
    let nothing = proposed(&env, 0, &["--keep", "1"]);
    assert_eq!((paths(&nothing).len(), &nothing["enough"]), (0, &Value::Bool(true)));
    let all = proposed(&env, 1, &["--keep", "1000000G"]);
    assert_eq!((paths(&all).len(), &all["enough"]), (3, &Value::Bool(false)));
    let several = env.transect(["reclaim", "--keep", "1G", "home", "home/new"]).exits(2);
    assert!(several.stderr_text().contains("--keep takes one PATH"));
    let unknown = env.transect(["reclaim", "--kind", "nothing", "home"]).exits(2);
    assert!(unknown.stderr_text().contains("there is no kind 'nothing'; kinds: build, packages"));
}

#[test]
fn reclaim_removes_only_what_it_proposes() {
    let env = TestEnv::new();
    home(&env);
    let unable = env.transect(["reclaim", "--remove", "home"]).exits(2);
    assert!(unable.stderr_text().contains("there is no way to ask"));
    let args = ["--older", "100d", "--remove", "--yes"];
    let removed = &proposed(&env, 0, &args)["removed"];
    assert_eq!(removed["entries"].as_u64(), Some(6));
    assert_eq!(removed["kept"].as_u64(), Some(0));
    for gone in ["site/node_modules", "old/target"] {
        assert!(!env.path(format!("home/{gone}")).exists(), "{gone}");
    }
    for kept in ["other name", "precious", "new/target/program", "old/Cargo.toml"] {
        assert!(env.path(format!("home/{kept}")).exists(), "{kept}");
    }
    assert_eq!(paths(&proposed(&env, 0, &args)).len(), 0);
    let text = env.transect(["reclaim", "--remove", "--yes", "home"]).exits(0).quiet();
    assert!(text.stdout_text().contains("\nremoved 2 entries; "), "{}", text.stdout_text());
}

#[test]
fn reclaim_rules_of_the_user_come_first() {
    let env = TestEnv::new();
    home(&env);
    env.mkdir("../config/transect");
    let rules = "# Mine\nnone  target/ beside Cargo.toml\nmine  new/\n";
    env.text("../config/transect/kinds", rules);
    let found = proposed(&env, 0, &[]);
    assert_eq!(paths(&found), ["home/site/node_modules", "home/new"]);
    assert_eq!(found["places"][1]["kind"], "mine");
    env.text("../config/transect/kinds", "mine new/\nmine\n");
    for command in [["reclaim", "home"].as_slice(), &["usage", "--by", "kind", "home"]] {
        let wrong = env.transect(command).exits(2).stderr_text();
        assert!(wrong.contains("config/transect/kinds': line 2: expected KIND PLACE"), "{wrong}");
    }
}

#[test]
fn reclaim_counts_clones_once() {
    let env = TestEnv::new();
    let make = ["mkfs.btrfs", "-q"];
    let mount = match Mount::image(&env.path("image"), 256 << 20, &make, &env.path("home")) {
        Ok(mount) => mount,
        Err(reason) => return loudly_skip("reclaim_counts_clones_once", reason),
    };
    let noise: Vec<u8> = (0..4_u64 << 20).map(|n| ((n * n) >> 9) as u8).collect();
    fs::create_dir_all(mount.path().join("app/target")).unwrap();
    fs::write(mount.path().join("app/Cargo.toml"), "").unwrap();
    fs::write(mount.path().join("app/target/first"), &noise).unwrap();
    for (from, to) in [("app/target/first", "app/target/second"), ("app/target/first", "elsewhere")]
    {
        let mut clone = Command::new("cp");
        clone.arg("--reflink=always").args([mount.path().join(from), mount.path().join(to)]);
        assert!(clone.status().unwrap().success());
    }
    fs::write(mount.path().join("app/target/alone"), &noise).unwrap();
    File::open(mount.path().join("app/target/alone")).unwrap().sync_all().unwrap();
    let found = proposed(&env, 0, &[]);
    let (least, most) = (&found["freed_least"], &found["freed_most"]);
    let clear = |value: &Value| value.as_u64().unwrap() >> 20;
    // One file is alone. Two share 4 MiB, which a third one outside shares, too: that is not known.
    assert_eq!((clear(least), clear(most)), (4, 8));
    assert_eq!(clear(&found["places"][0]["freed"]), 12);
    let _ = env.sh("sync -f home").exits(0);
    let removed = proposed(&env, 0, &["--remove", "--yes"]);
    // The clone outside keeps what two of them shared. Directories and sums of contents are free as well.
    assert_eq!(clear(&removed["removed"]["measured"]), 4, "{removed}");
}
