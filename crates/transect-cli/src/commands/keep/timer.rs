//! `transect keep --every`: a timer of systemd that keeps a snapshot of a directory again and again.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::args::{KeepArgs, KeepEvery};
use crate::output::{self, quote};
use crate::series::Series;
use transect_program::CliError;
use transect_program::user_dirs;

/// The two files of a timer, and what is in them.
pub(super) struct Timer {
    every: KeepEvery,
    /// Their name, without extension.
    name: String,
    directory: PathBuf,
    service: String,
    timer: String,
}

impl Timer {
    /// Returns the timer of a series.
    pub(super) fn of(series: &Series, every: KeepEvery, args: &KeepArgs) -> Result<Self, CliError> {
        let program =
            std::env::current_exe().map_err(CliError::cannot("find", Path::new("transect")))?;
        let name = series.directory().file_name().unwrap_or_default().to_string_lossy();
        let command = command(&program, series.root(), args);
        // The manager of the user's services may not know where this shell keeps data.
        let environment = std::env::var_os("XDG_DATA_HOME").map_or(String::new(), |data| {
            let variable = [OsStr::new("XDG_DATA_HOME="), &data].into_iter().collect::<OsString>();
            format!("Environment={}\n", quoted(&variable))
        });
        Ok(Self {
            every,
            name: format!("transect-keep-{name}"),
            directory: user_dirs::CONFIG.base()?.join("systemd/user"),
            service: format!(
                "[Unit]\nDescription=transect keep: {name}\n\n\
                 [Service]\nType=oneshot\n{environment}ExecStart={command}\n\
                 Nice=19\nIOSchedulingClass=idle\n"
            ),
            timer: format!(
                "[Unit]\nDescription=transect keep: {name}\n\n\
                 [Timer]\nOnCalendar={}\nPersistent=true\n\n\
                 [Install]\nWantedBy=timers.target\n",
                every.calendar(),
            ),
        })
    }

    /// Prints what [`Timer::apply`] would write.
    pub(super) fn preview(&self) -> String {
        let (service, timer) = self.files();
        let quoted = |path: &Path| quote::for_terminal(path.as_os_str());
        if self.every == KeepEvery::Never {
            return format!("would remove '{}' and '{}'\n", quoted(&service), quoted(&timer));
        }
        let part = |path: &Path, text: &str| format!("would write '{}':\n\n{text}\n", quoted(path));
        part(&service, &self.service) + &part(&timer, &self.timer)
    }

    /// Writes the files and starts the timer; or stops it and removes them. Returns a line that reports it.
    ///
    /// # Errors
    /// A file cannot be written or removed, or systemd is not there, or refuses.
    pub(super) fn apply(&self) -> Result<String, CliError> {
        let (service, timer) = self.files();
        let unit = format!("{}.timer", self.name);
        if self.every == KeepEvery::Never {
            if !timer.exists() {
                return Ok(format!("no timer to remove: there is no '{}'\n", timer.display()));
            }
            systemctl(&["disable", "--now", &unit])?;
            for file in [&timer, &service] {
                fs::remove_file(file).map_err(CliError::cannot("remove", file))?;
            }
            systemctl(&["daemon-reload"])?;
            return Ok(format!("removed the timer '{unit}'\n"));
        }
        // Before anything is written: fails, too, without a manager of the user's services, as in a container.
        systemctl(&["show-environment"])?;
        fs::create_dir_all(&self.directory).map_err(CliError::cannot("create", &self.directory))?;
        for (file, text) in [(&service, &self.service), (&timer, &self.timer)] {
            output::file::write(file, |out| out.write_all(text.as_bytes()))?;
        }
        systemctl(&["daemon-reload"])?;
        systemctl(&["enable", "--now", &unit])?;
        Ok(format!(
            "keeps one every {}, by the timer '{unit}'; --every never ends that\n",
            self.every.as_str()
        ))
    }

    fn files(&self) -> (PathBuf, PathBuf) {
        let file = |extension| self.directory.join(format!("{}.{extension}", self.name));
        (file("service"), file("timer"))
    }
}

/// Returns the command that keeps a snapshot, for a unit file. What it prints is in the journal of the user.
fn command(program: &Path, root: &Path, args: &KeepArgs) -> String {
    let mut command = format!("{} keep --quiet", quoted(program.as_os_str()));
    if args.one_file_system {
        command += " --one-file-system";
    }
    if args.no_thin {
        command += " --no-thin";
    }
    if let Some(level) = args.rescan.rescan {
        let _ = write!(command, " --rescan {}", level.as_str());
    }
    let _ = write!(command, " -- {}", quoted(root.as_os_str()));
    // Otherwise, the word behind it would be a variable.
    command.replace('$', "$$")
}

/// Quotes a word for a unit file: systemd.syntax(7), and systemd.unit(5) for `%`.
fn quoted(word: &OsStr) -> String {
    let mut text = String::from("\"");
    for chunk in word.as_encoded_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' | '\\' => text.extend(['\\', character]),
                '%' => text.push_str("%%"),
                _ if character.is_control() => {
                    let mut bytes = [0; 4];
                    for byte in character.encode_utf8(&mut bytes).bytes() {
                        let _ = write!(text, "\\x{byte:02x}");
                    }
                }
                _ => text.push(character),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text + "\""
}

/// Runs `systemctl --user`.
fn systemctl(args: &[&str]) -> Result<(), CliError> {
    let mut command = Command::new("systemctl");
    command.arg("--user").args(args).stdin(Stdio::null()).stdout(Stdio::null());
    let instead = "for another timer, such as cron, use `transect keep --quiet PATH`";
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stderr);
            let told = told.lines().next().map_or(output.status.to_string(), str::to_owned);
            let args = args.join(" ");
            Err(CliError::Failed(format!("systemctl --user {args} failed: {told}; {instead}")))
        }
        Err(error) => {
            let reason = transect::reason(&error);
            Err(CliError::Failed(format!("cannot start systemctl: {reason}; {instead}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_unit_files_quoted() {
        for (word, quoted) in [
            ("/home/me", r#""/home/me""#),
            ("/a b/100%/$x", r#""/a b/100%%/$x""#),
            ("\"\\\n", r#""\"\\\x0a""#),
            ("ä", "\"ä\""),
        ] {
            assert_eq!(super::quoted(OsStr::new(word)), quoted);
        }
        #[cfg(unix)]
        {
            let bytes = transect_sys::name_from_bytes(b"a\xff".to_vec());
            assert_eq!(super::quoted(&bytes), r#""a\xff""#);
        }
    }
}
