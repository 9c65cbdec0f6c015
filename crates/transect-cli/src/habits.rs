//! Options of `fd`, `find` and `ls` that people type from habit, and what does the same here.

use std::env;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};

use crate::args::{Cli, Command};

/// Options that `list` does not have, and those that it reads as others: `-name` is `-n ame`.
const OPTIONS: [(&str, &str); 43] = [
    ("-H", "hidden entries are listed, unless --no-hidden is given"),
    ("-I", "ignored files are listed, unless --gitignore is given"),
    ("--no-ignore", "ignored files are listed, unless --gitignore is given"),
    ("-u", "everything is listed, unless --gitignore or --no-hidden is given"),
    ("--unrestricted", "everything is listed, unless --gitignore or --no-hidden is given"),
    ("-a", "paths begin as PATH does: transect list \"$PWD\""),
    ("--absolute-path", "paths begin as PATH does: transect list \"$PWD\""),
    ("-p", "a glob with a slash matches paths: -g 'src/**/*.rs'"),
    ("--full-path", "a glob with a slash matches paths: -g 'src/**/*.rs'"),
    ("-path", "a glob with a slash matches paths: -g 'src/**/*.rs'"),
    ("-s", "upper and lower case differ, unless -i is given"),
    ("--case-sensitive", "upper and lower case differ, unless -i is given"),
    ("-F", "names that contain TEXT are found with -g '*TEXT*'"),
    ("--fixed-strings", "names that contain TEXT are found with -g '*TEXT*'"),
    ("-1", "-n 1 prints one entry"),
    ("--changed-within", "--newer 2d lists what changed within two days"),
    ("--changed-before", "--older 2d lists what changed before two days"),
    ("-mtime", "--newer 2d lists what changed within two days"),
    ("-mmin", "--newer 5m lists what changed within five minutes"),
    ("-name", "-g PATTERN lists names that match a pattern"),
    ("-iname", "-i -g PATTERN lists names that match a pattern in upper or lower case"),
    ("-regex", "--regex REGEX lists names that match a regular expression"),
    ("-type", "-t f lists files, -t d directories"),
    ("-size", "-S +1M lists files of 1 MiB and more"),
    ("-empty", "--empty lists empty files and directories"),
    ("-user", "--owner USER lists what belongs to a user"),
    ("-group", "--owner :GROUP lists what belongs to a group"),
    ("-perm", "--perm -MODE lists what has these permissions"),
    ("-maxdepth", "-d N lists what is at most N levels deep"),
    ("--maxdepth", "-d N lists what is at most N levels deep"),
    ("-mindepth", "--min-depth N lists what is at least N levels deep"),
    ("-xdev", "--one-file-system stays on the file system of PATH"),
    ("-mount", "--one-file-system stays on the file system of PATH"),
    ("-print", "paths are printed; -0 ends each with a NUL byte"),
    ("-print0", "-0 ends each path with a NUL byte"),
    ("-printf", "--columns size,path prints these columns"),
    ("--printf", "--columns size,path prints these columns"),
    ("-exec", "-x COMMAND runs a command for each path, -X COMMAND one for all"),
    ("-delete", "-X rm -f deletes the files that were found"),
    ("--delete", "-X rm -f deletes the files that were found"),
    ("-not", "-E PATTERN excludes names that match a pattern"),
    ("-prune", "-E PATTERN excludes a directory with everything in it"),
    ("-R", "all levels are listed, unless -d N is given"),
];

/// Those that would be the extension `xec` or `mpty`.
const LIKE_EXTENSIONS: [&str; 2] = ["-exec", "-empty"];

/// Parses the arguments of the program.
///
/// # Errors
/// Help or the version is wanted, or the arguments are wrong. An option of another program gets a tip.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    let mut error = match Cli::try_parse() {
        Ok(cli) => match find(&LIKE_EXTENSIONS.map(|option| (option, option))) {
            Some(option) if matches!(cli.command, Some(Command::List(_))) => unknown(option),
            _ => return Ok(cli),
        },
        Err(error) => error,
    };
    if let Some(tip) = find(&OPTIONS).filter(|_| error.use_stderr()) {
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

/// Returns what belongs to the first of these options in the arguments of `list`.
fn find(options: &[(&'static str, &'static str)]) -> Option<&'static str> {
    let is_option = |arg: &OsString| arg.as_encoded_bytes().starts_with(b"-");
    let mut args = env::args_os().skip(1).skip_while(is_option);
    args.next().filter(|command| command == "list")?;
    let known = |arg: OsString| options.iter().find(|(option, _)| arg == *option);
    args.take_while(|arg| arg != "--").find_map(known).map(|(_, meaning)| *meaning)
}
