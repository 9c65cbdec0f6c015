//! Transforms standard input, to standard output, or both.

use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use transect_transform::chain::Chain;
use transect_transform::pass::{PassOptions, PassReport};
use transect_transform::publish::{ReplaceOptions, Replacement};
use transect_transform::step::{Shape, Step};
use transect_transform::{Error, Reason, Source, stream};

use super::report;
use crate::args::TransformArgs;
use crate::output;
use transect_program::interrupt;
use transect_program::{CliError, ExitStatus};

const DASH: &str = "-";

/// The names of the standard streams in errors.
const INPUT: &str = "standard input";
const OUTPUT: &str = "standard output";

/// Input and output; `None` is a standard stream.
pub(super) struct Streams<'a> {
    from: Option<&'a Path>,
    to: Option<&'a Path>,
    /// The output is discarded: only findings are printed.
    discards: bool,
}

impl<'a> Streams<'a> {
    /// Returns the streams if a standard stream is among them.
    pub(super) fn from_args(
        args: &'a TransformArgs,
        paths: &'a [PathBuf],
    ) -> Result<Option<Self>, CliError> {
        let is_standard = |path: &Path| path.as_os_str() == DASH;
        let to = args.output.as_deref().filter(|to| !is_standard(to));
        let to_standard = args.output.as_deref().is_some_and(is_standard);
        let from = match paths {
            [] => None,
            [path] if is_standard(path) => None,
            [path] if to_standard => Some(path.as_path()),
            paths if paths.iter().any(|path| is_standard(path)) || to_standard => {
                let one = "standard input or output allows only one PATH; give one, or write to a directory";
                return Err(CliError::failed(one));
            }
            _ => return Ok(None),
        };
        if args.in_place || args.check {
            let why = "--in-place and --check need files; standard input and output are not files";
            return Err(CliError::failed(why));
        }
        if paths.is_empty() && io::stdin().is_terminal() {
            let why = "no PATH given, and standard input is a terminal; name files or use a pipe";
            return Err(CliError::failed(why));
        }
        Ok(Some(Self { from, to, discards: args.output.is_none() }))
    }

    pub(super) fn run(
        self,
        chain: Chain,
        passes: &PassOptions,
        replace: ReplaceOptions,
    ) -> Result<ExitStatus, CliError> {
        let discards =
            self.discards && chain.shape() == Shape::Reduce && chain.words().next().is_some();
        let passed = match self.pass(chain, passes, replace, discards) {
            Err(error) if matches!(error.reason(), Reason::Cancelled) => {
                return Ok(ExitStatus::Interrupted);
            }
            passed => passed?,
        };
        let name = self.from.unwrap_or(Path::new(DASH));
        let lines = report::digests(&passed.findings, name, self.to.unwrap_or(name));
        // Standard output is taken by the result, if there is one.
        if discards || self.to.is_some() {
            output::stream::stdout().write_all(&lines)?;
        } else {
            // A closed stderr is ignored.
            let _ = output::stream::stderr().write_all(&lines);
        }
        Ok(ExitStatus::Complete)
    }

    fn pass(
        &self,
        chain: Chain,
        passes: &PassOptions,
        replace: ReplaceOptions,
        discards: bool,
    ) -> Result<PassReport, Error> {
        match (self.from, self.to) {
            (None, Some(to)) => {
                let mut out = Replacement::begin(to, None, replace)?;
                let passed = pass(from_stdin(passes), (to, &mut out), chain, passes)?;
                let published = out.publish()?;
                output::report_lost_metadata(&published.path, &published.lost_metadata);
                Ok(passed)
            }
            (from, _) => {
                let to: &mut dyn Write =
                    if discards { &mut io::sink() } else { &mut output::stream::stdout() };
                let to = (Path::new(OUTPUT), to);
                let Some(path) = from else {
                    return pass(from_stdin(passes), to, chain, passes);
                };
                let source = Source::open(path)?;
                let passed = pass((path, &mut &source), to, chain, passes)?;
                source.verify_unchanged()?;
                Ok(passed)
            }
        }
    }
}

fn from_stdin(options: &PassOptions) -> (&'static Path, impl Read) {
    (Path::new(INPUT), interrupt::InterruptibleStdin::new(&options.cancel))
}

fn pass(
    from: (&Path, impl Read),
    to: (&Path, &mut dyn Write),
    mut chain: Chain,
    options: &PassOptions,
) -> Result<PassReport, Error> {
    let is_copy = chain.words().next().is_none();
    let step = (!is_copy).then_some(&mut chain as &mut dyn Step);
    stream(from, to, step, options)
}
