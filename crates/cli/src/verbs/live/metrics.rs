// SPDX-License-Identifier: GPL-2.0-or-later
//! Counts and states of a running scheduler for Prometheus.

use crate::exit::Failure;
use std::net::{SocketAddr, TcpListener};
use std::thread::JoinHandle;
use tiny_http::{Header, Method, Request, Response, Server};

/// Answers that are on their way at the same time; further requests wait.
const ANSWERS_MAX: usize = 4;

/// The listener.
pub(super) struct Metrics {
    server: Server,
    /// Answers on their way: a client that reads slowly holds up nothing but its own.
    answers: Vec<JoinHandle<()>>,
}

impl Metrics {
    /// Takes an address, for [`Metrics::start`].
    pub fn open(address: SocketAddr) -> Result<TcpListener, Failure> {
        TcpListener::bind(address).map_err(|why| refused(address, &why))
    }

    /// Listens. Threads begin here: the caller has given up its privileges before.
    pub fn start(listener: TcpListener) -> Result<Metrics, Failure> {
        let address = listener.local_addr().map_err(|why| refused("the address", &why))?;
        let server = Server::from_listener(listener, None).map_err(|why| refused(address, &why))?;
        if let Some(address) = server.server_addr().to_ip() {
            crate::say(&format!("note: metrics are at http://{address}/metrics"));
        }
        Ok(Metrics { server, answers: Vec::new() })
    }

    /// Answers what was asked since the last time.
    pub fn serve(&mut self, metrics: &dyn Fn() -> String) {
        self.answers.retain(|answer| !answer.is_finished());
        while self.answers.len() < ANSWERS_MAX {
            let Ok(Some(asked)) = self.server.try_recv() else { return };
            let text = (asked.url() == "/metrics" && *asked.method() == Method::Get).then(metrics);
            let answering = std::thread::Builder::new().spawn(move || answer(asked, text));
            self.answers.extend(answering);
        }
    }
}

fn refused(address: impl std::fmt::Display, why: &dyn std::fmt::Display) -> Failure {
    Failure::cannot(
        format!("cannot listen on {address}: {why}"),
        "is another one running? --prometheus with another port, or port 0, is",
    )
}

/// Answers one request; `None`: there is nothing at that place.
fn answer(asked: Request, text: Option<String>) {
    // A client that went away needs no answer.
    let _ = match text {
        None => asked.respond(Response::empty(404)),
        Some(text) => {
            let kind = Header::from_bytes("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
            let answer = Response::from_string(text);
            asked.respond(match kind {
                Ok(kind) => answer.with_header(kind),
                Err(()) => answer,
            })
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    #[test]
    fn metrics_are_at_their_place_and_nothing_else_is_anywhere() {
        let mut metrics = Metrics::open(([127, 0, 0, 1], 0).into()).and_then(Metrics::start).expect("a port");
        let address = metrics.server.server_addr().to_ip().expect("an address");
        let ask = move |place: &str| {
            let mut stream = TcpStream::connect(address).expect("it listens");
            let request = format!("GET {place} HTTP/1.0\r\nHost: localhost\r\n\r\n");
            stream.write_all(request.as_bytes()).expect("room");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).expect("an answer");
            answer
        };
        let asking = std::thread::spawn(move || [ask("/metrics"), ask("/other")]);
        while !asking.is_finished() {
            metrics.serve(&|| "pelton_live_seconds 1\n".to_owned());
            std::thread::yield_now();
        }
        let [found, missing] = asking.join().expect("no panic");
        assert!(found.contains("version=0.0.4") && found.ends_with("pelton_live_seconds 1\n"), "{found}");
        assert!(missing.contains(" 404 "), "{missing}");
    }
}
