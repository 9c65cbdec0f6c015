//! The map of a real tree, served, with what pages request of it.

#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::read::DeflateDecoder;
use serde_json::Value;
use transect::table::{PartialTable, Table, TableBuilder};
use transect::{Cancel, FieldMask, Progress, ScanOptions};
use transect_testkit::{wait_for, wait_until};
use transect_web::map::{LiveMap, Measure, Settings, TrashSource};
use transect_web::serve::Server;

/// A served map.
pub(crate) struct Served {
    pub(crate) address: String,
    _end: EndOnDrop,
}

/// Ends the server, also if a thread panics.
struct EndOnDrop(Cancel);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Serves the map of a tree, and reads the tree again on request.
pub(crate) fn with_served(
    root: &Path,
    removal: Option<TrashSource>,
    max_entries: usize,
    test: impl FnOnce(&Served),
) {
    with_held_tasks(root, removal, max_entries, &AtomicBool::new(false), test);
}

/// As [`with_served`], but tasks of pages wait as long as they are `held`.
pub(crate) fn with_held_tasks(
    root: &Path,
    removal: Option<TrashSource>,
    max_entries: usize,
    held: &AtomicBool,
    test: impl FnOnce(&Served),
) {
    let (progress, cancel) = (Arc::new(Progress::new()), Cancel::new());
    let settings = Settings {
        measure: Measure::Apparent,
        max_entries,
        owner_name: |uid| uid.to_string(),
        read_at: 1_800_000_000,
        interrupted: false,
        disk: None,
        served: None,
        removal,
        followed: false,
    };
    let read = || -> Table {
        let builder = TableBuilder::new(FieldMask::MTIME | FieldMask::FILE_ID);
        let options = ScanOptions::new([root]).progress(Arc::clone(&progress));
        let outcome = options.plan().expect("options").run(|| builder.sink()).expect("a walk");
        outcome.sink.into_table().expect("a small tree")
    };
    let live = LiveMap::new(PartialTable::new(), settings, Arc::clone(&progress), cancel.clone());
    let server = Server::start().expect("a port");
    let served = Served { address: server.address(), _end: EndOnDrop(cancel.clone()) };
    std::thread::scope(|scope| {
        scope.spawn(|| server.serve(&live).expect("a server"));
        scope.spawn(|| {
            let _end = EndOnDrop(cancel.clone());
            live.finish(read(), &settings).expect("memory");
            wait_until("tasks may run", || !held.load(Ordering::Relaxed) || cancel.is_cancelled());
            while live.run_tasks_until_rescan().expect("memory") {
                live.finish(read(), &settings).expect("memory");
            }
        });
        // Dropped inside, so that the threads end.
        let served = served;
        wait_for("the map", || (!served.columns().0["reading"].as_bool()?).then_some(()));
        test(&served);
    });
}

/// A status and a body.
pub(crate) type Answer = (u16, Vec<u8>);

impl Served {
    fn host(&self) -> &str {
        let rest = self.address.strip_prefix("http://").expect("an address");
        rest.split('/').next().expect("a host")
    }

    pub(crate) fn token(&self) -> &str {
        self.address.trim_end_matches('/').rsplit('/').next().expect("a token")
    }

    /// Sends a request with any token and headers.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &str) -> Answer {
        let host = self.host();
        let mut stream = TcpStream::connect(host).expect("the server");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{headers}Connection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).expect("a request");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let status = String::from_utf8_lossy(&answer[9..12]).parse().expect("a status");
        (status, answer[end + 4..].to_vec())
    }

    pub(crate) fn get(&self, page: &str) -> Answer {
        self.send("GET", &format!("/{}/{page}", self.token()), "")
    }

    /// Posts as the page does. Returns the status and the answer.
    pub(crate) fn post(&self, page: &str) -> (u16, Value) {
        let origin = format!("Origin: http://{}\r\n", self.host());
        let (status, body) = self.send("POST", &format!("/{}/{page}", self.token()), &origin);
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }

    /// Returns the description of the current map, and its names by index.
    pub(crate) fn columns(&self) -> (Value, Vec<String>) {
        let (status, body) = self.get("columns/18446744073709551615");
        assert_eq!(status, 200);
        let end = body.iter().position(|&byte| byte == b'\n').expect("a line");
        let about: Value = serde_json::from_slice(&body[..end]).expect("JSON");
        let mut bytes = Vec::new();
        DeflateDecoder::new(&body[end + 1..]).read_to_end(&mut bytes).expect("columns");
        let columns = about["columns"].as_array().expect("a list");
        let place = columns.iter().find(|column| column[0] == "names").expect("names");
        let number = |at: usize| place[at].as_u64().expect("a number") as usize;
        let names = String::from_utf8_lossy(&bytes[number(2)..number(2) + number(3)]).into_owned();
        (about, names.split_terminator('\0').map(str::to_owned).collect())
    }

    /// Returns `VERSION/INDEX` of the entry of a name.
    pub(crate) fn entry(&self, name: &str) -> String {
        let (about, names) = self.columns();
        let index = names.iter().position(|other| other == name).expect("an entry");
        format!("{}/{index}", about["version"])
    }

    /// Returns the outcome of a task that was started.
    pub(crate) fn outcome(&self, started: &Value) -> Value {
        wait_for("the task", || {
            let state: Value = serde_json::from_slice(&self.get("task").1).expect("JSON");
            assert_eq!(state["number"], started["number"], "{state}");
            (state["running"] == false).then(|| state["outcome"].clone())
        })
    }
}

/// Writes a file of `bytes` zeros, with the directories above it.
pub(crate) fn write(path: PathBuf, bytes: usize) {
    std::fs::create_dir_all(path.parent().expect("a directory")).expect("directories");
    std::fs::write(path, vec![0; bytes]).expect("a file");
}
