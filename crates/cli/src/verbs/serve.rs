// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton serve`: one page or trace for a browser on this machine.

use super::common::{Screen, failure, print};
use super::trace::say_losses;
use crate::args::{Global, ServeArgs};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use pelton_lab::verbs::export::{self, ExportForm, ExportRequest};
use pelton_scenario::reading;
use std::io::Cursor;
use std::path::Path;
use std::time::Duration;
use tiny_http::{Header, Method, Request, Response, Server, StatusCode};

/// Port that the Perfetto UI may ask.
const PERFETTO_PORT: u16 = 9001;
/// The Perfetto UI.
const PERFETTO: &str = "https://ui.perfetto.dev";
/// Bytes of a file that is sent.
const FILE_BYTES_MAX: usize = 1 << 30;
/// Time between two looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(100);

/// Runs the verb: until Ctrl-C, or until the file was fetched.
pub fn serve(args: &ServeArgs, global: &Global) -> Result<Exit, Failure> {
    let sent = Sent::of(&args.file, global)?;
    let port = args.port.unwrap_or(if sent.is_trace { PERFETTO_PORT } else { 0 });
    let server = Server::http(("127.0.0.1", port)).map_err(|why| {
        Failure::cannot(
            format!("cannot listen on 127.0.0.1:{port}: {why}"),
            "is another one running? --port gives another",
        )
    })?;
    let port = server.server_addr().to_ip().map_or(port, |address| address.port());
    let path = format!("/{}/{}", token()?, sent.name);
    let address = format!("http://127.0.0.1:{port}{path}");
    print(&match sent.is_trace {
        true => format!("{PERFETTO}/#!/?url={address}\n"),
        false => format!("{address}\n"),
    })?;
    if !global.quiet {
        crate::say("only this machine can fetch it; Ctrl-C ends");
    }
    let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    loop {
        if interrupt::is_requested() {
            interrupt::notice();
            return Ok(Exit::Good);
        }
        let asked = server.recv_timeout(LOOK);
        let asked = asked.map_err(|why| Failure::cannot(format!("cannot listen on: {why}"), "start it again"))?;
        let fetched = asked.is_some_and(|asked| answer(asked, &sent, &path, &hosts));
        if fetched && args.once {
            return Ok(Exit::Good);
        }
    }
}

/// A file as it is sent.
struct Sent {
    name: &'static str,
    kind: &'static str,
    bytes: Vec<u8>,
    is_trace: bool,
}

impl Sent {
    /// A page as it is, a trace as Perfetto reads it.
    fn of(path: &Path, global: &Global) -> Result<Sent, Failure> {
        let request = ExportRequest { trace: path.to_owned(), to: ExportForm::Perfetto, ..ExportRequest::default() };
        let is_page = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("html"));
        match Sent::trace(&request, global) {
            // A page of systrace is a trace; any other is none.
            Err(_) if is_page && !interrupt::is_requested() => Sent::page(path),
            sent => sent,
        }
    }

    fn trace(request: &ExportRequest, global: &Global) -> Result<Sent, Failure> {
        let watch = Screen::new(global);
        let mut opened = export::open(request, &watch).map_err(failure)?;
        let mut bytes = Vec::new();
        let converted = opened.write(&mut bytes, &watch).map_err(failure)?;
        if converted.stopped {
            return Err(interrupt::failure("interrupted: nothing is served".to_owned()));
        }
        if !global.quiet {
            say_losses(opened.info(), &converted, "what is served");
        }
        Ok(Sent { name: "trace.pftrace", kind: "application/octet-stream", bytes, is_trace: true })
    }

    fn page(path: &Path) -> Result<Sent, Failure> {
        let bytes = reading::bytes(path, FILE_BYTES_MAX).map_err(|why| {
            let reason = format!("{}: {why}", path.display());
            Failure::new(Exit::BadInput, reason, Some("give the path of a page or a trace"))
        })?;
        Ok(Sent { name: "page.html", kind: "text/html; charset=utf-8", bytes, is_trace: false })
    }
}

/// A name that no page of another server can guess.
fn token() -> Result<String, Failure> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|why| Failure::cannot(format!("no random numbers: {why}"), "the system gives them"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Answers a request; true when the file was fetched.
fn answer(asked: Request, sent: &Sent, path: &str, hosts: &[String]) -> bool {
    let header = |name: &'static str| asked.headers().iter().find(move |header| header.field.equiv(name));
    // A page of another name that was made to lead here must not read it.
    let is_local = header("Host").is_some_and(|host| hosts.iter().any(|known| host.value.as_str() == known));
    let is_it = is_local && *asked.method() == Method::Get && asked.url() == path;
    if !is_it {
        let _ = asked.respond(Response::empty(404));
        return false;
    }
    let headers = [
        ("Content-Type", sent.kind),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("Access-Control-Allow-Origin", PERFETTO),
    ];
    let headers = headers.into_iter().filter_map(|(name, value)| Header::from_bytes(name, value).ok()).collect();
    let body = Cursor::new(&sent.bytes[..]);
    asked.respond(Response::new(StatusCode(200), headers, body, Some(sent.bytes.len()), None)).is_ok()
}
