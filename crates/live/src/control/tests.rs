// SPDX-License-Identifier: GPL-2.0-or-later
//! A scheduler that is none behind a socket, and clients of every kind.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::scheduler::{CpuView, Ended, Explanation, Group, Host, Term};

/// Longest wait for a client that has spoken already.
const SOON: Duration = Duration::from_millis(200);

#[derive(Default)]
struct Fake {
    groups: Vec<(String, Group)>,
    numbers: Vec<(String, String)>,
}

impl Host for Fake {
    fn seconds(&self) -> f64 {
        2.5
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![("evaluated", 7)]
    }

    fn cpus(&self) -> Vec<CpuView> {
        (0..300).map(|cpu| CpuView { cpu, capacity: 1024, ..CpuView::default() }).collect()
    }

    fn groups(&self) -> Vec<(String, Group)> {
        self.groups.clone()
    }

    fn set_group(&mut self, cgroup: &str, group: Group) -> Result<(), String> {
        if cgroup.ends_with("/none") {
            return Err(format!("there is no cgroup {cgroup}"));
        }
        self.groups.retain(|(known, _)| known != cgroup);
        self.groups.push((cgroup.to_owned(), group));
        Ok(())
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        self.numbers.push((name.to_owned(), value.to_owned()));
        if name == "uclamp" { Err("`uclamp` is a switch, which holds until the end".to_owned()) } else { Ok(()) }
    }

    fn explain(&self, cpu: u32) -> Result<Option<Explanation>, String> {
        let terms = vec![Term { name: "util", value: 300 }];
        match cpu {
            0 => Ok(Some(Explanation { cpu, ago_ns: 5, terms })),
            1 => Ok(None),
            _ => Err(format!("there is no CPU {cpu}")),
        }
    }

    fn ended(&self) -> Option<Ended> {
        None
    }
}

struct Place {
    server: Server,
    host: Fake,
    path: PathBuf,
    _folder: TempDir,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pelton").join("live.sock");
        Place { server: Server::open(&path).expect("a socket"), host: Fake::default(), path, _folder: folder }
    }

    fn client(&self) -> UnixStream {
        let client = UnixStream::connect(&self.path).expect("a server listens");
        client.set_read_timeout(Some(Duration::from_secs(20))).expect("a time");
        client
    }

    fn serve(&mut self) -> Served {
        self.server.serve_once(&mut self.host, SOON)
    }

    /// Answer to what a client writes in one piece.
    fn answer(&mut self, line: &[u8]) -> (Served, Value) {
        let mut client = self.client();
        client.write_all(line).expect("room for a line");
        let served = self.serve();
        (served, read(&mut client))
    }

    fn ok(&mut self, request: &Request) -> Value {
        let (_, mut answer) = self.answer(format!("{}\n", request.value()).as_bytes());
        assert!(answer["ok"].is_object(), "{answer}");
        answer["ok"].take()
    }

    fn error(&mut self, line: &[u8]) -> String {
        let (served, answer) = self.answer(line);
        assert_eq!(served, Served::Answered, "{answer}");
        answer["error"].as_str().expect("a sentence").to_owned()
    }
}

fn read(client: &mut UnixStream) -> Value {
    let mut line = String::new();
    // The rest of what was not read makes an error of the end, behind the answer.
    let _ = client.read_to_string(&mut line);
    assert!(line.ends_with('\n') && line.lines().count() == 1, "one line: {line}");
    serde_json::from_str(&line).expect("JSON")
}

#[test]
fn folder_and_socket_are_for_their_owner_alone_and_the_socket_goes_with_the_server() {
    let place = Place::new();
    let mode = |path: &std::path::Path| path.metadata().expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&place.path), 0o600);
    assert_eq!(mode(place.path.parent().expect("a folder")), 0o700);
    let Place { server, path, .. } = &place;
    assert!(path.exists() && format!("{server:?}").contains("live.sock"));
    let path = path.clone();
    drop(place);
    assert!(!path.exists());
}

#[test]
fn every_request_is_carried_out() {
    let mut place = Place::new();
    assert_eq!(place.serve(), Served::Nothing);
    let status = place.ok(&Request::Status);
    assert_eq!((&status["seconds"], &status["counts"][0]["count"]), (&json!(2.5), &json!(7)));
    assert_eq!(status["cpus"].as_array().map(Vec::len), Some(300), "more than one write's worth");
    let boosted = place.ok(&Request::Boost { cgroup: "/app.slice".into(), percent: 30 });
    assert_eq!(boosted["cgroup"], "/app.slice");
    let clamped = place.ok(&Request::Clamp { cgroup: "app.slice/".into(), min: 10, max: 300 });
    assert_eq!(clamped["boost_percent"], 30, "clamps leave the boost alone");
    let group = Group { boost_percent: 30, min: 10, max: 300 };
    assert_eq!(place.host.groups, [("/sys/fs/cgroup/app.slice".to_owned(), group)], "the host gets the whole path");
    assert_eq!(place.ok(&Request::Boost { cgroup: "/".into(), percent: -5 })["cgroup"], "/");
    place.ok(&Request::Set { name: "headroom_pct".into(), value: "10".into() });
    assert_eq!(place.host.numbers, [("headroom_pct".to_owned(), "10".to_owned())]);
    assert_eq!(place.ok(&Request::Explain { cpu: 0 })["decision"]["terms"][0], json!({"name": "util", "value": 300}));
    assert!(place.ok(&Request::Explain { cpu: 1 })["decision"].is_null());
    let (served, answer) = place.answer(b"{\"ask\":\"stop\"}\n");
    assert_eq!((served, &answer["ok"]["seconds"]), (Served::Stop, &json!(2.5)));
}

#[test]
fn a_value_that_is_refused_is_answered_with_a_sentence() {
    let mut place = Place::new();
    assert!(place.error(b"{\"ask\":\"boost\",\"cgroup\":\"/none\",\"percent\":5}\n").contains("no cgroup"));
    assert!(place.error(b"{\"ask\":\"boost\",\"cgroup\":\"/\",\"percent\":500}\n").contains("from -100 to 100"));
    assert!(place.error(b"{\"ask\":\"boost\",\"cgroup\":\"/..\",\"percent\":5}\n").contains("without `..`"));
    assert!(place.error(b"{\"ask\":\"clamp\",\"cgroup\":\"/\",\"min\":9,\"max\":3}\n").contains("above the upper one"));
    assert!(place.error(b"{\"ask\":\"set\",\"name\":\"uclamp\",\"value\":\"sum\"}\n").contains("is a switch"));
    assert!(place.error(b"{\"ask\":\"explain\",\"cpu\":900}\n").contains("no CPU 900"));
    assert!(place.host.groups.is_empty());
}

#[test]
fn what_is_no_request_is_answered_with_a_sentence() {
    let mut place = Place::new();
    assert!(place.error(b"status\n").contains("one line of JSON"));
    assert!(place.error(b"\n").contains("one line of JSON"));
    assert!(place.error(b"\xff\xfe\0\n").contains("one line of JSON"));
    assert!(place.error(b"[\n").contains("one line of JSON"));
    assert!(place.error(&[&[b' '; 9000][..], b"\n"].concat()).contains("at most 4096 bytes"));
    let longest = format!("{:4095}\n", "{\"ask\":\"status\"}");
    assert_eq!(longest.len(), LINE_BYTES_MAX);
    let (_, answer) = place.answer(longest.as_bytes());
    assert!(answer["ok"].is_object());
}

#[test]
fn a_line_may_come_in_pieces_and_half_a_line_is_nothing() {
    let mut place = Place::new();
    let (mut slow, mut gone) = (place.client(), place.client());
    slow.write_all(b"{\"ask\":").expect("room");
    gone.write_all(b"{\"ask\":\"stop\"}").expect("room");
    drop(gone);
    assert_eq!(place.serve(), Served::Nothing);
    slow.write_all(b"\"status\"}\n{\"ask\":\"stop\"}\n").expect("room");
    assert_eq!(place.serve(), Served::Answered, "the second line is not read");
    assert!(read(&mut slow)["ok"].is_object());
    assert_eq!(place.serve(), Served::Nothing);
}

#[test]
fn a_client_that_says_nothing_is_dropped() {
    let mut place = Place::new();
    place.server.patience = Duration::from_millis(20);
    let mut silent = place.client();
    silent.write_all(b"{").expect("room");
    for _ in 0..3 {
        place.serve();
    }
    let mut rest = Vec::new();
    let _ = silent.read_to_end(&mut rest);
    assert!(rest.is_empty());
    assert!(place.ok(&Request::Status).is_object(), "others are served");
}

#[test]
fn a_client_that_does_not_read_holds_up_no_other() {
    let mut place = Place::new();
    let mut deaf: Vec<UnixStream> = (0..8).map(|_| place.client()).collect();
    deaf.iter_mut().for_each(|client| client.write_all(b"{\"ask\":\"status\"}\n").expect("room"));
    assert!(place.ok(&Request::Explain { cpu: 0 }).is_object());
}

#[test]
fn more_clients_than_are_served_at_once_are_all_answered() {
    let mut place = Place::new();
    let mut clients: Vec<UnixStream> = (0..40).map(|_| place.client()).collect();
    clients.iter_mut().for_each(|client| client.write_all(b"{\"ask\":\"explain\",\"cpu\":0}\n").expect("room"));
    for _ in 0..10 {
        place.serve();
    }
    assert!(clients.iter_mut().all(|client| read(client)["ok"]["cpu"] == 0));
}

#[test]
fn a_socket_that_a_dead_process_left_is_replaced_and_that_of_a_living_one_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("live.sock");
    drop(UnixListener::bind(&path).expect("a socket"));
    assert!(path.exists(), "it stays behind");
    let first = Server::open(&path).expect("it is replaced");
    let refused = Server::open(&path).expect_err("it lives");
    assert!(refused.contains("another `pelton live` answers"), "{refused}");
    assert!(path.exists());
    // A server whose socket is another one's by now leaves that alone.
    std::fs::remove_file(&path).expect("it is there");
    let second = Server::open(&path).expect("the place is free");
    drop(first);
    assert!(path.exists());
    drop(second);
    assert!(!path.exists());
}

#[test]
fn what_is_no_socket_stays_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("live.sock");
    std::fs::write(&path, "precious").expect("room");
    assert!(Server::open(&path).expect_err("no socket").contains("is no socket"));
    assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "precious");
    let long = folder.path().join("x".repeat(200));
    assert!(Server::open(&long).expect_err("too long a name").contains("cannot make the socket"));
    assert!(Server::open(&folder.path().join("a/b/live.sock")).is_err(), "one folder is made, not a path of them");
}

#[test]
fn asking_says_who_does_not_answer_and_why_a_request_is_refused() {
    let mut place = Place::new();
    let missing = ask(&place.path.with_extension("no"), &Request::Status).expect_err("nothing is there");
    assert!(missing.contains("no `pelton live` answers at") && missing.contains("no such socket"), "{missing}");
    let path = place.path.clone();
    let asking = std::thread::spawn(move || {
        let status = ask(&path, &Request::Status);
        let refused = reply(&path, &Request::Explain { cpu: 7 });
        (status, refused)
    });
    for _ in 0..100 {
        place.serve();
        if asking.is_finished() {
            break;
        }
    }
    let (status, refused) = asking.join().expect("no panic");
    assert_eq!(status.expect("an answer")["seconds"], 2.5);
    assert_eq!(refused, Ok(Err("there is no CPU 7".to_owned())));
}
