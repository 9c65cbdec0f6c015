//! Unchanged clients of Watchman, which ask `transect live`: pywatchman, git's sample hook, Mercurial's fsmonitor, and the
//! file maps of Jest and Metro.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use transect_testkit::{loudly_skip, usual_python_with};

use crate::harness::{Output, TestEnv, skip};

/// A directory with the program `watchman`, and a service that ends with the test.
struct Watchman {
    env: TestEnv,
}

impl Watchman {
    fn new() -> Self {
        let env = TestEnv::new();
        let transect = env!("CARGO_BIN_EXE_transect");
        env.mkdir("bin");
        let script = format!("#!/bin/sh\nexec '{transect}' service watchman \"$@\"\n");
        env.script("bin/watchman", &script);
        env.mkdir("tree/sub");
        env.write("tree/a.js", 3);
        env.write("tree/sub/b.js", 4);
        env.write("tree/sub/c.txt", 5);
        Self { env }
    }

    /// Runs a script in the tree. It finds `watchman`, and `programs` before others.
    fn sh(&self, programs: &Path, script: &str) -> Output {
        let (bin, programs) = (self.env.path("bin"), programs.display());
        let path = format!("PATH='{}':'{programs}':\"$PATH\"; export PATH; cd tree", bin.display());
        self.env.sh(&format!("{path}; {script}"))
    }

    fn ask(&self, command: &Value) -> Value {
        self.env.text("command", &command.to_string());
        self.sh(Path::new("."), "watchman -j --no-pretty <../command").exits(0).quiet().json()
    }

    fn root(&self) -> String {
        self.env.path("tree").canonicalize().expect("it is there").display().to_string()
    }

    fn query(&self, query: &Value) -> Value {
        self.ask(&json!(["query", self.root(), query]))
    }
}

impl Drop for Watchman {
    fn drop(&mut self) {
        let end = ["service", "watchman", "--no-spawn", "shutdown-server"];
        drop(self.env.transect(end));
    }
}

/// Returns the directory of the programs of a Python with the clients.
fn clients(test: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    usual_python_with(test, folder, &["mercurial", "pywatchman"])
}

fn names(answer: &Value) -> Vec<&str> {
    let files = answer["files"].as_array().unwrap_or_else(|| panic!("{answer}"));
    files.iter().map(|file| file["name"].as_str().or(file.as_str()).expect("a name")).collect()
}

#[test]
fn watchman_started_on_demand_answers_queries() {
    let watchman = Watchman::new();
    let here = Path::new(".");
    let refused = watchman.sh(here, "watchman --no-spawn watch-list").exits(2);
    assert!(refused.stderr_text().contains("no service answers at '"), "{}", refused.text());
    let sockname = watchman.sh(here, "watchman get-sockname").exits(0).quiet().json();
    assert!(Path::new(sockname["sockname"].as_str().unwrap()).exists());
    let error = watchman.query(&json!({}))["error"].to_string();
    assert!(error.contains("unable to resolve root") && error.contains("is not watched"));
    let root = watchman.root();
    watchman.env.mkdir("tree/.git");
    let watched = watchman.ask(&json!(["watch-project", format!("{root}/sub")]));
    assert_eq!((&watched["watch"], &watched["relative_path"]), (&json!(root), &json!("sub")));

    let all = watchman.query(&json!({"suffix": "js", "fields": ["name", "size", "type", "mode"]}));
    assert_eq!(all["is_fresh_instance"], true);
    let mode = |file: &Value| file["mode"].as_u64().unwrap() & 0o170_000;
    assert_eq!(names(&all), ["a.js", "sub/b.js"]);
    assert_eq!((&all["files"][0]["size"], mode(&all["files"][0])), (&json!(3), 0o100_000));
    let below = watchman.query(&json!({"relative_root": "sub", "fields": ["name"]}));
    assert_eq!(names(&below), ["b.js", "c.txt"]);

    fs::rename(watchman.env.path("tree/sub"), watchman.env.path("tree/other")).unwrap();
    let since = json!({"since": all["clock"], "fields": ["name", "exists", "new"]});
    let changed = watchman.query(&since);
    let file = |name: &str, exists| json!({"name": name, "exists": exists, "new": exists});
    for (name, exists) in [("sub/b.js", false), ("other/b.js", true), ("sub", false)] {
        let files = changed["files"].as_array().unwrap();
        assert!(files.contains(&file(name, exists)), "{name}: {changed}");
    }
    assert_eq!(changed["is_fresh_instance"], false);
    let none = watchman.query(&json!({"since": changed["clock"]}));
    assert_eq!((&none["is_fresh_instance"], names(&none).len()), (&json!(false), 0));
    for lost in ["c:1:2", "c:1:2:3:4"] {
        let since = json!({"since": lost, "empty_on_fresh_instance": true});
        let fresh = watchman.query(&since);
        assert_eq!((&fresh["is_fresh_instance"], names(&fresh).len()), (&json!(true), 0));
    }
    for (query, why) in [
        (json!({"fields": ["oclock"]}), "unknown field name 'oclock'"),
        (json!({"expression": ["pcre", "a"]}), "unknown expression term 'pcre'"),
        (json!({"since": 1}), "`since` is not a clock"),
    ] {
        assert_eq!(watchman.query(&query)["error"], why);
    }
    assert_eq!(watchman.ask(&json!(["trigger", root]))["error"], "unknown command trigger");
    // The next command starts another service, which has lost the clock.
    assert_eq!(watchman.ask(&json!(["shutdown-server"]))["shutdown-server"], true);
    let _ = watchman.ask(&json!(["watch", root]));
    assert_eq!(watchman.query(&since)["is_fresh_instance"], true);
}

#[test]
fn watchman_root_removed_and_made_again_watched_anew() {
    let watchman = Watchman::new();
    let root = watchman.root();
    let _ = watchman.ask(&json!(["watch", root]));
    let clock = watchman.ask(&json!(["clock", root]))["clock"].clone();
    fs::remove_dir_all(watchman.env.path("tree")).unwrap();
    watchman.env.mkdir("tree");
    watchman.env.write("tree/new.js", 1);
    let error = watchman.query(&json!({"since": clock}))["error"].to_string();
    assert!(error.contains("is not watched"), "{error}");
    assert_eq!(watchman.ask(&json!(["watch", root]))["watch"], json!(root));
    let fresh = watchman.query(&json!({"since": clock, "fields": ["name"]}));
    assert_eq!((names(&fresh), &fresh["is_fresh_instance"]), (vec!["new.js"], &json!(true)));
}

#[test]
fn watchman_client_pywatchman_queries_and_subscribes() {
    let test = "watchman_client_pywatchman_queries_and_subscribes";
    let Some(programs) = clients(test) else { return };
    let watchman = Watchman::new();
    watchman.env.text("client.py", PYWATCHMAN);
    let printed = watchman.sh(&programs, "python3 ../client.py .").exits(0).quiet().stdout_text();
    let lines: Vec<&str> = printed.lines().collect();
    let of_each = ["['new', 'x', 'x/y']", "['x', 'x/y']", "['later']"];
    assert_eq!(lines, of_each.repeat(2), "{printed}");
}

/// Prints what changed, what is gone, and what a subscription reports, in BSER and in JSON.
const PYWATCHMAN: &str = r#"
import os, pywatchman, shutil, sys
root = os.path.realpath(sys.argv[1])
for encoding in [None, 'json']:
    client = pywatchman.client(timeout=60, sendEncoding=encoding, recvEncoding=encoding)
    ask = client.query
    client.capabilityCheck(required=['relative_root', 'cmd-watch-project', 'suffix-set'])
    assert ask('watch-project', root)['watch'] == root
    clock = ask('clock', root)['clock']
    open(root + '/new', 'w').close()
    os.makedirs(root + '/x/y')
    query = {'since': clock, 'fields': ['name'], 'expression': ['exists']}
    found = ask('query', root, query)
    print(found['files'])
    shutil.rmtree(root + '/x')
    query = {'since': found['clock'], 'fields': ['name'], 'expression': ['not', 'exists']}
    found = ask('query', root, query)
    print(found['files'])
    ask('subscribe', root, 'mine', {'since': found['clock'], 'fields': ['name']})
    open(root + '/later', 'w').close()
    while not client.getSubscription('mine', remove=False):
        client.receive()
    print(client.getSubscription('mine')[0]['files'])
    for name in ['new', 'later']:
        os.remove(root + '/' + name)
    client.close()
"#;

#[test]
fn watchman_client_git_sample_hook() {
    let test = "watchman_client_git_sample_hook";
    let watchman = Watchman::new();
    for program in ["git", "perl"] {
        if !watchman.env.has(program) {
            return loudly_skip(test, format!("there is no {program}"));
        }
    }
    let git = |script: &str| watchman.sh(Path::new("."), script).exits(0).quiet().stdout_text();
    let _ =
        git("git init -q && cp .git/hooks/fsmonitor-watchman.sample .git/hooks/query-watchman && \
         chmod +x .git/hooks/query-watchman && git add -A && \
         git -c user.name=a -c user.email=b commit -qm 1 && \
         git config core.fsmonitor .git/hooks/query-watchman");
    assert_eq!(git("git status --porcelain; git status --porcelain"), "");
    let changed = "echo 1 >>a.js && rm -r sub && touch new && git status --porcelain";
    assert_eq!(git(changed), " M a.js\n D sub/b.js\n D sub/c.txt\n?? new\n");
    let traced = watchman.sh(Path::new("."), "GIT_TRACE_FSMONITOR=1 git status --porcelain");
    assert!(traced.stderr_text().contains("returned success"), "{}", traced.text());
}

#[test]
fn watchman_client_mercurial_fsmonitor() {
    let test = "watchman_client_mercurial_fsmonitor";
    let Some(programs) = clients(test) else { return };
    let watchman = Watchman::new();
    // The first line of `hg` names the directory in which it was installed, before that was renamed.
    let program = format!("hg() {{ python3 '{}' \"$@\"; }}", programs.join("hg").display());
    let hg = |script: &str| {
        let script = format!("{program}; {script}");
        watchman.sh(&programs, &script).exits(0).quiet().stdout_text()
    };
    watchman.env.text("hgrc", HGRC);
    let _ = hg("hg init && cp ../hgrc .hg/hgrc && hg commit -qAm 1 -u a && hg status");
    let changed = "echo 1 >>a.js && rm -r sub && touch new && hg status";
    assert_eq!(hg(changed), "M a.js\n! sub/b.js\n! sub/c.txt\n? new\n");
    // It stores the clock of the last answer.
    let state = fs::read(watchman.env.path("tree/.hg/fsmonitor.state")).unwrap();
    assert!(state.windows(2).any(|pair| pair == b"c:"), "{}", state.escape_ascii());
}

const HGRC: &str = "[extensions]\nfsmonitor =\n[fsmonitor]\nmode = on\ntimeout = 60\n";

/// Returns the command that runs `client.js`, above the tree, with a package of npm, which stays for later runs.
fn node(test: &str, package: &str) -> Option<String> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("npm-{package}"));
    let mut npm = Command::new("npm");
    // Also fails if the package needs another version of node.
    npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--engine-strict"]);
    match npm.arg("--prefix").arg(&directory).arg(package).output() {
        Ok(output) if output.status.success() => {
            let modules = directory.join("node_modules");
            let modules = modules.display();
            Some(format!("NODE_PATH='{modules}' node ../client.js \"$(pwd -P)\" ../node-cache"))
        }
        Ok(output) => skip(test, format!("npm: {}", String::from_utf8_lossy(&output.stderr))),
        Err(error) => skip(test, format!("npm: {error}")),
    }
}

#[test]
fn watchman_client_jest() {
    let Some(run) = node("watchman_client_jest", "jest-haste-map@29.7.0") else { return };
    let watchman = Watchman::new();
    watchman.env.text("client.js", CLIENT_OF_JEST);
    watchman.env.mkdir("node-cache");
    let output = watchman.sh(Path::new("."), &run).exits(0);
    assert_eq!(output.stdout_text(), "3\nnew.js\n", "{}", output.text());
    // It did not read the tree itself.
    assert_eq!(watchman.ask(&json!(["watch-list"]))["roots"], json!([watchman.root()]));
}

/// Prints the number of files, and then which one is new.
const CLIENT_OF_JEST: &str = "
    const fs = require('fs'), HasteMap = require('jest-haste-map').default;
    const root = process.argv[2];
    setTimeout(() => process.exit(3), 600000);
    (async () => {
        const map = await HasteMap.create({ id: 'x', rootDir: root, roots: [root], extensions: ['js', 'txt'],
            maxWorkers: 1, platforms: [], console, computeSha1: false, computeDependencies: false,
            retainAllFiles: true, useWatchman: true, watch: true, cacheDirectory: process.argv[3], resetCache: false });
        const files = (await map.build()).hasteFS.getAllFiles();
        map.on('change', event => {
            console.log(event.eventsQueue.map(it => it.filePath.slice(root.length + 1)).join());
            map.end().then(() => process.exit(0));
        });
        console.log(files.length);
        fs.writeFileSync(root + '/new.js', '1');
    })().catch(error => { console.error(error); process.exit(4); });";

#[test]
fn watchman_client_metro() {
    let Some(run) = node("watchman_client_metro", "metro-file-map@0.84.6") else { return };
    let watchman = Watchman::new();
    watchman.env.text("client.js", CLIENT_OF_METRO);
    watchman.env.mkdir("node-cache");
    for (name, content) in [("a.js", "abc"), ("sub/b.js", ""), ("sub/c.txt", "ignored")] {
        watchman.env.text(format!("tree/{name}"), content);
    }
    let client = |script: &str| watchman.sh(Path::new("."), script).exits(0).quiet().stdout_text();
    let (abc, empty) =
        ("a9993e364706816aba3e25717850c26c9cd0d89d", "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    let first = format!("a.js {abc}\nsub/b.js {empty}\nread: \nsuccess watchman\nchanged\n");
    assert_eq!(client(&format!("{run} watch")), first);
    // It asks for what changed since the clock that it stored.
    let second = format!("a.js {empty}\nnew.js {abc}\nread: \n");
    assert_eq!(client(&format!(": >a.js; printf abc >new.js; {run}")), second);
}

/// Prints files with their digests, those that Metro read itself, the result of its own check of the watcher, and `changed`
/// after all changes were reported.
const CLIENT_OF_METRO: &str = "
    const fs = require('fs'), root = process.argv[2], readFileSync = fs.readFileSync, read = [];
    fs.readFileSync = (path, ...options) => {
        if (String(path).startsWith(root)) read.push(path.slice(root.length + 1));
        return readFileSync(path, ...options);
    };
    const { default: FileMap, DiskCacheManager } = require('metro-file-map');
    setTimeout(() => process.exit(3), 600000);
    (async () => {
        const map = new FileMap({ rootDir: root, roots: [root], extensions: ['js'], retainAllFiles: true, maxWorkers: 1,
            computeSha1: true, enableSymlinks: true, useWatchman: true, watch: process.argv[4] === 'watch', console,
            healthCheck: { enabled: true, interval: 600000, timeout: 600000, filePrefix: '.check' },
            cacheManagerFactory: options => new DiskCacheManager(options, { cacheDirectory: process.argv[3] }) });
        const due = new Set(['* a.js', '+ new.js', '- sub/b.js']);
        map.on('healthCheck', ({ type, watcher }) => {
            console.log(type, watcher);
            fs.writeFileSync(root + '/a.js', 'changed');
            fs.writeFileSync(root + '/new.js', 'new');
            fs.unlinkSync(root + '/sub/b.js');
        });
        map.on('change', ({ changes: { addedFiles, modifiedFiles, removedFiles } }) => {
            // Writing a file may be reported as two changes.
            for (const [path] of addedFiles) due.delete('+ ' + path);
            for (const [path] of modifiedFiles) due.delete('* ' + path);
            for (const [path] of removedFiles) due.delete('- ' + path);
            if (due.size > 0) return;
            console.log('changed');
            map.end().then(() => process.exit(0));
        });
        const { fileSystem } = await map.build();
        for (const path of fileSystem.getAllFiles().sort())
            console.log(path.slice(root.length + 1), fileSystem.getSha1(path));
        console.log('read:', read.join());
        if (process.argv[4] !== 'watch') await map.end().then(() => process.exit(0));
    })().catch(error => { console.error(error); process.exit(4); });";

/// Clients ask what there is before they start a service.
#[test]
fn watchman_capabilities_without_service_answered() {
    let env = TestEnv::new();
    let ask = |words: &[&str]| {
        env.transect(["service", "watchman", "--no-spawn", "--socket", "s"].iter().chain(words))
    };
    let answer = ask(&["list-capabilities"]).exits(0).json();
    assert!(answer["version"].is_string(), "{answer}");
    let all = answer["capabilities"].as_array().expect("a list");
    assert!(all.contains(&json!("cmd-query")), "{answer}");
    let refused = ask(&["watch-list"]).exits(2).stderr_text();
    assert!(refused.contains("no service answers at"), "{refused}");
}
