//! A service that runs until its test ends.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use transect::Cancel;
use transect_cache::{CacheOptions, Level, LookupResult};
use transect_service::protocol::{WireLayout, append_attributes};
use transect_service::{CACHED_FIELDS, Client, Error, Event, ServeOptions, Server, StopReason};
use transect_testkit::{TempDir, wait_for};

/// A service on its own thread, with a directory to query.
pub(crate) struct Served {
    pub(crate) temp: TempDir,
    pub(crate) server: Arc<Server>,
    pub(crate) end: Cancel,
    events: Arc<Mutex<Vec<Event>>>,
    running: Option<JoinHandle<Result<StopReason, Error>>>,
}

impl Served {
    pub(crate) fn new(level: Level) -> Self {
        Self::with(CacheOptions::new(level), ServeOptions::default(), TempDir::new())
    }

    pub(crate) fn with(options: CacheOptions, serve: ServeOptions, temp: TempDir) -> Self {
        let server = Arc::new(Server::bind(&temp.join("socket"), options).unwrap());
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
        self.temp.join("socket")
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.socket()).unwrap()
    }

    /// Waits for an event, which another thread reports.
    pub(crate) fn wait_for(&self, what: &str, is_it: impl Fn(&Event) -> bool) -> Event {
        wait_for(what, || self.events.lock().unwrap().iter().find(|event| is_it(event)).cloned())
    }

    /// Waits until the service stops by itself.
    pub(crate) fn ended(&mut self) -> StopReason {
        self.running.take().unwrap().join().unwrap().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.end.cancel();
        if let Some(running) = self.running.take() {
            let ended = running.join();
            if !std::thread::panicking() {
                ended.unwrap().unwrap();
            }
        }
    }
}

/// Queries the system.
pub(crate) fn of_system(path: &Path, follow: bool) -> LookupResult {
    Ok(transect_sys::file::query_attributes(path, CACHED_FIELDS, follow)?)
}

/// Returns the bytes of an answer.
pub(crate) fn told(answer: &LookupResult) -> Vec<u8> {
    let mut out = Vec::new();
    append_attributes(&mut out, WireLayout::new(CACHED_FIELDS), answer);
    out
}
