// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton live` up to the moment at which a scheduler would be loaded; those that run are tested in guests.

#![cfg(all(unix, feature = "record"))]

use crate::support::{file, good, pelton};

#[test]
fn mistakes_are_named_before_anything_is_loaded() {
    let cases: [(&[&str], i32, &str); 11] = [
        (&["live", "--policy", "7.3"], 3, "no profile `7.3`"),
        (&["live", "--observe", "--set", "uclmp=debt"], 3, "did you mean `uclamp`?"),
        (&["live", "--for", "0s"], 2, "above 0"),
        (&["live", "--placement", "energy"], 2, "possible values: auto, core, kernel"),
        (&["live", "--prometheus", "9464"], 2, "invalid socket address"),
        (&["live", "--unit", "--observe"], 2, "cannot be used with"),
        (&["live", "--observe", "status"], 2, "a request to a running one starts none"),
        (&["live", "boost", "user.slice", "101"], 2, "-100..=100"),
        (&["live", "clamp", "user.slice", "0"], 2, "<MAX>"),
        (&["live", "set", "headroom_pct"], 2, "NAME=VALUE"),
        (&["live", "explain", "a"], 2, "invalid digit"),
    ];
    for (arguments, code, expected) in cases {
        let outcome = pelton(arguments);
        assert_eq!(outcome.code, code, "{arguments:?}\n{}", outcome.stderr);
        assert!(outcome.stderr.contains(expected), "{arguments:?}\n{}", outcome.stderr);
        assert_eq!(outcome.stdout, "", "{arguments:?}");
    }
}

#[test]
fn a_request_that_reaches_no_scheduler_exits_with_4() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, socket) = file(&folder, "live.sock");
    for ask in [&["status"][..], &["boost", "/", "-30"], &["explain", "0"], &["set", "headroom_pct=10"], &["stop"]] {
        let outcome = pelton(&[&["live", "--socket", &socket], ask].concat());
        assert_eq!(outcome.code, 4, "{ask:?}\n{}", outcome.stderr);
        assert!(outcome.stderr.contains("there is no such socket"), "{}", outcome.stderr);
    }
    drop(std::os::unix::net::UnixListener::bind(&path).expect("a socket"));
    let outcome = pelton(&["live", "status", "--socket", &socket]);
    assert!(outcome.code == 4 && outcome.stderr.contains("has ended"), "{}", outcome.stderr);
}

#[test]
fn a_unit_keeps_the_arguments() {
    let unit = good(&["live", "--unit", "--set", "uclamp=sum", "--no-frequencies"]);
    assert!(unit.contains(" live --quiet --set uclamp=sum --no-frequencies\n"), "{unit}");
    for line in ["Restart=no", "OOMScoreAdjust=-900", "LimitMEMLOCK=infinity", "RuntimeDirectoryMode=0700"] {
        assert!(unit.lines().any(|other| other == line), "{line}\n{unit}");
    }
}
