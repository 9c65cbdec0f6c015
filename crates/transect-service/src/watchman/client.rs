//! The client's side: sends a command, and returns the answer as it is.

use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use super::value::Value;
use super::wire::{Encoding, take_message};
use crate::error::Error;
use crate::transport::Stream;

/// How long to wait while other clients connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Sends a command of Watchman's protocol to the service at a socket, and returns the answer in the same form.
///
/// # Errors
/// No service answers, or it belongs to another user.
pub fn ask(socket: &Path, encoding: Encoding, command: &Value) -> Result<Vec<u8>, Error> {
    let stream = Stream::connect(socket, CONNECT_TIMEOUT)?;
    let (mut request, mut sent) = (Vec::new(), 0);
    encoding.append(&mut request, command);
    while sent < request.len() {
        match (&stream).write(&request[sent..]) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => stream.wait(true, None)?,
            written => sent += written?,
        }
    }
    let (mut answer, mut block) = (Vec::new(), [0; 64 << 10]);
    loop {
        // The end of a line is the end of JSON; only BSER must be parsed to find it.
        let is_whole = match encoding {
            Encoding::Json => answer.ends_with(b"\n"),
            Encoding::Bser(_) => take_message(&answer, usize::MAX)?.is_some(),
        };
        if is_whole {
            return Ok(answer);
        }
        match (&stream).read(&mut block) {
            Ok(0) => return Err(Error::Disconnected),
            Ok(read) => answer.extend_from_slice(&block[..read]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => stream.wait(false, None)?,
            Err(error) => return Err(error.into()),
        }
    }
}
