// SPDX-License-Identifier: GPL-2.0-or-later
//! Precedence of profiles and settings.

use pelton_scenario::{SourceFile, policy};

fn file(text: &str) -> SourceFile {
    SourceFile::new("p.toml", format!("why = \"a test\"\n{text}"))
}

const NO_SETS: [&str; 0] = [];

#[test]
fn without_anything_the_newest_profile_holds() {
    let choice = policy::choose_from(None, &[], &NO_SETS).unwrap();
    assert_eq!(choice.profile, policy::DEFAULT_PROFILE);
    assert_eq!(Some(&policy::DEFAULT_PROFILE), pelton_core::profiles().last());
    assert_eq!(choice.policy, pelton_core::Policy::profile("7.2").unwrap());
}

#[test]
fn the_option_wins_over_the_file() {
    let files = [file("profile = \"4.16\"\n[set]\nrt_signal = \"on\"\n")];
    assert_eq!(policy::choose_from(None, &files, &NO_SETS).unwrap().profile, "4.16");
    let choice = policy::choose_from(Some("5.10"), &files, &NO_SETS).unwrap();
    assert_eq!((choice.profile.as_str(), choice.why.as_slice()), ("5.10", ["a test".to_owned()].as_slice()));
}

#[test]
fn later_settings_replace_earlier_ones() {
    let files = [file("[set]\nutil_est = \"u1\"\n"), file("[set]\nutil_est = \"u3\"\n")];
    assert_eq!(policy::choose_from(None, &files, &NO_SETS).unwrap().policy.get("util_est"), Ok("u3"));
    let choice = policy::choose_from(None, &files, &["util_est = off", "hook_rt=2"]).unwrap();
    assert_eq!((choice.policy.get("util_est"), choice.policy.get("hook_rt")), (Ok("off"), Ok("off")));
    assert_eq!(choice.set.len(), 4, "what was set is kept in order");
}

#[test]
fn files_that_name_two_profiles_are_refused_unless_the_option_decides() {
    let files = [file("profile = \"4.16\"\n"), file("profile = \"7.2\"\n")];
    let error = policy::choose_from(None, &files, &NO_SETS).unwrap_err();
    assert!(error.to_string().contains("two profiles"), "{error}");
    assert!(policy::choose_from(Some("7.2"), &files, &NO_SETS).is_ok());
}

#[test]
fn every_profile_stands_on_its_own() {
    for profile in pelton_core::profiles() {
        policy::load(Some(profile), &[] as &[&str], &NO_SETS).unwrap();
    }
}
