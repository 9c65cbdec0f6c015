//! A service that runs until its test ends.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use transect::{Cancel, FieldMask};
use transect_cache::{CacheOptions, Level, LookupResult};
use transect_service::protocol::{WireLayout, append_attributes};
use transect_service::{CACHED_FIELDS, Client, Error, Event, ServeOptions, Server, StopReason};
use transect_testkit::{TempDir, wait_for, within};

/// A service on its own thread, with a directory to query.
pub(crate) struct Served {
    pub(crate) temp: TempDir,
    pub(crate) server: Arc<Server>,
    end: Cancel,
    events: Arc<Mutex<Vec<Event>>>,
    running: Option<JoinHandle<Result<StopReason, Error>>>,
}

impl Served {
    pub(crate) fn new(level: Level) -> Self {
        Self::with(CacheOptions::new(level), ServeOptions::default(), TempDir::new())
    }

    pub(crate) fn with(options: CacheOptions, serve: ServeOptions, temp: TempDir) -> Self {
        Self::run(Server::bind(&socket_for(&temp), options).unwrap(), serve, temp)
    }

    /// A service that follows a directory, and has read it.
    #[cfg(target_os = "linux")]
    pub(crate) fn following(temp: TempDir, root: PathBuf) -> Self {
        let mut options = CacheOptions::new(Level::Checked);
        options.roots = vec![temp.path().to_owned()];
        let server = Server::bind(&socket_for(&temp), options).unwrap().follow(vec![(root, None)]);
        let served = Self::run(server, ServeOptions::default(), temp);
        served.wait_for("a tree that was read", |event| matches!(event, Event::Followed { .. }));
        served
    }

    fn run(server: Server, serve: ServeOptions, temp: TempDir) -> Self {
        let server = Arc::new(server);
        let (end, events) = (Cancel::new(), Arc::default());
        let running = {
            let (server, end, events) = (Arc::clone(&server), end.clone(), Arc::clone(&events));
            std::thread::spawn(move || {
                let events: &Mutex<Vec<Event>> = &events;
                server.run(&serve, &end, |event| events.lock().unwrap().push(event))
            })
        };
        Self { temp, server, end, events, running: Some(running) }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        socket_for(&self.temp)
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.socket()).unwrap()
    }

    /// Asserts that the service answers a new client.
    #[track_caller]
    pub(crate) fn assert_answers(&self) {
        self.assert_answers_to(&mut self.client());
    }

    /// Asserts that the service answers a client.
    #[track_caller]
    pub(crate) fn assert_answers_to(&self, client: &mut Client) {
        let answers = client.attributes(&[self.temp.path()], CACHED_FIELDS, false).unwrap();
        assert!(answers[0].is_ok(), "{answers:?}");
    }

    /// Waits for an event, which another thread reports.
    pub(crate) fn wait_for(&self, what: &str, is_it: impl Fn(&Event) -> bool) -> Event {
        wait_for(what, || self.events.lock().unwrap().iter().find(|event| is_it(event)).cloned())
    }

    pub(crate) fn stop(&self) {
        self.end.cancel();
        self.server.waker().wake();
    }

    /// Waits until the service stops by itself.
    pub(crate) fn ended(&mut self) -> StopReason {
        let running = self.running.take().unwrap();
        within("the end of the service", move || running.join().unwrap().unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop();
        if let Some(running) = self.running.take() {
            // While a test fails, nothing waits: its message matters.
            if !std::thread::panicking() {
                let _ = within("the end of the service", move || running.join().unwrap().unwrap());
            }
        }
    }
}

/// Returns a socket in a directory, or a pipe with the name of the directory.
pub(crate) fn socket_for(temp: &TempDir) -> PathBuf {
    if cfg!(windows) {
        Path::new(r"\\.\pipe\").join(temp.path().file_name().unwrap())
    } else {
        temp.join("socket")
    }
}

/// Queries the system.
pub(crate) fn of_system(path: &Path, follow: bool) -> LookupResult {
    Ok(transect_sys::file::query_attributes(path, CACHED_FIELDS, follow)?)
}

/// Returns the bytes of an answer.
pub(crate) fn told(answer: &LookupResult) -> Vec<u8> {
    told_of(answer, CACHED_FIELDS)
}

/// Returns the bytes of some attributes.
#[cfg(target_os = "linux")]
pub(crate) fn told_with(attributes: transect::Attributes, fields: FieldMask) -> Vec<u8> {
    told_of(&Ok(attributes), fields)
}

pub(crate) fn told_of(answer: &LookupResult, fields: FieldMask) -> Vec<u8> {
    let mut out = Vec::new();
    append_attributes(&mut out, WireLayout::new(fields), answer);
    out
}
