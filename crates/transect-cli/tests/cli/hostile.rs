//! Names, contents and arguments with control sequences: no command prints one to a terminal.
//! `script` provides the terminal.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use crate::harness::TestEnv;
use crate::help::listed;
use crate::terminal::on_terminal;

/// Sequences that set the title, clear the screen, hide text or reverse it, after a word that must
/// stay visible.
const STEERS: &str = "hostile\x1b]0;title\x07\x1b[2J\x1b[8m\u{9b}31m\u{90}q\u{9d}\x7f\x08\r\u{202e}\u{2066}\u{200f}\u{61c}";

/// Commands that print names, contents or arguments. `$N` is a name that is not UTF-8, `$U` one
/// that is; directories, files and links of these names exist.
const CASES: &[(&str, &str)] = &[
    (
        "",
        r#"$T "$N"; $T "missing$N"; $T "$U" --bogus; $T help "$U"; $T --read-depth "$U"; $T "--$U""#,
    ),
    ("scan", r#"$T scan "$N"; $T scan --json "$N" "$U"; $T scan --json --errors "missing$N""#),
    (
        "usage",
        r#"$T usage --files "$N"; $T usage --csv --files "$N"; $T usage --json --files "$N"
        $T usage --shared --files "$N"; $T usage --shared --csv "$N"; $T usage --shared "missing$N"
        $T usage --by extension "$N"; $T usage --by owner --csv "$N"
        $T usage --export-ncdu - "$N"; $T usage --export-ncdu "exported$U" "$N"
        $T usage --import-ncdu "exported$U" --files; $T usage --import-ncdu "exported$U" --files --csv
        $T usage --import-ncdu "missing$N"; $T usage --import-ncdu "$N/$N""#,
    ),
    // The view draws cells, and no cell contains control sequences (transect-tui). Here it cannot
    // draw.
    ("tui", r#"TERM=dumb $T tui "missing$N"; $T tui "--$U""#),
    (
        "map",
        r#"$T map --html - "$N"; $T map --html "missing$N/page" "$N"; $T map --html /dev/tty "$N"
        $T map "missing$N""#,
    ),
    (
        "list",
        r#"$T list "$N"; $T list -l "$N"; $T list --json "$N" "$U"; $T list --csv "$N"; $T list -0 "$N"
        $T list --csv --columns name,path,target "$N"; $T list --columns name,target "$N"
        $T list --json --columns name,target "$U"; $T list "missing$N"; $T list -g "[$U"
        $T list --sort path "$N"; $T list --sort "$U"; $T list --newer "$U"; $T list --size "$U"; $T list --owner "$U"
        $T list "$N" -x echo; $T list -tf "$N" -x cat; $T list "$N" -x "$U"; $T list "$N" -X "missing$N"
        $T list "$N" -x {}; $T list -x "./$U"; $T list -X "{}$U"; $T list --color "$U" "$N"
        $T list --empty -l --total --bytes "$N"; $T list --color always "$N" "$U"; $T list --total --csv "$N""#,
    ),
    (
        "snapshot",
        r#"$T snapshot "$N" -o "stored$U"; $T snapshot --json "$N" "$U" -o "stored$N"; $T snapshot "missing$N" -o x
        $T snapshot "$N" -o "missing$N/x"; $T snapshot "$N" -o "$N"; $T usage --files "stored$N"
        $T usage --json --files "stored$U"; $T usage -g "[$U" "stored$N"; $T map --html - "stored$U"
        head -c 3000 "stored$N" >"cut$N"; $T usage "cut$N"; $T list -l "stored$N"; $T list --csv "stored$U"
        $T list -c target "stored$N"; $T map --html - "stored$N" "stored$U"; $T map --html - "stored$N" "missing$N""#,
    ),
    (
        "diff",
        r#"$T snapshot "$N" -o "a$N"; $T snapshot "$U" -o "b$U"; $T diff "a$N" "b$U"; $T diff --json "a$N" "b$U"
        mv "copy$N/$N" "copy$N/moved$U"; rm "copy$U/$U"; mkdir "copy$U/$U"
        $T diff "$N" "copy$N"; $T diff --json "$N" "copy$N"; $T diff --color always "$U" "copy$U"
        $T diff "missing$N" "$N"; $T diff "a$N" "missing$N"; $T diff --ignore "$U" a b
        head -c 3000 "a$N" >"cut$N"; $T diff "cut$N" "$N""#,
    ),
    (
        "task",
        r#"$T task --first "$N" "$U"; $T task --first "$N" "$N/$U"; $T task --first "$N" >"task$U"
        $T task --in "task$U" --out "parts$U"; $T task --in "task$U" --out "parts$N" --entries 1 --next
        $T task --in "missing$N" --out x; $T task --in "$N/$N" --out x; $T task --in "task$U" --out "$N/$N""#,
    ),
    (
        "commit",
        r#"$T task --first "$N" | $T task --in - --out "p$N"; $T commit "p$N" -o "c$N"; $T commit --json "p$N" -o "c$U"
        $T list "c$N"; $T commit "missing$N" -o x; $T commit "$N" -o x; $T commit "p$N" -o "missing$N/x"
        echo >"p$N/part-$U.parquet"; $T commit "p$N" -o x"#,
    ),
    (
        "keep",
        r#"$T keep --dry-run "$N"; $T keep "$N" "$U"; $T keep --json "$N"; $T keep "missing$N"
        $T scan --since last "$N"; $T scan --since "missing$N" "$N"; $T scan --since "$N/$N" "$N""#,
    ),
    (
        "changes",
        r#"$T changes "$N"; $T keep "$N"; $T changes --since "$U" "$N"; rm "$N/$N"; $T changes "$N"
        for folder in "$XDG_DATA_HOME"/transect/series/*/*; do echo >"$folder/2026-01-01T00-00-00.000Z.parquet"; done
        $T changes --json "$N"; $T changes --for rsync "$N"; $T changes --for rclone "$N"; $T changes --since 2026-01-02 "$N"; $T changes "missing$N"
        $T changes --journal "$N"; $T changes --journal "$N/$N"; $T changes --journal "missing$N""#,
    ),
    (
        "history",
        r#"$T keep "$N"; $T history "$N"; $T history --json "$N"
        for folder in "$XDG_DATA_HOME"/transect/series/*/*; do echo >"$folder/$U"; done
        $T history "$N"; $T history --json "$N"; $T history "missing$N"; $T history --host "$U" "$N""#,
    ),
    (
        "find",
        r#"$T find "$U"; $T snapshot "$N" "$U" -o "f$N"; $T find --in "f$N" "$U"; $T find --in "f$N" -l --verify e
        $T find --in "f$N" --json --columns path,target e; $T find --in "f$N" --csv -i "$U"; $T find --in "missing$N" x
        $T find --in "f$N" --regex "[$U"; $T find --in "f$N" --glob "[$U"; $T find --in "f$N" "$N"
        head -c 3000 "f$N" >"cut$N"; $T find --in "cut$N" x; $T keep "$N"; rm "$N/$N"; $T find --verify "$U"; $T find --in "$N" x"#,
    ),
    (
        "watch",
        r#"$T watch "missing$N"; $T watch "$N/$N"; $T watch --once "$N" 2>log &
        until grep -q watching log; do kill -0 $! || break; done
        mkdir "$N/new$U"; wait; cat log; rmdir "$N/new$U"; $T watch --json --once "$N" >log &
        until grep -q ready log; do kill -0 $! || break; done
        mkdir "$N/new$U"; wait; cat log; rmdir "$N/new$U""#,
    ),
    (
        "query",
        r#"$T snapshot "$N" -o "q$N"; $T snapshot "$U" -o "q$U"; $T query --print "SELECT '$U'" "q$N" "q$U"
        $T query "SELECT '$U'" "q$N"; $T query "FROM changes" "q$N" "q$U"; $T query --csv "FROM entries" "q$U"
        $T query "SELECT $U" "q$U"; $T query 1 "missing$N"; $T query 1 "$N/$N"; $T query --json "FROM entries" "q$N""#,
    ),
    (
        "duplicates",
        r#"$T duplicates "$N" "copy$N" "$U"; $T duplicates -0 "$N" "copy$N"
        $T duplicates --json "$N" "copy$N"; $T duplicates "missing$N"; $T duplicates --keep "$U"
        $T duplicates --remove --prefer "$N" --dry-run "$N" "copy$N"; $T duplicates -g "[$U"
        $T duplicates --digests "$N/$N" "$N"; $T duplicates --digests "missing$N/x" "$N"
        $T duplicates --digests "digests$N" "$N" "copy$N"; $T duplicates --clone --keep first --yes "$N" "copy$N""#,
    ),
    (
        "reclaim",
        r#"mkdir -p "copy$N/target"; touch "copy$N/Cargo.toml" "copy$N/target/$U"; $T reclaim "copy$N"; $T reclaim --json "copy$N"
        $T reclaim --kind "$U" "copy$N"; $T reclaim "missing$N"; $T reclaim --keep "$U" "$N"; $T reclaim --remove --yes "copy$N""#,
    ),
    (
        "transform",
        r#"$T transform blake3 "$N"; $T transform blake3 --json "$N"; $T transform "$U" "$N"
        $T transform case=upper -v -i "copy$N"; $T transform case=lower --check -v "copy$N"
        $T transform eol=lf -o - "$N/$N"; $T transform gzip -o - "$N/$N"; $T transform eol=crlf <"$N/$N"
        $T transform blake3 <"$N/$N"; $T transform blake3 "missing$N"; $T transform eol=lf "$N" "$U"
        $T transform eol=lf -o "$N/$N" "$U"; $T transform eol=lf -i "$N.link"
        $T transform eol=lf -o /dev/tty "$N/$N""#,
    ),
    (
        "verify",
        r#"$T transform blake3 "$N" "$U" >list; echo "$N" >>list; echo "0000 $N" >>list
        $T verify list; $T verify --json list; $T verify "missing$N"; $T verify "$N/$N"
        sed s/hostile/gone/ list >gone; $T verify gone; $T verify --json gone"#,
    ),
    (
        "attributes",
        r#"$T attributes "$N" "missing$N"; $T attributes --json "$N" "$U" "missing$N"; $T attributes -0 "$N"
        printf "%s\n" "$N" >asked; $T attributes --from asked; $T attributes --from "missing$N"
        $T attributes --socket="$N/$N" x; $T attributes --columns "$U" x"#,
    ),
    (
        "live",
        r#"$T live --socket "$N/$N"; $T live --socket "missing$N/socket"
        $T live --socket "s$U" --idle 1s --verbose; $T live --level "$U"
        $T live --socket s --git "$N"; $T live --socket s --git "missing$N"; $T live --socket s --git "$U""#,
    ),
    ("service freeze", r#"$T service freeze --socket "$N/$N"; $T service freeze --socket "s$U""#),
    ("service thaw", r#"$T service thaw --socket "$N/$N"; $T service thaw --socket "s$U""#),
    (
        "service invalidate",
        r#"$T live "$PWD/$N" --idle 1s --socket s 2>log &
        until grep -q listening log; do kill -0 $! || break; done
        $T service invalidate --socket s "$U" "$N"; $T service invalidate --socket "$N/$N" "$U"; wait"#,
    ),
    (
        "service stats",
        r#"$T live "$PWD/$N" "$PWD/$U" --idle 1s --socket s 2>log &
        until grep -q listening log; do kill -0 $! || break; done
        $T service stats --socket s; $T service stats --json --socket s; $T service stats --socket "s$U"; wait"#,
    ),
    (
        "service watch-helper",
        r#"$T service watch-helper --socket "missing$N/s"; $T service watch-helper --socket "$U""#,
    ),
    ("service git-hook", r#"$T service git-hook 2 "$N"; $T service git-hook "$U" x"#),
    (
        "service watchman",
        r#"$T live --idle 1s --socket s 2>log &
        until grep -q listening log; do kill -0 $! || break; done
        $T service watchman --socket s "$N"; $T service watchman --socket s watch "$PWD/$N" "$U"
        printf '["watch", "%s"]' "$PWD/$N" | $T service watchman -j --socket s
        printf '["%s"' "$N" | $T service watchman -j --no-spawn --socket "s$U"; wait"#,
    ),
    ("doctor", r#"$T doctor "$N"; $T doctor --json "$U"; $T doctor "missing$N""#),
    (
        "cache status",
        r#"$T cache status "$N"; $T cache status --json "$N" "$U"; $T cache status "missing$N""#,
    ),
    (
        "cache drop",
        r#"$T cache drop "$N"; $T cache drop --json "$N" "$U"; $T cache drop "missing$N""#,
    ),
    (
        "lab list",
        r#"$T lab list --contenders contenders; $T lab list --contenders contenders --json
        $T lab list --contenders contenders --contract; $T lab list "--$U""#,
    ),
    (
        "lab run enumerate",
        r#"$T lab run enumerate --path "missing$N"; $T lab run enumerate --path "$N/$N"
        $T lab run enumerate --corpus "$U"; $T lab run enumerate --methods "$U" --path "$N"
        $T lab run enumerate --contenders contenders --dry-run --path "$N"
        $T lab run enumerate --contenders contenders --methods "hostile*" --rounds 1 --no-calls \
            --path "$N" --output "session$N""#,
    ),
    (
        "lab run transform",
        r#"$T lab run transform --dir "missing$N"; $T lab run transform --methods "$U" --dry-run
        $T lab run transform --dir "$N" --dry-run; $T lab run transform --command "$U" --dry-run; $T lab run transform --preset "$U""#,
    ),
    (
        "lab run attributes",
        r#"$T lab run attributes --dir "missing$N" --output "$N/x"; $T lab run attributes --methods "$U" --dry-run
        $T lab run attributes --files-from "missing$N" --dry-run"#,
    ),
    (
        "lab report",
        r#"$T lab report session; $T lab report --json session; $T lab report --csv session
        $T lab report --markdown session; $T lab report --html - session; $T lab report "missing$N"
        $T lab report "$N/$N""#,
    ),
    (
        "lab compare",
        r#"$T lab compare session session; $T lab compare --json session session
        $T lab compare "missing$N" session; $T lab compare session "$N/$N""#,
    ),
    (
        "lab explain",
        r#"$T lab explain session; $T lab explain "missing$N"; $T lab explain "$N/$N""#,
    ),
    (
        "lab tune",
        r#"$T lab tune "missing$N"; $T lab tune "$N/$N"; $T lab tune --seconds 1 --dry-run "$N"; $T lab tune --forget "missing$N"
        $T lab tune --seconds "$U""#,
    ),
    ("lab completions", r#"$T lab completions "$U""#),
    ("lab man", r#"$T lab man; $T lab man "$U""#),
    ("lab corpus list", r#"$T lab corpus list; $T lab corpus list "$U""#),
    (
        "lab corpus create",
        r#"$T lab corpus create "$U" new; $T lab corpus create tiny "$N"; $T lab corpus create tiny "$N/$N""#,
    ),
    // Hidden commands: the lab starts them, and parses their output.
    ("lab method", r#"$T lab method "$U" "$N"; $T lab method getdents-statx/queue "missing$N""#),
    ("lab pass", r#"$T lab pass "$U" "$N" x; $T lab pass copy "missing$N" "x$N""#),
    (
        "lab attributes-method",
        r#"$T lab attributes-method "$U"; $T lab attributes-method stat "$N""#,
    ),
    ("completions", r#"$T completions bash; $T completions "$U""#),
    ("man", r#"$T man; $T man "$U""#),
];

/// Creates the files for the cases, and returns the shell line that defines the names.
fn hostile(env: &TestEnv) -> Vec<u8> {
    let utf8 = STEERS.as_bytes().to_vec();
    let raw = [STEERS.as_bytes(), b"\x9b2J"].concat();
    for name in [&raw, &utf8] {
        for folder in [name.clone(), [b"copy", name.as_slice()].concat()] {
            let folder = env.mkdir(OsStr::from_bytes(&folder));
            fs::write(folder.join(OsStr::from_bytes(name)), name).expect("a new file");
            let extension = [b"file.", name.as_slice()].concat();
            fs::write(folder.join(OsStr::from_bytes(&extension)), "text\r\n").expect("a new file");
            let link = folder.join(OsStr::from_bytes(&[name, b".link".as_slice()].concat()));
            std::os::unix::fs::symlink(OsStr::from_bytes(name), link).expect("a new file");
        }
        let link = env.path(OsStr::from_bytes(&[name, b".link".as_slice()].concat()));
        std::os::unix::fs::symlink(OsStr::from_bytes(name), link).expect("a new file");
    }
    for (folder, key) in [("good", "contract = []"), ("bad", STEERS)] {
        env.mkdir(format!("contenders/{folder}"));
        // TOML and JSON have the same escapes.
        let text = serde_json::to_string(STEERS).expect("a text");
        let raw_key = if folder == "bad" { format!("{key} = 1\n") } else { String::new() };
        let description = format!(
            "{raw_key}name = {text}\nlanguage = {text}\nabout = {text}\nneeds = [{text}]\n\
             install = {text}\nrun = ['sh', '-c', {text}]\n\
             [[method]]\nname = {text}\ncontract = []\nabout = {text}\n"
        );
        env.text(format!("contenders/{folder}/contender.toml"), &description);
    }
    env.text("session", &format!("{{\"schema\": \"{}\"}}\n{STEERS}\n", "transect.lab/1"));
    let quoted = |name: &[u8]| [b"'", name, b"'"].concat();
    [b"N=".to_vec(), quoted(&raw), b"\nU=".to_vec(), quoted(&utf8), b"\nT=$TRANSECT\n".to_vec()]
        .concat()
}

/// Returns all commands without subcommands: those in `--help`, and the hidden ones.
fn commands(env: &TestEnv) -> BTreeSet<String> {
    let mut commands: BTreeSet<String> =
        ["", "lab method", "lab pass", "lab attributes-method"].map(str::to_owned).into();
    let mut pending = vec![Vec::new()];
    while let Some(command) = pending.pop() {
        let listed = listed(env, &command);
        if listed.is_empty() {
            commands.insert(command.join(" "));
        }
        pending.extend(listed.into_iter().map(|(name, _)| [command.clone(), vec![name]].concat()));
    }
    commands
}

/// Returns the first sequence that must not reach a terminal, with its context.
fn forbidden(shown: &[u8]) -> Option<String> {
    let Ok(text) = std::str::from_utf8(shown) else {
        return Some(format!("not UTF-8: {}", String::from_utf8_lossy(shown)));
    };
    // The terminal itself ends lines with \r\n.
    let text = text.replace("\r\n", "\n");
    let mut rest = text.as_str();
    while let Some(at) = rest.find(|c: char| {
        c.is_control() && c != '\n' && c != '\t'
            || "\u{61c}\u{200e}\u{200f}".contains(c)
            || ('\u{202a}'..='\u{202e}').contains(&c)
            || ('\u{2066}'..='\u{2069}').contains(&c)
    }) {
        let from = &rest[at..];
        let allowed = match from.strip_prefix("\x1b[") {
            // Styles are allowed, except those that hide text.
            Some(style) => style
                .find(|c: char| !c.is_ascii_digit() && c != ';')
                .filter(|&end| style[end..].starts_with('m') && &style[..end] != "8")
                .map(|end| 2 + end + 1),
            // The progress line is overwritten and erased.
            None => from.strip_prefix('\r').and_then(|line| {
                let end = line.find(|c: char| c.is_control())?;
                line[end..].starts_with("\x1b[K").then_some(1 + end + 3)
            }),
        };
        let Some(length) = allowed else {
            let begin = text.len() - from.len();
            let around = text[..begin].chars().rev().take(60).collect::<Vec<_>>();
            let before: String = around.into_iter().rev().collect();
            return Some(format!(
                "{before:?} then {:?}",
                from.chars().take(40).collect::<String>()
            ));
        };
        rest = &from[length..];
    }
    None
}

#[test]
fn terminal_hostile_bytes_escaped_by_every_command() {
    let test = "terminal_hostile_bytes_escaped_by_every_command";
    let cases: BTreeMap<&str, &str> = CASES.iter().copied().collect();
    let env = TestEnv::new();
    let known: BTreeSet<String> = cases.keys().map(|&command| command.to_owned()).collect();
    assert_eq!(known, commands(&env), "every command has a case, and only commands have one");
    let mut wrong = Vec::new();
    for (command, lines) in cases {
        let env = TestEnv::new();
        let mut script = hostile(&env);
        script.extend_from_slice(lines.as_bytes());
        // All commands with an unknown option.
        script.extend_from_slice(format!("\n$T {command} \"--bogus$U\"\n").as_bytes());
        fs::write(env.path("case"), script).unwrap();
        let Some(output) = on_terminal(&env, test, "", "sh case") else {
            return;
        };
        wrong.extend(forbidden(&output.stdout).map(|what| format!("{command}: {what}")));
        let text = output.stdout_text();
        assert!(text.contains("hostile"), "'{command}' never meets a hostile name: {text}");
        if text.contains("panicked") {
            wrong.push(format!("{command}: {text}"));
        }
    }
    assert!(wrong.is_empty(), "these steer the terminal, or panic:\n{}", wrong.join("\n"));
}

#[test]
fn pipe_hostile_bytes_unchanged() {
    let env = TestEnv::new();
    let script = hostile(&env);
    fs::write(env.path("names"), script).unwrap();
    let run = |line: &str| env.sh(&format!(". ./names; {line}")).exits(0).quiet().stdout;
    let raw = [STEERS.as_bytes(), b"\x9b2J"].concat();
    assert_eq!(run(r#"$T list --read-depth 0 "$N""#), [&raw, b"\n".as_slice()].concat());
    assert_eq!(run(r#"$T transform eol=lf -o - "$N/$N""#), raw);
    let csv = run(r#"$T list --csv --columns name --read-depth 0 "$N""#);
    assert!(csv.windows(raw.len()).any(|window| window == raw), "{csv:?}");
    let json = run(r#"$T list --json --columns name --read-depth 0 "$U""#);
    let object: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(object["name"], STEERS);
    assert_eq!(forbidden(&json), None);
}
