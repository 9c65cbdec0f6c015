//! Options of `fd`, `find` and `ls` that people type from habit, and what does the same here.

use std::env;
use std::ffi::OsString;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::args::{Cli, Command, Request};

/// Options that `list` does not have, and those that it reads as others: `-name` is `-n ame`.
const OPTIONS: [(&[&str], &str); 31] = [
    (&["-H"], "hidden entries are listed, unless --no-hidden is given"),
    (&["-I", "--no-ignore"], "ignored files are listed, unless --gitignore is given"),
    (&["-u", "--unrestricted"], "everything is listed, unless --gitignore or --no-hidden is given"),
    (&["-a", "--absolute-path"], "paths begin as PATH does: transect list \"$PWD\""),
    (&["-p", "--full-path", "-path"], "a glob with a slash matches paths: -g 'src/**/*.rs'"),
    (&["-s", "--case-sensitive"], "upper and lower case differ, unless -i is given"),
    (&["-F", "--fixed-strings"], "names that contain TEXT are found with -g '*TEXT*'"),
    (&["-1"], "-n 1 prints one entry"),
    (&["--changed-within", "-mtime"], "--newer 2d lists what changed within two days"),
    (&["--changed-before"], "--older 2d lists what changed before two days"),
    (&["-mmin"], "--newer 5m lists what changed within five minutes"),
    (&["-name"], "-g PATTERN lists names that match a pattern"),
    (&["-iname"], "-i -g PATTERN lists names that match a pattern in upper or lower case"),
    (&["-regex"], "--regex REGEX lists names that match a regular expression"),
    (&["-type"], "-t f lists files, -t d directories"),
    (&["-size"], "-S +1M lists files of 1 MiB and more"),
    (&["-empty"], "--empty lists empty files and directories"),
    (&["-user"], "--owner USER lists what belongs to a user"),
    (&["-group"], "--owner :GROUP lists what belongs to a group"),
    (&["-perm"], "--perm -MODE lists what has these permissions"),
    (&["-maxdepth", "--maxdepth"], "-d N lists what is at most N levels deep"),
    (&["-mindepth"], "--min-depth N lists what is at least N levels deep"),
    (&["-xdev", "-mount"], "--one-file-system stays on the file system of PATH"),
    (&["-print"], "paths are printed; -0 ends each with a NUL byte"),
    (&["-print0"], "-0 ends each path with a NUL byte"),
    (&["-printf", "--printf"], "--columns size,path prints these columns"),
    (&["-exec"], "-x COMMAND runs a command for each path, -X COMMAND one for all"),
    (&["-delete", "--delete"], "-X rm -f deletes the files that were found"),
    (&["-not"], "-E PATTERN excludes names that match a pattern"),
    (&["-prune"], "-E PATTERN excludes a directory with everything in it"),
    (&["-R"], "all levels are listed, unless -d N is given"),
];

/// Those that would be the extension `xec` or `mpty`.
const LIKE_EXTENSIONS: [&str; 2] = ["-exec", "-empty"];

/// Parses the arguments of the program.
///
/// # Errors
/// Help or the version is wanted, or the arguments are wrong. An option of another program gets a tip.
pub(crate) fn parse() -> Result<Request, clap::Error> {
    let mut error = match Request::parse() {
        Ok(request) => {
            match find(|arg| LIKE_EXTENSIONS.into_iter().find(|option| arg == *option)) {
                Some(option) if matches!(request, Request::Command(Command::List(_))) => {
                    unknown(option)
                }
                _ => return Ok(request),
            }
        }
        Err(error) => error,
    };
    let tip = |arg: &OsString| {
        let known = OPTIONS.iter().find(|(options, _)| options.iter().any(|option| arg == option));
        known.map(|(_, tip)| *tip)
    };
    if let Some(tip) = find(tip).filter(|_| error.use_stderr()) {
        for kind in [ContextKind::SuggestedArg, ContextKind::SuggestedValue] {
            error.remove(kind);
        }
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    Err(error)
}

fn unknown(option: &str) -> clap::Error {
    let mut error = clap::Error::new(ErrorKind::UnknownArgument).with_cmd(&Cli::command());
    error.insert(ContextKind::InvalidArg, ContextValue::String(option.to_owned()));
    error
}

/// Returns what the first of the arguments of `list` stands for that is known.
fn find(known: impl Fn(&OsString) -> Option<&'static str>) -> Option<&'static str> {
    let is_option = |arg: &OsString| arg.as_encoded_bytes().starts_with(b"-");
    let mut args = env::args_os().skip(1).skip_while(is_option);
    args.next().filter(|command| command == "list")?;
    args.take_while(|arg| arg != "--").find_map(|arg| known(&arg))
}
