// SPDX-License-Identifier: GPL-2.0-or-later
//! Answering from the loop that owns the scheduler: no call waits for one client.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde_json::{Value, json};

use super::{LINE_BYTES_MAX, Request};
use crate::scheduler::Host;

/// Clients that are served at the same time; others wait until one is done or dropped.
const CLIENTS_MAX: usize = 16;
/// Time in which a client must have said all of its request, and must take the answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// Longest pause after a client could not be accepted: the reason may last, and asking again at once would spin.
const PAUSE: Duration = Duration::from_millis(100);

/// Outcome of one look at the clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// Nothing was asked.
    Nothing,
    /// Requests were answered.
    Answered,
    /// One of them asks the scheduler to end.
    Stop,
}

/// The socket and its clients.
#[derive(Debug)]
pub struct Server {
    listener: UnixListener,
    clients: Vec<Client>,
    path: PathBuf,
    /// Device and inode of the socket: only that one is removed at the end.
    file: (u64, u64),
    pub(super) patience: Duration,
}

impl Server {
    /// Makes the socket, and its folder where there is none. A socket that a dead process left is replaced.
    ///
    /// # Errors
    /// One sentence: another scheduler answers there, something else has that name, or it cannot be made.
    pub fn open(path: &Path) -> Result<Server, String> {
        let failed = |why: io::Error| format!("cannot make the socket {}: {why}", path.display());
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            match DirBuilder::new().mode(0o700).create(folder) {
                Err(why) if why.kind() != ErrorKind::AlreadyExists => return Err(failed(why)),
                _ => {}
            }
        }
        let listener = listen(path)?;
        // Between the two calls the credentials of the peer alone keep others out.
        fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let file = identity(path).map_err(failed)?;
        Ok(Server { listener, clients: Vec::new(), path: path.to_owned(), file, patience: PATIENCE })
    }

    /// Answers what is asked; waits at most `wait` until something is.
    pub fn serve_once(&mut self, host: &mut dyn Host, wait: Duration) -> Served {
        self.wait(wait);
        if self.accept().is_err() {
            // Out of descriptors, most likely.
            std::thread::park_timeout(wait.min(PAUSE));
        }
        let mut served = Served::Nothing;
        for client in &mut self.clients {
            if client.listen() {
                let request = client.take_request();
                let answer = request.as_ref().map_err(String::clone).and_then(|request| request.answer(host));
                let stops = request == Ok(Request::Stop) && answer.is_ok();
                served = if stops || served == Served::Stop { Served::Stop } else { Served::Answered };
                client.say(answer, self.patience);
            }
            client.speak();
        }
        let now = Instant::now();
        self.clients.retain(|client| !client.is_over(now));
        served
    }

    /// Waits until a client comes, says something, takes something or has had its time.
    fn wait(&self, wait: Duration) {
        let now = Instant::now();
        let first = self.clients.iter().map(|client| client.until.saturating_duration_since(now)).min();
        let wait = first.map_or(wait, |first| first.min(wait));
        // Rounded up: a wait of less than a millisecond is no wait of none.
        let wait_ms = i32::try_from(wait.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
        let mut polled: Vec<PollFd<'_>> =
            self.clients.iter().map(|client| PollFd::new(client.stream.as_fd(), client.waits_for())).collect();
        if self.clients.len() < CLIENTS_MAX {
            polled.push(PollFd::new(self.listener.as_fd(), PollFlags::POLLIN));
        }
        // A signal is as good a reason to look as any.
        let _ = poll(&mut polled, PollTimeout::try_from(wait_ms).unwrap_or(PollTimeout::MAX));
    }

    fn accept(&mut self) -> io::Result<()> {
        while self.clients.len() < CLIENTS_MAX {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(why) if is_for_later(&why) => return Ok(()),
                Err(why) => return Err(why),
            };
            stream.set_nonblocking(true)?;
            let mut client = Client::new(stream, self.patience);
            if !is_trusted(&client.stream) {
                client.say(Err("only root may ask".to_owned()), self.patience);
            }
            self.clients.push(client);
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|file| file == self.file) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

/// True where the call can be made again at another time.
fn is_for_later(why: &io::Error) -> bool {
    matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// A socket of this name, in place of one that no process listens at any more.
fn listen(path: &Path) -> Result<UnixListener, String> {
    let name = path.display();
    let failed = |why: io::Error| format!("cannot make the socket {name}: {why}");
    match UnixListener::bind(path) {
        Err(why) if why.kind() == ErrorKind::AddrInUse => {}
        listener => return listener.map_err(failed),
    }
    if !fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
        return Err(format!("{name} is there and is no socket; --socket gives another place"));
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(format!("another `pelton live` answers at {name}: `pelton live stop` ends it")),
        Err(why) if why.kind() == ErrorKind::ConnectionRefused => {
            fs::remove_file(path).and_then(|()| UnixListener::bind(path)).map_err(failed)
        }
        Err(why) => Err(format!("the socket {name} is there and cannot be asked: {why}")),
    }
}

/// True when root is at the other end, or who this process runs as.
fn is_trusted(stream: &UnixStream) -> bool {
    let mut peer = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut size = size_of::<libc::ucred>() as libc::socklen_t;
    let (socket, place) = (stream.as_raw_fd(), (&raw mut peer).cast());
    // SAFETY: the socket is open, and `place` has room for `size` bytes.
    let answer = unsafe { libc::getsockopt(socket, libc::SOL_SOCKET, libc::SO_PEERCRED, place, &raw mut size) };
    answer == 0 && (peer.uid == 0 || peer.uid == nix::unistd::geteuid().as_raw())
}

/// A client: one request, one answer.
#[derive(Debug)]
struct Client {
    stream: UnixStream,
    line: Vec<u8>,
    answer: Option<Vec<u8>>,
    said: usize,
    until: Instant,
    is_gone: bool,
}

impl Client {
    fn new(stream: UnixStream, patience: Duration) -> Client {
        let until = Instant::now() + patience;
        Client { stream, line: Vec::new(), answer: None, said: 0, until, is_gone: false }
    }

    fn waits_for(&self) -> PollFlags {
        if self.answer.is_some() { PollFlags::POLLOUT } else { PollFlags::POLLIN }
    }

    /// Takes what the client said; true when its request is whole, or longer than any.
    fn listen(&mut self) -> bool {
        let mut bytes = [0; 1024];
        while self.answer.is_none() && !self.is_gone && !self.is_whole() {
            match self.stream.read(&mut bytes) {
                Ok(0) => self.is_gone = true,
                Ok(read) => self.line.extend_from_slice(&bytes[..read]),
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) if why.kind() == ErrorKind::WouldBlock => return false,
                Err(_) => self.is_gone = true,
            }
        }
        self.answer.is_none() && self.is_whole()
    }

    fn is_whole(&self) -> bool {
        self.line.contains(&b'\n') || self.line.len() >= LINE_BYTES_MAX
    }

    /// The request, once; what follows its line is not read.
    fn take_request(&mut self) -> Result<Request, String> {
        let line = std::mem::take(&mut self.line);
        match line.iter().take(LINE_BYTES_MAX).position(|&byte| byte == b'\n') {
            Some(end) => Request::parse(&line[..end]),
            None => Err(format!("a request is one line of at most {LINE_BYTES_MAX} bytes")),
        }
    }

    /// Gets an answer ready.
    fn say(&mut self, answer: Result<Value, String>, patience: Duration) {
        let answer = match answer {
            Ok(answer) => json!({"ok": answer}),
            Err(sentence) => json!({"error": sentence}),
        };
        self.answer = Some(format!("{answer}\n").into_bytes());
        self.until = Instant::now() + patience;
    }

    /// Hands over as much of the answer as there is room for.
    fn speak(&mut self) {
        let Some(answer) = &self.answer else { return };
        while !self.is_gone {
            match self.stream.write(&answer[self.said..]) {
                Ok(written) => {
                    self.said += written;
                    self.is_gone = self.said >= answer.len() || written == 0;
                }
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) if why.kind() == ErrorKind::WouldBlock => return,
                Err(_) => self.is_gone = true,
            }
        }
    }

    fn is_over(&self, now: Instant) -> bool {
        self.is_gone || now >= self.until
    }
}
