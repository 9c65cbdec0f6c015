//! Another program of transect: beside this one or on PATH, as `git` finds its parts.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::exit::ExitStatus;

/// Returns the path of a program: in the directory of the running one, or else in one of PATH. `None` if
/// there is none.
///
/// Entries of PATH that are empty or relative are skipped: they stand for the current directory, which may
/// be a tree that others have written.
pub fn find(name: &str) -> Option<PathBuf> {
    let own = std::env::current_exe().ok();
    let own = own.as_deref().and_then(Path::parent).map(Path::to_owned);
    let path = std::env::var_os("PATH").unwrap_or_default();
    find_in(name, own.into_iter().chain(std::env::split_paths(&path)))
}

fn find_in(name: &str, directories: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let absolute = directories.into_iter().filter(|directory| directory.is_absolute());
    absolute.map(|directory| directory.join(&file)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    #[cfg(unix)]
    if rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_err() {
        return false;
    }
    file.is_file()
}

/// Runs a program in place of this one. It returns only if the program cannot be started.
#[cfg(unix)]
pub fn run(program: &Path, args: &[OsString]) -> io::Result<ExitStatus> {
    use std::os::unix::process::CommandExt;

    Err(Command::new(program).args(args).exec())
}

/// Runs a program, and returns its exit code. This process ignores the first Ctrl-C, which the program
/// receives, too, so that it can end in order.
#[cfg(not(unix))]
pub fn run(program: &Path, args: &[OsString]) -> io::Result<ExitStatus> {
    let _ignored = crate::interrupt::cancel_on_signal()?;
    let status = Command::new(program).args(args).status()?;
    // The system ended it: its code is a status of 32 bits.
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitStatus::OfProgram(code.unwrap_or(u8::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect_testkit::TempDir;

    #[test]
    fn program_found_in_the_first_absolute_directory_that_has_it() {
        let temp = TempDir::new();
        let file = format!("part{}", std::env::consts::EXE_SUFFIX);
        let directory = |name: &str| {
            let directory = temp.join(name);
            std::fs::create_dir(&directory).unwrap();
            directory
        };
        let [empty, folder, plain, first, second] =
            ["empty", "folder", "plain", "first", "second"].map(directory);
        std::fs::create_dir(folder.join(&file)).unwrap();
        for directory in [&plain, &first, &second] {
            std::fs::write(directory.join(&file), "").unwrap();
        }
        #[cfg(unix)]
        for directory in [&first, &second] {
            use std::os::unix::fs::PermissionsExt;
            let executable = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(directory.join(&file), executable).unwrap();
        }
        // A file that is not executable is none, where the system has such files.
        let plain = if cfg!(unix) { plain } else { empty.clone() };
        let path =
            [PathBuf::new(), PathBuf::from("."), empty, folder, plain, first.clone(), second];
        assert_eq!(find_in("part", path.clone()), Some(first.join(&file)));
        assert_eq!(find_in("other", path), None);
        assert_eq!(find_in("part", [PathBuf::new(), PathBuf::from(".")]), None);
    }
}
