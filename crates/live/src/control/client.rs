// SPDX-License-Identifier: GPL-2.0-or-later
//! Asking a running scheduler.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::Request;

/// Longest time that an answer may take to begin or to go on: for some numbers a program is loaded anew, which takes a
/// busy or emulated machine many seconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longest answer, bytes: several times what a machine of thousands of CPUs has to say.
const ANSWER_BYTES_MAX: u64 = 8 << 20;

/// Asks the scheduler behind a socket.
///
/// # Errors
/// One sentence: nothing answers there, or the request was refused.
pub fn ask(path: &Path, request: &Request) -> Result<Value, String> {
    reply(path, request)?
}

/// Reply of the scheduler behind a socket: its answer, or the sentence with which it refused the request.
///
/// # Errors
/// One sentence: nothing answers there.
pub fn reply(path: &Path, request: &Request) -> Result<Result<Value, String>, String> {
    let line = exchange(path, request).map_err(|why| silence(path, &why))?;
    let strange = || format!("what answers at {} is no `pelton live` of this version", path.display());
    let Ok(Value::Object(mut answer)) = serde_json::from_slice(&line) else { return Err(strange()) };
    match (answer.remove("ok"), answer.remove("error")) {
        (Some(answer), None) => Ok(Ok(answer)),
        (None, Some(Value::String(sentence))) => Ok(Err(sentence)),
        _ => Err(strange()),
    }
}

/// One line each way.
fn exchange(path: &Path, request: &Request) -> io::Result<Vec<u8>> {
    let mut stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{}\n", request.value()).as_bytes())?;
    let mut line = Vec::new();
    BufReader::new(stream.take(ANSWER_BYTES_MAX)).read_until(b'\n', &mut line)?;
    if line.is_empty() { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(line) }
}

fn silence(path: &Path, why: &io::Error) -> String {
    let reason = match why.kind() {
        ErrorKind::NotFound => "there is no such socket".to_owned(),
        ErrorKind::ConnectionRefused => "the one that made it has ended".to_owned(),
        ErrorKind::PermissionDenied => "only root may ask".to_owned(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut => format!("no answer for {} s", PATIENCE.as_secs()),
        ErrorKind::UnexpectedEof => "it ended before it answered".to_owned(),
        _ => why.to_string(),
    };
    format!("no `pelton live` answers at {}: {reason}", path.display())
}
