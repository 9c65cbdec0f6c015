//! Tests of `transect lab run attributes`. They assert nothing about time.

use std::collections::BTreeSet;

use serde_json::Value;
use transect_testkit::Browser;

use crate::harness::{Output, TestEnv, skip};

/// The arguments of every session here: few questions, no contenders, its own folder.
const SMALL: &[&str] = &[
    "run",
    "attributes",
    "--paths",
    "200",
    "--contenders",
    "mine",
    "--seed",
    "7",
    // A warm sample is void when any process reads from a device meanwhile.
    "--state",
    "as-is",
    "--dir",
    "scratch",
    "-o",
    "session.jsonl",
];

fn run(env: &TestEnv, more: &[&str]) -> Output {
    env.mkdir("scratch");
    env.lab(SMALL.iter().chain(more))
}

fn report(env: &TestEnv) -> Value {
    env.lab(["report", "--json", "session.jsonl"]).exits(0).quiet().json()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("no {key}: {value}"))
}

/// Returns the cells of a ranking.
fn cells(ranking: &Value) -> BTreeSet<&str> {
    list(ranking, "rows").iter().filter_map(|row| row["cell"]["name"].as_str()).collect()
}

/// Removes the signs of other programs from the session: on a busy machine, a service has no comparable time.
pub(crate) fn forget_disturbances(env: &TestEnv) {
    let text = std::fs::read_to_string(env.path("session.jsonl")).expect("the session");
    let quiet = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).expect("an object");
        line.as_object_mut().expect("an object").remove("beside");
        format!("{line}\n")
    });
    env.text("session.jsonl", &quiet.collect::<String>());
}

/// Returns the number of files left in the session's folder and in the folder for temporary files.
fn left_over(env: &TestEnv) -> usize {
    let folders = [env.path("scratch"), env.temporary()];
    folders.iter().map(|folder| std::fs::read_dir(folder).expect("the folder").count()).sum()
}

#[test]
fn every_task_ranks_methods_with_correct_answers() {
    let env = TestEnv::new();
    let shown = run(&env, &["--rounds", "2", "--no-calls"]).exits(0).stdout_text();
    assert_eq!(left_over(&env), 0);
    forget_disturbances(&env);
    let report = report(&env);
    let rankings = list(&report, "rankings");
    let of = |name: &str| {
        let named = rankings.iter().find(|ranking| ranking["name"] == name);
        named.unwrap_or_else(|| panic!("no {name}: {shown}"))
    };
    for ranking in rankings {
        assert_eq!(ranking["unranked"], Value::Array(vec![]), "{ranking}");
        let cells = cells(ranking);
        assert!(cells.contains("stat") && cells.contains("stat (again)"), "{cells:?}");
    }
    assert_eq!(rankings.len(), 6, "all but that of somebody's own build");
    let includes = ["memo", "resolve-checked", "resolve-frozen", "stat", "stat (again)"];
    assert_eq!(cells(of("includes")), BTreeSet::from(includes));
    assert_eq!(cells(of("one-cold")), BTreeSet::from(["get", "stat", "stat (again)"]));
    let hits = cells(of("threads-hits"));
    assert!(hits.contains("get-known") && hits.contains("get-known,threads=4"), "{hits:?}");
    let row = |ranking: &str, cell: &str| {
        let rows = list(of(ranking), "rows").iter();
        rows.clone().find(|row| row["cell"]["name"] == cell).cloned().expect("a row")
    };
    assert!(row("uptodate", "get-many")["held_each"].as_f64() > Some(20.0));
    assert!(row("uptodate", "stat")["held_each"].is_null());
    if cfg!(target_os = "linux") {
        assert!(row("uptodate", "service")["held_each"].as_f64() > Some(20.0));
    }
    let places = list(&report["session"], "places");
    let uptodate = places.iter().find(|place| place["name"] == "uptodate").expect("a place");
    assert_eq!(
        (&uptodate["expected"]["files"], &uptodate["expected"]["errors"]),
        (&200.into(), &2.into())
    );
    assert!(shown.contains("202 paths: 200 found, 2 not"), "{shown}");
    assert!(shown.contains("200 names in 50 directories"), "{shown}");

    let markdown = env.lab(["report", "--markdown", "session.jsonl"]).exits(0);
    assert!(markdown.stdout_text().contains("cache / name"), "{}", markdown.stdout_text());
    let walk = env.lab(["run", "enumerate", "--resume", "session.jsonl"]).exits(2);
    let other =
        "is a session of questions about attributes; use transect lab run attributes --resume";
    assert!(walk.stderr_text().contains(other), "{}", walk.stderr_text());
}

#[test]
fn method_with_wrong_answers_never_ranked() {
    let env = TestEnv::new();
    let liar = |name: &str, files: u64, more: &str| {
        env.mkdir(format!("mine/{name}"));
        env.text(
            format!("mine/{name}/contender.toml"),
            &format!(
                "name = '{name}'\nlanguage = 'sh'\nabout = 'x'\ntask = 'attributes'\n\
                 needs = ['sh']\ninstall = 'x'\nrun = ['sh', 'lie.sh', '{{questions}}']\n\
                 [[method]]\nname = '{name}'\nabout = 'x'\nkinds = ['article']\n"
            ),
        );
        env.text(
            format!("mine/{name}/lie.sh"),
            &format!(
                "echo '{{\"files\":{files},\"directories\":0,\"bytes\":19900,\"errors\":0{more},\
                 \"elapsed_ns\":1}}'\n"
            ),
        );
    };
    liar("too-few", 199, ",\"changed\":1");
    liar("other-times", 200, ",\"changed\":1");
    liar("no-times", 200, "");
    let _ = run(&env, &["--rounds", "2", "--task", "article", "--no-calls"]).exits(0);
    let report = report(&env);
    let unranked = list(&report["rankings"][0], "unranked");
    let reason = |name: &str| {
        let of = unranked.iter().find(|it| it["cell"] == name).expect("a liar");
        of["reason"].as_str().expect("a reason").to_owned()
    };
    assert_eq!(reason("too-few"), "found something else: 199 found, 0 missing, 19900 bytes");
    assert!(reason("other-times").starts_with("found something else: other times: their sum is 1"));
    assert_eq!(reason("no-times"), "found something else: no times");
    assert_eq!(unranked.len(), 3);
}

#[test]
fn contender_with_queries_before_its_clock_is_implausible() {
    let env = TestEnv::new();
    env.mkdir("mine/early");
    env.text(
        "mine/early/contender.toml",
        "name = 'early'\nlanguage = 'Python'\nabout = 'x'\ntask = 'attributes'\n\
         needs = ['python3']\ninstall = 'x'\nrun = ['python3', 'ask.py', '{questions}']\n\
         [[method]]\nname = 'early'\nabout = 'x'\nkinds = ['article']\n",
    );
    env.text(
        "mine/early/ask.py",
        "import os, sys, time\n\
         enough = 10 * time.process_time()\n\
         paths = open(sys.argv[1], 'rb').read().split(b'\\0')[:-1]\n\
         found = [os.stat(path) for path in paths]\n\
         while paths and time.process_time() < enough:\n    os.stat(paths[0])\n\
         size = sum(it.st_size for it in found)\n\
         changed = sum(it.st_mtime_ns for it in found) % 2**64\n\
         print('{\"files\":%d,\"directories\":0,\"bytes\":%d,\"errors\":0,\"changed\":%d,\
         \"elapsed_ns\":17000}' % (len(found), size, changed))\n",
    );
    let _ = run(&env, &["--rounds", "2", "--task", "article", "--no-calls"]).exits(0);
    let report = report(&env);
    let unranked = list(&report["rankings"][0], "unranked");
    assert_eq!(unranked.len(), 1, "{report}");
    assert_eq!(unranked[0]["cell"], "early");
    assert!(unranked[0]["reason"].to_string().contains("implausible"), "{report}");
    assert!(!report["rankings"][0]["rows"].to_string().contains("early"));
}

#[test]
fn interrupted_session_resumes_with_same_tree() {
    let env = TestEnv::new();
    let more = ["--task", "includes", "--rounds", "2", "--no-calls"];
    let _ = run(&env, &more).exits(0);
    let path = env.path("session.jsonl");
    let whole = std::fs::read_to_string(&path).expect("the session");
    let lines: Vec<&str> = whole.lines().collect();
    let cut: String = lines[..4].iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, &cut).expect("the session");
    let resume = ["run", "attributes", "--resume", "session.jsonl", "--dir", "scratch"];
    let resume = resume.into_iter().chain(["--contenders", "mine", "--no-calls"]);
    let resume: Vec<&str> = resume.collect();
    let _ = env.lab(&resume).exits(0);
    let gone_on = std::fs::read_to_string(&path).expect("the session");
    assert!(gone_on.starts_with(&cut));
    assert_eq!(gone_on.lines().count(), lines.len());

    // Another number of probes means another tree.
    let changed = gone_on.replacen("\"probes\":", "\"probes\":1", 1);
    std::fs::write(&path, changed).expect("the session");
    let refused = env.lab(&resume).exits(2).stderr_text();
    assert!(refused.contains("'includes' has changed since the session began"), "{refused}");
}

#[test]
fn list_of_files_is_source_of_questions() {
    let env = TestEnv::new();
    env.mkdir("src");
    env.text("src/a.c", "int a;");
    env.text("files.txt", "src/a.c\nsrc/none.h\n");
    let more = ["--task", "build", "--files-from", "files.txt", "--rounds", "1", "--no-calls"];
    let shown = run(&env, &more).exits(0).stdout_text();
    assert!(shown.contains("2 paths: 1 found, 1 not, 6 bytes"), "{shown}");
    let none = env.lab(["run", "attributes", "--task", "build"]).exits(2);
    let needs = "task 'build' needs --files-from FILE";
    assert!(none.stderr_text().contains(needs), "{}", none.stderr_text());
}

#[test]
fn cache_makes_fewer_calls_than_probing() {
    let env = TestEnv::new();
    let test = "cache_makes_fewer_calls_than_probing";
    let more = ["--rounds", "1", "--task", "includes", "--task", "uptodate"];
    let shown = run(&env, &more).exits(0);
    if shown.stderr_text().contains("calls are not counted") {
        return skip(test, "needs strace").unwrap_or_default();
    }
    let report = report(&env);
    let calls = |ranking: &str, cell: &str| {
        let ranking = list(&report, "rankings").iter().find(|it| it["name"] == ranking);
        let mut rows = list(ranking.expect("a ranking"), "rows").iter();
        let row = rows.find(|row| row["cell"]["name"] == cell).expect("a row");
        row["accesses"]["calls"].as_u64().expect("counted")
    };
    let asked = &list(&report["session"], "places")[0]["asked"];
    // Reading the file of questions takes a call or two.
    let probes = asked["probes"].as_u64().expect("probes");
    let stat = calls("includes", "stat");
    assert!((probes..probes + 8).contains(&stat), "{stat} of {probes}");
    let memo = calls("includes", "memo");
    assert!(calls("includes", "resolve-frozen") < memo && memo < stat);
    let (stat, known) = (calls("uptodate", "stat"), calls("uptodate", "get-many-known"));
    assert!((202..210).contains(&stat), "{stat}");
    // All is known. But a query that took long on a busy machine makes the cache count the cores, and in a container
    // that takes twenty calls.
    assert!(known < stat / 4, "{known}: all is known");
}

#[test]
fn dry_run_prints_questions_of_every_task() {
    let env = TestEnv::new();
    let plan = env.lab(SMALL.iter().chain(&["--dry-run", "--task", "one-cold"])).exits(0);
    let plan = plan.stdout_text();
    assert!(plan.starts_with("one-cold: one file in a huge directory"), "{plan}");
    assert!(plan.contains("stat, get") && plan.ends_with("36 samples\n"), "{plan}");
    assert!(!env.path("session.jsonl").exists() && !env.path("scratch").exists());
}

#[test]
fn page_uses_words_of_attribute_queries() {
    let env = TestEnv::new();
    let test = "page_uses_words_of_attribute_queries";
    let more = ["--rounds", "2", "--task", "uptodate", "--task", "includes", "--no-calls"];
    let _ = run(&env, &more).exits(0);
    let written = env.lab(["report", "session.jsonl", "--html", "page.html"]);
    assert_eq!(written.exits(0).quiet().stdout_text(), "");
    let browser = match Browser::start(1280, 720) {
        Ok(browser) => browser,
        Err(reason) => return skip(test, &reason).unwrap_or_default(),
    };
    browser.open(&env.path("page.html"));
    let script = "document.querySelector('.command').remove(); return app.textContent";
    let all = browser.run(script).as_str().expect("a text").to_lowercase();
    // The page shows the first dataset: includes.
    for word in ["200 questions: 190 found, 10 not", "cache per name", "questions per second"] {
        assert!(all.contains(word), "{word}: {all}");
    }
    for word in ["entries", "walk", "recursion", "undefined", " nan"] {
        assert!(!all.contains(word), "{word}: {all}");
    }
    assert_eq!(browser.console(), Vec::<String>::new());
}
