//! `transect serve`: a cache of attributes for several programs.

use transect_cache::CacheOptions;
use transect_service::{Event, ServeOptions, Server, StopReason, create_socket_dir};

use crate::args::ServeArgs;
use crate::output::units::counted;
use transect_program::user_dirs;

use crate::output;
use transect_program::{CliError, ExitStatus, cancel_on_signal};

pub(crate) fn run(args: &ServeArgs) -> Result<ExitStatus, CliError> {
    let end = cancel_on_signal()?;
    transect_sys::host::raise_handle_limit();
    let socket = match &args.socket {
        Some(socket) => socket.clone(),
        None => {
            let socket = user_dirs::service_socket()?;
            create_socket_dir(&socket)?;
            socket
        }
    };
    let mut options = CacheOptions::new(args.level);
    options.memory = args.memory;
    for root in &args.root {
        // Clients have another current directory.
        let root = std::path::absolute(root)
            .map_err(|_| CliError::failed("--root is empty; name a directory"))?;
        options = options.root(root);
    }
    let server = Server::bind(&socket, options)?;
    let place = socket.display();
    output::note(&format!("listening at '{place}', {}", args.level.as_str()));
    let mut serve = ServeOptions::default();
    serve.idle = args.idle;
    let ended = server.run(&serve, &end, |event| {
        if args.verbose {
            output::note(&describe(&event));
        }
    })?;
    if args.verbose {
        output::note(match ended {
            StopReason::Cancelled => "ended as requested",
            StopReason::Idle => "ended after idle time",
        });
    }
    Ok(ExitStatus::Complete)
}

fn describe(event: &Event) -> String {
    match event {
        Event::Connected { process } => format!("process {process} connected"),
        Event::Refused { user } => format!("rejected user {user}"),
        Event::Busy { process } => format!("rejected process {process}: too many connections"),
        Event::Disconnected { process, questions } => {
            let questions = counted(*questions, "question", "questions");
            format!("process {process} disconnected after {questions}")
        }
        Event::Broken { process, why } => format!("process {process}: {why}"),
        Event::Failed { why } => format!("cannot accept a connection: {why}"),
    }
}
