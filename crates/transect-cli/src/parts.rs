//! Commands that are programs of their own, which this one starts as `git` starts its parts.

use std::ffi::OsString;

use clap::Subcommand;
use clap_complete::Shell;
use transect_program::sibling;

use transect_program::{CliError, ExitStatus};

/// How a user gets a profile of a file system.
pub(crate) const HOW_TO_STORE_SETTINGS: &str =
    "`transect lab tune` measures which settings are fastest here";

#[derive(Debug, Subcommand)]
pub(crate) enum PartCommand {
    /// Measure which ways of reading trees and files are fastest on this machine
    #[command(disable_help_flag = true)]
    Lab {
        /// Pass these arguments to `transect-lab`; `transect lab --help` shows its help
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
}

/// Completes the arguments of a part by the script of its program, which a shell reads when they are first
/// completed. The scripts of other shells stay as they are.
pub(crate) fn complete(shell: Shell, script: String) -> String {
    match shell {
        Shell::Bash => script.replace(" -F _transect ", " -F _transect_or_lab ") + IN_BASH,
        Shell::Zsh => script.replacen("_transect() {\n", IN_ZSH, 1),
        Shell::Fish => script + IN_FISH,
        _ => script,
    }
}

const IN_BASH: &str = r#"
_transect_or_lab() {
    if [[ $COMP_CWORD -lt 2 || ${COMP_WORDS[1]} != lab ]]; then
        _transect "$@"
        return
    fi
    declare -F _transect__lab >/dev/null || eval "$("$1" lab completions bash 2>/dev/null)"
    declare -F _transect__lab >/dev/null || return
    COMP_WORDS=(transect-lab "${COMP_WORDS[@]:2}")
    COMP_CWORD=$((COMP_CWORD - 1))
    _transect__lab transect-lab "$2" "${COMP_WORDS[COMP_CWORD - 1]}"
}
"#;

const IN_ZSH: &str = r#"_transect() {
    if (( CURRENT > 2 )) && [[ $words[2] == lab ]]; then
        (( $+functions[_transect-lab] )) || eval "$($words[1] lab completions zsh 2>/dev/null)"
        (( $+functions[_transect-lab] )) || return 1
        words=(transect-lab "${(@)words[3,-1]}")
        (( CURRENT-- ))
        _transect-lab
        return
    fi
"#;

const IN_FISH: &str = r#"
# Print what completes the arguments of a part.
function __fish_transect_lab
    complete -c transect-lab | string length -q; or transect lab completions fish 2>/dev/null | source
    set -l words (commandline -opc)
    complete -C (string join -- ' ' transect-lab (string escape -- $words[3..]) (commandline -ct))
end
complete -c transect -n "__fish_transect_using_subcommand lab" -f -a "(__fish_transect_lab)"
"#;

/// Understands `help lab run`, which the parser does not, as `lab run --help`.
pub(crate) fn from_help(arguments: impl IntoIterator<Item = OsString>) -> Option<PartCommand> {
    let mut arguments = arguments.into_iter().skip(1);
    arguments.next().filter(|first| first == "help")?;
    arguments.next().filter(|part| part == "lab")?;
    Some(PartCommand::Lab { args: arguments.chain(["--help".into()]).collect() })
}

pub(crate) fn run(part: &PartCommand) -> Result<ExitStatus, CliError> {
    let PartCommand::Lab { args } = part;
    let name = "transect-lab";
    let program = sibling::find(name).ok_or_else(|| {
        CliError::Failed(format!(
            "'{name}' is neither beside this program nor on PATH; in a checkout, \
             `cargo build --release -p {name}` builds it"
        ))
    })?;
    sibling::run(&program, args).map_err(CliError::cannot("start", &program))
}
