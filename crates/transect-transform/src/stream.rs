//! Transforms a stream, for filters in a pipe.

use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use crate::error::{Error, Operation};
use crate::pass::{IoMethod, PassOptions, PassReport, run_step};
use crate::step::{Shape, Step};

/// Default number of bytes to read at once: the capacity of a pipe.
const BLOCK: usize = 64 << 10;

/// Reads a stream, runs a step on it, and writes the result; without a step, copies it. `input` and
/// `output` are the names used in errors. Output that was written before an error stays written: to
/// write all or nothing, [`transform`](crate::transform()) files or write to a
/// [`Replacement`](crate::publish::Replacement).
///
/// # Errors
/// The step cannot process the input, the pass was cancelled, or reading or writing failed.
pub fn stream(
    (input, mut from): (&Path, impl Read),
    (output, to): (&Path, &mut dyn Write),
    mut step: Option<&mut dyn Step>,
    options: &PassOptions,
) -> Result<PassReport, Error> {
    let (mut bytes_in, mut bytes_out) = (0, 0);
    let mut write = |bytes: &[u8]| {
        bytes_out += bytes.len() as u64;
        to.write_all(bytes).map_err(Error::system(Operation::Write, output))
    };
    let mut block = vec![0; options.block.unwrap_or(BLOCK).max(1)];
    let mut result = Vec::new();
    loop {
        if options.cancel.is_cancelled() {
            return Err(Error::cancelled(input));
        }
        // Pass on what has arrived, without waiting for a whole block.
        let read = match from.read(&mut block) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read.map_err(Error::system(Operation::Read, input))?,
        };
        let block = &mut block[..read];
        bytes_in += read as u64;
        match &mut step {
            None => write(block)?,
            Some(step) => match step.shape() {
                Shape::SameSize => {
                    step.change(block).map_err(Error::invalid(input))?;
                    write(block)?;
                }
                Shape::Resizing => {
                    run_step(input, &mut result, &mut write, |out| step.feed(block, out))?;
                }
                Shape::Reduce => {
                    run_step(input, &mut result, &mut |_| Ok(()), |out| step.feed(block, out))?;
                    write(block)?;
                }
            },
        }
        if block.is_empty() {
            break;
        }
    }
    let mut findings = Vec::new();
    if let Some(step) = step {
        run_step(input, &mut result, &mut write, |out| step.finish(out))?;
        findings = step.findings();
    }
    to.flush().map_err(Error::system(Operation::Write, output))?;
    let (method, reason) = (IoMethod::Buffered, "it comes as it comes");
    Ok(PassReport { bytes_in, bytes_out, changed: None, findings, method, reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::Chain;

    fn run(line: &str, input: &[u8]) -> Result<(Vec<u8>, PassReport), Error> {
        let mut chain: Chain = line.parse().unwrap();
        let mut result = Vec::new();
        let options = PassOptions { block: Some(3), ..PassOptions::default() };
        let (from, to) = (Path::new("input"), Path::new("output"));
        let passed = stream((from, input), (to, &mut result), Some(&mut chain), &options)?;
        Ok((result, passed))
    }

    #[test]
    fn stream_every_shape() {
        for (line, result) in [
            ("case=upper", "ONE\r\nTWO  "),
            ("eol=lf trim", "one\ntwo"),
            ("crc32c", "one\r\ntwo  "),
        ] {
            let (came, passed) = run(line, b"one\r\ntwo  ").unwrap();
            assert_eq!(String::from_utf8(came).unwrap(), result, "{line}");
            assert_eq!((passed.bytes_in, passed.bytes_out), (10, result.len() as u64));
        }
        assert_eq!(run("crc32c", b"123456789").unwrap().1.findings[0].value, "e3069283");
        let refused = run("gunzip", b"").unwrap_err().to_string();
        assert_eq!(refused, "cannot transform 'input': gunzip: not a gzip file: it is empty");
    }

    #[test]
    fn stream_broken_pipe_reported() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let options = PassOptions::default();
        let (from, to) = (Path::new("input"), Path::new("output"));
        let failed = stream((from, &b"text"[..]), (to, &mut Closed), None, &options).unwrap_err();
        assert_eq!(failed.to_string(), "cannot write 'output': broken pipe");
    }
}
