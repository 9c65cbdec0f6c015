//! Clients that speak Watchman's protocol on the socket of the service.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;

use transect_service::watchman::bser::Version;
use transect_service::watchman::{Encoding, Value, ask, take_message};
use transect_testkit::{TempDir, within};

use crate::raw::{RawStream, connect};
use crate::support::Served;

const ALL: [Encoding; 3] =
    [Encoding::Json, Encoding::Bser(Version::One), Encoding::Bser(Version::Two)];

/// A service that follows a tree without anything in it.
fn following() -> (Served, PathBuf) {
    let temp = TempDir::new();
    let root = temp.join("tree");
    fs::create_dir(&root).unwrap();
    let root = root.canonicalize().unwrap();
    (Served::following(temp, root.clone()), root)
}

fn command(name: &str, words: &[&str], query: &str) -> Value {
    let words = std::iter::once(&name).chain(words).map(|&word| Value::from(word));
    let query = (!query.is_empty()).then(|| Value::from_json(query.as_bytes()).unwrap());
    Value::Array(words.chain(query).collect())
}

/// Returns the next message of a connection.
fn receive(stream: &mut RawStream, input: &mut Vec<u8>) -> Value {
    loop {
        if let Some((_, value, length)) = take_message(input, usize::MAX).unwrap() {
            input.drain(..length);
            return value;
        }
        let mut block = [0; 4096];
        let read = stream.read(&mut block).unwrap();
        assert!(read > 0, "it ended");
        input.extend_from_slice(&block[..read]);
    }
}

#[test]
fn watchman_malformed_messages_close_their_connection_others_unaffected() {
    let (served, root) = following();
    let root = root.to_str().unwrap();
    let mut bystander = served.client();
    let too_long = [&[0, 1, 5][..], &(2_u32 << 20).to_le_bytes()].concat();
    for nonsense in
        [&b"\0\x01\x03\x02\x0A\x0A"[..], b"\0\x02\0\0\0\0\x0A", b"[\"version\n", &too_long]
    {
        let mut stream = connect(&served);
        stream.write_all(nonsense).unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert_eq!(rest, b"", "{nonsense:?}");
        assert!(bystander.changes(root.as_ref(), None, false).unwrap().is_ok());
    }
    for encoding in ALL {
        let answer = ask(&served.socket(), encoding, &command("clock", &[root], "")).unwrap();
        let (form, value, _) = take_message(&answer, usize::MAX).unwrap().unwrap();
        assert_eq!(form, encoding);
        assert!(value.get("clock").and_then(Value::str).unwrap().starts_with("c:"), "{value:?}");
    }
}

#[test]
fn watchman_subscription_reports_changes_until_its_root_goes() {
    let (served, root) = following();
    for encoding in ALL {
        let (mut stream, mut input) = (connect(&served), Vec::new());
        let query = r#"{"fields": ["name"], "expression": ["suffix", "c"]}"#;
        let mut out = Vec::new();
        let subscribe = command("subscribe", &[root.to_str().unwrap(), "mine"], query);
        encoding.append(&mut out, &subscribe);
        stream.write_all(&out).unwrap();
        let answer = receive(&mut stream, &mut input);
        assert_eq!(answer.get("subscribe"), Some(&"mine".into()), "{answer:?}");
        let first = receive(&mut stream, &mut input);
        assert_eq!(first.get("is_fresh_instance"), Some(&true.into()), "{first:?}");
        assert_eq!(first.get("files"), Some(&Value::Array(Vec::new())));
        fs::write(root.join("b.h"), "").unwrap();
        fs::write(root.join("a.c"), "").unwrap();
        let changed = receive(&mut stream, &mut input);
        assert_eq!(changed.get("files"), Some(&vec!["a.c".into()].into()), "{changed:?}");
        assert_eq!(changed.get("unilateral"), Some(&true.into()));
        // What changes the file again is reported again.
        fs::remove_file(root.join("a.c")).unwrap();
        let changed = receive(&mut stream, &mut input);
        assert_eq!(changed.get("subscription"), Some(&"mine".into()), "{changed:?}");
        fs::remove_file(root.join("b.h")).unwrap();
    }
    let (mut stream, mut input) = (connect(&served), Vec::new());
    let mut out = Vec::new();
    let subscribe = command("subscribe", &[root.to_str().unwrap(), "last"], "{}");
    Encoding::Json.append(&mut out, &subscribe);
    stream.write_all(&out).unwrap();
    for _ in 0..2 {
        let _ = receive(&mut stream, &mut input);
    }
    fs::remove_dir(&root).unwrap();
    let end = receive(&mut stream, &mut input);
    assert_eq!(end.get("canceled"), Some(&true.into()), "{end:?}");
}

#[test]
fn watchman_subscription_and_own_client_learn_of_watch_del_by_another_client() {
    let (served, _) = following();
    let root = served.temp.path().canonicalize().unwrap().join("other");
    fs::create_dir(&root).unwrap();
    let path = root.to_str().unwrap();
    let (mut stream, mut input) = (connect(&served), Vec::new());
    let mut out = Vec::new();
    Encoding::Json.append(&mut out, &command("watch", &[path], ""));
    Encoding::Json.append(&mut out, &command("subscribe", &[path, "mine"], "{}"));
    stream.write_all(&out).unwrap();
    for key in ["watch", "subscribe", "files"] {
        assert!(receive(&mut stream, &mut input).get(key).is_some(), "{key}");
    }
    let mut own = served.client();
    let begin = own.changes(&root, None, false).unwrap().unwrap().header.cursor;
    let waiting = {
        let root = root.clone();
        std::thread::spawn(move || own.changes(&root, Some(begin), true).unwrap())
    };
    let answer = ask(&served.socket(), Encoding::Json, &command("watch-del", &[path], ""));
    let (_, answer, _) = take_message(&answer.unwrap(), usize::MAX).unwrap().unwrap();
    assert_eq!(answer.get("watch-del"), Some(&true.into()));
    let end = within("the end of the subscription", move || receive(&mut stream, &mut input));
    assert_eq!(end.get("canceled"), Some(&true.into()), "{end:?}");
    let answer = within("the answer", move || waiting.join().unwrap());
    // Its request may have come after the command.
    assert!(answer.is_err() || answer.unwrap().header.is_root_gone);
}

/// As of Watchman 4.9, tried beside it.
#[test]
fn watchman_query_digests_of_files_and_null_of_others() {
    let (served, root) = following();
    let run = |query: &str| {
        let query = command("query", &[root.to_str().unwrap()], query);
        let answer = ask(&served.socket(), Encoding::Json, &query).unwrap();
        let (_, answer, _) = take_message(&answer, usize::MAX).unwrap().unwrap();
        let clock =
            answer.get("clock").and_then(Value::str).unwrap_or_else(|| panic!("{answer:?}"));
        let files = answer.get("files").and_then(Value::array).unwrap();
        let key = |key: &str, file: &Value| file.get(key).cloned().unwrap();
        let text = |value: Value| value.str().map(str::to_owned).unwrap();
        let of_file = |file| (text(key("name", file)), key("content.sha1hex", file));
        (clock.to_owned(), files.iter().map(of_file).collect::<BTreeMap<_, _>>())
    };
    let expect = |digests: &[(&str, &Value)]| {
        let owned = |&(name, digest): &(&str, &Value)| (name.to_owned(), digest.clone());
        digests.iter().map(owned).collect::<BTreeMap<_, _>>()
    };
    let abc = &"a9993e364706816aba3e25717850c26c9cd0d89d".into();
    fs::create_dir(root.join("sub")).unwrap();
    fs::write(root.join("sub/a"), "abc").unwrap();
    fs::write(root.join("gone"), "abc").unwrap();
    let fields = r#""fields": ["name", "content.sha1hex"]"#;
    let (clock, all) = run(&format!("{{{fields}}}"));
    assert_eq!(all, expect(&[("gone", abc), ("sub", &Value::Null), ("sub/a", abc)]));
    fs::remove_file(root.join("gone")).unwrap();
    fs::write(root.join("sub/a"), "").unwrap();
    let (_, changed) = run(&format!(r#"{{"since": "{clock}", {fields}}}"#));
    let empty = &"da39a3ee5e6b4b0d3255bfef95601890afd80709".into();
    assert_eq!(changed, expect(&[("gone", &Value::Null), ("sub/a", empty)]));
}
