//! `transect task`: runs one task of a scan that consists of many.

use std::io::Read;
use std::path::Path;

use transect::ScanOptions;
use transect_snapshot::tasks::{Task, TaskError, TaskOptions};

use crate::args::TaskArgs;
use crate::output;
use crate::root_path::absolute;
use transect_program::{CliError, ExitStatus, cancel_on_signal};

/// The maximum length of a task in bytes: a hundred thousand long paths.
const MAX_TASK: u64 = 512 << 20;

pub(crate) fn run(args: &TaskArgs) -> Result<ExitStatus, CliError> {
    let (Some(input), Some(directory)) = (&args.input, &args.out) else { return print_first(args) };
    let mut task = read(input)?;
    task.entries = args.entries.unwrap_or(task.entries);
    task.entries_of_directory = args.directory_entries.unwrap_or(task.entries_of_directory);
    task.seconds = args.seconds.or(task.seconds);
    task.split = args.split.unwrap_or(task.split);
    let task = task.checked().map_err(CliError::failed)?;
    let mut options = ScanOptions::default().cancel(cancel_on_signal()?);
    options.threads = args.threads.map(usize::from);
    transect_sys::host::raise_handle_limit();
    output::file::create_directory(directory)?;
    let result =
        if args.give_up { task.give_up(directory) } else { task.run_with(directory, options) };
    let result = match result {
        Ok(result) => result,
        Err(TaskError::Cancelled) => {
            output::note("interrupted: no part was published");
            return Ok(ExitStatus::Interrupted);
        }
        Err(error) => return Err(CliError::failed(error)),
    };
    match args.next {
        true => result.tasks.iter().try_for_each(output::print_json)?,
        false => output::print_json(&result)?,
    }
    if result.adopted {
        output::hint("the part was there already, and the task was not run again");
    }
    if result.errors > 0 {
        let errors = output::units::counted(result.errors, "error", "errors");
        output::hint(&format!("{errors}; the part has them, and `transect commit` lists them"));
    }
    Ok(ExitStatus::complete_if(result.errors == 0))
}

fn print_first(args: &TaskArgs) -> Result<ExitStatus, CliError> {
    let mut options = TaskOptions::default();
    options.one_file_system = args.one_file_system;
    options.pseudo = args.pseudo;
    options.all_times = args.all_times;
    options.exclude.clone_from(&args.exclude);
    let roots: Vec<_> = args.first.iter().map(|root| absolute(root)).collect();
    let task = Task::first(&roots, options).map_err(CliError::failed)?;
    task.check_roots().map_err(CliError::failed)?;
    output::print_json(&task)?;
    Ok(ExitStatus::Complete)
}

fn read(input: &Path) -> Result<Task, CliError> {
    let mut text = Vec::new();
    let read =
        output::file::open_input(input).and_then(|file| file.take(MAX_TASK).read_to_end(&mut text));
    read.map_err(CliError::cannot("read", input))?;
    Task::from_json(&text)
        .map_err(|error| CliError::Failed(format!("cannot use '{}': {error}", input.display())))
}
