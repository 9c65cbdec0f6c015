//! The program `watchman`: sends a command to the service, which it starts if none runs.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use transect_service::watchman::bser::Version;
use transect_service::watchman::{Encoding, Value, answer_without_service, ask};
use transect_service::{Client, Error};

use crate::args::WatchmanArgs;
use crate::output::{self, stream};
use transect_program::{CliError, ExitStatus, user_dirs};

/// How long a service may take until it listens.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// The time between two attempts to connect.
const RETRY_DELAY: Duration = Duration::from_millis(5);

/// When a service ends that was started here.
const IDLE: &str = "24h";

pub(super) fn run(args: &WatchmanArgs) -> Result<ExitStatus, CliError> {
    if args.version {
        output::print_text(concat!(env!("CARGO_PKG_VERSION"), "\n"))?;
        return Ok(ExitStatus::Complete);
    }
    let encoding = match &*args.output_encoding {
        "bser" => Encoding::Bser(Version::One),
        "bser-v2" => Encoding::Bser(Version::Two),
        _ => Encoding::Json,
    };
    let command = match args.json_command {
        true => {
            let mut text = Vec::new();
            std::io::stdin().read_to_end(&mut text)?;
            let invalid = |error| format!("invalid command on standard input: {error}");
            Value::from_json(&text).map_err(invalid)?
        }
        false => Value::Array(args.command.iter().map(|word| word.as_str().into()).collect()),
    };
    let socket = match &args.socket {
        Some(socket) => std::path::absolute(socket)?,
        None => user_dirs::service_socket()?,
    };
    let name = command.array().and_then(|words| words.first()).and_then(Value::str);
    let encoded = |answer: &Value| {
        let mut bytes = Vec::new();
        encoding.append(&mut bytes, answer);
        bytes
    };
    let answer = match name {
        Some("get-sockname") => {
            if let Err(Error::NotRunning(..)) = Client::connect(&socket).map(drop) {
                start(args, &socket)?;
            }
            encoded(&listens_at(&socket))
        }
        _ => match (ask(&socket, encoding, &command), answer_without_service(&command)) {
            (Err(Error::NotRunning(..)), Some(answer)) if args.no_spawn => encoded(&answer),
            (Err(Error::NotRunning(..)), _) => {
                start(args, &socket)?;
                ask(&socket, encoding, &command)?
            }
            (answer, _) => answer?,
        },
    };
    if name == Some("shutdown-server") {
        wait_for_end(&socket);
    }
    let mut out = stream::stdout();
    out.write_all(&answer)?;
    out.flush()?;
    Ok(ExitStatus::Complete)
}

/// Waits until a service that is ending has ended, so that the next command starts another one.
fn wait_for_end(socket: &Path) {
    let end = Instant::now() + START_TIMEOUT;
    while Instant::now() < end && !matches!(Client::connect(socket), Err(Error::NotRunning(..))) {
        std::thread::sleep(RETRY_DELAY);
    }
}

/// Returns the answer to `get-sockname`.
fn listens_at(socket: &Path) -> Value {
    let path = || Value::from(socket.as_os_str().as_encoded_bytes());
    let version = ("version", env!("CARGO_PKG_VERSION").into());
    Value::object([version, ("sockname", path()), ("unix_domain", path())])
}

/// Starts a service that outlives this process, and returns once it answers.
fn start(args: &WatchmanArgs, socket: &Path) -> Result<(), CliError> {
    let shown = socket.display();
    if args.no_spawn {
        return Err(CliError::Failed(format!("no service answers at '{shown}'")));
    }
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["live", "--idle", IDLE]).stdin(Stdio::null());
    if args.socket.is_some() {
        command.arg("--socket").arg(socket);
    }
    // A client may wait for the end of the output of all that it has started.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C in the terminal is for the client only.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().map_err(|error| format!("cannot start a service: {error}"))?;
    let mut end = Instant::now() + START_TIMEOUT;
    loop {
        if Client::connect(socket).is_ok() {
            return Ok(());
        }
        // Another one may have been started at the same time, and be about to listen.
        if child.try_wait()?.is_some() {
            end = end.min(Instant::now() + START_TIMEOUT / 10);
        }
        if Instant::now() >= end {
            let why = "run `transect live` to see why";
            return Err(CliError::Failed(format!("no service listens at '{shown}'; {why}")));
        }
        std::thread::sleep(RETRY_DELAY);
    }
}
