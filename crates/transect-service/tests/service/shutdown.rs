//! How a service stops, and how clients notice.

use std::time::Duration;

use transect_cache::{CacheOptions, Level};
use transect_service::{CACHED_FIELDS, Client, Error, Event, ServeOptions, Server, StopReason};
use transect_testkit::TempDir;

use crate::support::{Served, socket_for};

#[test]
fn stop_closes_connections_and_removes_socket() {
    let mut served = Served::new(Level::Frozen);
    let mut client = served.client();
    client.attributes(&[served.temp.path()], CACHED_FIELDS, false).unwrap();
    served.stop();
    assert_eq!(served.ended(), StopReason::Cancelled);
    let error = client.attributes(&[served.temp.path()], CACHED_FIELDS, false).unwrap_err();
    assert!(matches!(error, Error::Disconnected), "{error:?}");
    assert_eq!(error.to_string(), "the service has ended");
    let questions = |event: &Event| matches!(event, Event::Disconnected { questions: 1, .. });
    served.wait_for("the end of a connection", questions);
}

#[test]
fn connect_no_service_error() {
    let temp = TempDir::new();
    let socket = socket_for(&temp);
    let error = Client::connect(&socket).unwrap_err();
    assert!(matches!(error, Error::NotRunning(..)), "{error:?}");
    let reason = if cfg!(windows) { " (os error 2)" } else { "socket': No such file or directory" };
    assert!(error.to_string().ends_with(reason), "{error}");
    drop(Server::bind(&socket, CacheOptions::new(Level::Frozen)).unwrap());
    assert!(matches!(Client::connect(&socket), Err(Error::NotRunning(..))));
}

#[test]
fn bind_second_service_error_names_first() {
    let served = Served::new(Level::Frozen);
    let error = Server::bind(&served.socket(), CacheOptions::new(Level::Frozen)).unwrap_err();
    let process = format!("already: process {}", std::process::id());
    assert!(error.to_string().ends_with(&process), "{error}");
    // The first one still answers.
    served.assert_answers();
}

#[test]
fn idle_service_stops() {
    let mut options = ServeOptions::default();
    options.idle = Some(Duration::ZERO);
    let mut served = Served::with(CacheOptions::new(Level::Frozen), options, TempDir::new());
    assert_eq!(served.ended(), StopReason::Idle);
}
