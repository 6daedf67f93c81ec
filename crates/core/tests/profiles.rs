// SPDX-License-Identifier: GPL-2.0-or-later
//! The policy table: names, defaults per kernel, refusals.

use pelton_core::{
    FIELD_NAMES, Policy, PolicyError, parameters, profiles, rules_of_release, stable_rules, stable_series, switches,
    value,
};

fn check_column(switch: &str, expected: &[(&str, &str)]) {
    for (profile, want) in expected {
        let policy = Policy::profile(profile).expect("profile exists");
        assert_eq!(policy.get(switch), Ok(*want), "{switch} in {profile}");
    }
}

#[test]
fn rust_fields_stand_in_the_order_of_the_c_table() {
    let numbers = parameters();
    let names: Vec<&str> = switches().iter().map(|s| s.name).chain(numbers.iter().map(|p| p.name)).collect();
    assert_eq!(names, FIELD_NAMES);
}

#[test]
fn rust_constants_equal_the_positions_of_their_value_names() {
    let all = switches();
    for (name, value_name, number) in value::ALL {
        let switch = all.iter().find(|s| s.name == *name).expect("switch exists");
        assert_eq!(switch.values.get(*number as usize), Some(value_name), "{name}");
    }
    let named: usize = all.iter().filter(|s| s.values != ["off", "on"]).map(|s| s.values.len()).sum();
    assert_eq!(value::ALL.len(), named, "every value that is not off/on has a constant");
}

#[test]
fn every_profile_makes_sense_and_every_default_has_a_name() {
    assert_eq!(profiles(), ["4.12", "4.16", "4.19", "5.4", "5.10", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18", "7.2"]);
    for name in profiles() {
        let policy = Policy::profile(name).expect("profile exists");
        assert_eq!(policy.check(), Ok(()), "{name}");
        for switch in switches() {
            assert!(
                switch.values.contains(&policy.get(switch.name).expect("switch exists")),
                "{} in {name}",
                switch.name
            );
        }
    }
    for switch in switches() {
        assert!(switch.why.ends_with('.') && switch.why.len() > 40, "{} has no reason", switch.name);
        assert_eq!(switch.defaults.len(), profiles().len());
    }
}

#[test]
fn load_tracking_of_each_kernel() {
    check_column(
        "invariance",
        &[("4.12", "contribution"), ("4.19", "contribution"), ("5.4", "clock"), ("7.2", "clock")],
    );
    check_column("divisor", &[("4.12", "constant"), ("4.16", "moving"), ("7.2", "moving")]);
    check_column(
        "sum_floor",
        &[
            ("4.12", "off"),
            ("5.4", "off"),
            ("5.10", "rebuilt"),
            ("5.15", "rebuilt_load"),
            ("6.1", "wraps"),
            ("6.18", "wraps"),
            ("7.2", "on"),
        ],
    );
    check_column(
        "util_est",
        &[
            ("4.16", "off"),
            ("4.19", "u1_any"),
            ("5.4", "u1"),
            ("5.10", "u2"),
            ("6.6", "u2"),
            ("6.8", "u3"),
            ("6.12", "u3"),
            ("6.18", "u4"),
        ],
    );
    check_column("util_est_stale", &[("6.6", "off"), ("6.12", "on"), ("6.18", "on"), ("7.2", "off")]);
    check_column("estimate_leaves", &[("4.19", "last"), ("5.4", "last"), ("5.10", "first")]);
    check_column(
        "propagation",
        &[("5.4", "full_period"), ("5.10", "rebuilt"), ("5.15", "rebuilt_changed"), ("6.1", "difference")],
    );
    check_column("init_weight", &[("6.8", "unscaled"), ("6.12", "scaled")]);
    check_column("idle_clock", &[("5.10", "later"), ("6.1", "at_once")]);
    check_column("queued_migrant", &[("4.12", "removed"), ("4.16", "detached")]);
    check_column("shares_load", &[("4.12", "weight"), ("4.16", "larger")]);
    check_column("shares_keep_empty", &[("6.6", "off"), ("6.12", "on")]);
    check_column("shares_set_same", &[("6.6", "on"), ("6.8", "off")]);
    check_column("capacity_left", &[("4.16", "rt_share"), ("4.19", "used"), ("6.6", "used"), ("6.12", "actual")]);
    check_column("irq_signal", &[("4.16", "off"), ("4.19", "on")]);
    check_column("rt_signal", &[("4.16", "off"), ("4.19", "on")]);
    check_column("hw_signal", &[("5.4", "off"), ("5.10", "on")]);
    check_column("runnable_boost", &[("6.1", "off"), ("6.6", "on")]);
    check_column("tg_limit", &[("6.6", "off"), ("6.8", "on")]);
}

#[test]
fn governor_of_each_kernel() {
    check_column(
        "perf_form",
        &[
            ("4.12", "flags"),
            ("4.16", "bw"),
            ("4.19", "rt_sum"),
            ("5.4", "clamp_then_sum"),
            ("6.6", "clamp_then_sum"),
            ("6.8", "sum_then_clamp"),
            ("6.12", "sum_then_clamp"),
        ],
    );
    check_column(
        "headroom",
        &[("5.10", "frequency"), ("5.15", "utilization"), ("6.8", "before_clamps"), ("7.2", "before_clamps")],
    );
    check_column("gate", &[("4.12", "r0b"), ("4.16", "r0b"), ("7.2", "r0b")]);
    check_column(
        "rate_limit_default",
        &[("4.12", "latency_x1000"), ("4.16", "capped_10ms"), ("6.8", "capped_10ms"), ("6.12", "one_and_half")],
    );
    check_column(
        "iowait_boost",
        &[("4.12", "jump"), ("4.16", "frequency_shared"), ("4.19", "frequency_reset"), ("5.4", "capacity")],
    );
    check_column("stale_cpu", &[("4.12", "skip"), ("4.16", "skip_fair"), ("4.19", "count")]);
    check_column("remote", &[("4.12", "local_only"), ("4.16", "fast_only"), ("5.4", "fast_only"), ("5.10", "all")]);
    check_column(
        "hold",
        &[
            ("4.12", "keep_cache"),
            ("4.16", "drop_cache"),
            ("4.19", "drop_cache"),
            ("5.4", "drop_unless_needed"),
            ("5.10", "restore_cache"),
            ("6.1", "restore_unless_capped"),
        ],
    );
    check_column("worker", &[("4.12", "fifo50"), ("4.16", "deadline")]);
    check_column("while_busy", &[("4.16", "refuse"), ("4.19", "overwrite")]);
    check_column("dl_rule", &[("4.12", "flag_max"), ("4.16", "bw_on_top"), ("6.6", "bw_on_top"), ("6.8", "bw_floor")]);
}

#[test]
fn hook_sites_of_each_kernel() {
    check_column("hook_decay", &[("4.12", "local"), ("4.16", "remote"), ("7.2", "remote")]);
    check_column("hook_rt", &[("4.16", "accounting"), ("4.19", "enqueue")]);
    check_column("hook_dl", &[("4.12", "accounting"), ("4.16", "bandwidth")]);
    check_column("hook_blocked", &[("4.12", "per_cfs_rq"), ("5.10", "once")]);
    check_column("hook_tick", &[("4.12", "off"), ("7.2", "off")]);
    check_column("hook_in_average", &[("5.4", "on"), ("5.10", "off")]);
}

#[test]
fn scheduler_of_each_kernel() {
    check_column("fair_class", &[("6.1", "cfs"), ("6.6", "eevdf")]);
    check_column("delayed_dequeue", &[("6.8", "off"), ("6.12", "on")]);
    check_column("rt_limit", &[("6.8", "throttle"), ("6.12", "fair_server")]);
    check_column("rt_runtime_share", &[("5.4", "on"), ("5.10", "off")]);
    check_column("bandwidth", &[("4.12", "group"), ("6.12", "group"), ("6.18", "task")]);
    check_column(
        "bandwidth_refill",
        &[("4.16", "expires_late"), ("4.19", "expires"), ("5.4", "quota"), ("6.1", "burst")],
    );
    check_column("bandwidth_throttle", &[("4.16", "head"), ("4.19", "tail"), ("5.10", "retry"), ("7.2", "at_once")]);
    check_column("bandwidth_slack", &[("4.19", "pushed"), ("5.4", "kept")]);
    check_column("bandwidth_time", &[("6.1", "throttled"), ("6.6", "waiting")]);
    check_column("bandwidth_phase", &[("6.1", "aligned"), ("6.6", "random")]);
    check_column("throttle_clock", &[("5.4", "task"), ("5.10", "pelt")]);
    check_column("dl_runtime", &[("4.12", "wall"), ("4.16", "scaled")]);
    check_column("dl_constrained", &[("4.12", "plain"), ("4.16", "revised")]);
    check_column("dl_admission", &[("5.4", "cpus"), ("5.10", "capacity")]);
    check_column("dl_enforcement", &[("6.18", "tick"), ("7.2", "timer")]);
    check_column("newidle", &[("5.10", "migration_cost"), ("6.1", "domain_cost"), ("7.2", "at_switch")]);
    check_column("idle_walk", &[("4.16", "balance"), ("4.19", "stats"), ("5.4", "stats_asym"), ("5.10", "entry")]);
    check_column(
        "blocked_update",
        &[("4.16", "own"), ("4.19", "scan"), ("5.4", "scan"), ("5.10", "own"), ("7.2", "own")],
    );
    check_column("newidle_own", &[("5.10", "free"), ("6.1", "counted")]);
    check_column("uclamp", &[("4.19", "off"), ("5.4", "max")]);
    check_column("idle_governor", &[("4.12", "menu"), ("7.2", "menu")]);
    check_column("teo_form", &[("4.12", "5_4"), ("5.10", "5_10"), ("6.12", "6_12"), ("7.2", "7_2")]);
    check_column("menu_form", &[("4.12", "4_12"), ("4.19", "4_19"), ("6.6", "6_6"), ("7.2", "7_2")]);
    check_column("idle_tick", &[("4.16", "stops"), ("5.4", "governor"), ("5.10", "after_tick"), ("6.18", "governor")]);
    check_column(
        "newidle_dice",
        &[("5.10", "off"), ("6.1", "success"), ("6.12", "success"), ("6.18", "off"), ("7.2", "rate")],
    );
    check_column("newidle_fails", &[("6.12", "measured"), ("6.18", "dearer"), ("7.2", "measured")]);
    check_column("hrtick", &[("6.18", "off"), ("7.2", "on")]);
    check_column("wake_queue", &[("5.10", "far"), ("5.15", "far_or_idle")]);
    check_column("wake_affine", &[("4.12", "runnable_load"), ("4.16", "runnable_even"), ("4.19", "runnable_less")]);
    check_column("wake_affine", &[("5.4", "runnable_less"), ("5.10", "load_avg"), ("5.15", "idle_first")]);
}

#[test]
fn a_parameter_has_the_same_default_in_every_profile_and_a_range() {
    for parameter in parameters() {
        for profile in profiles() {
            let mut policy = Policy::profile(profile).expect("profile exists");
            assert_eq!(policy.text(parameter.name), Some(parameter.text(parameter.preset)), "{}", parameter.name);
            for good in [parameter.min, parameter.max] {
                assert_eq!(policy.set(parameter.name, &good.to_string()), Ok(()), "{}", parameter.name);
            }
            let above = policy.set(parameter.name, &(u64::from(parameter.max) + 1).to_string());
            assert!(matches!(above, Err(PolicyError::OutOfRange { .. })), "{}", parameter.name);
            assert_eq!(policy.text(parameter.name), Some(parameter.max.to_string()));
            let left = policy.set(parameter.name, "platform");
            assert_eq!(left.is_ok(), parameter.has_platform_value(), "{}", parameter.name);
        }
        assert!(parameter.why.ends_with('.') && parameter.why.len() > 40, "{} has no reason", parameter.name);
    }
}

#[test]
fn wrong_names_are_refused_with_candidates() {
    let Err(PolicyError::UnknownProfile { candidates, .. }) = Policy::profile("4.13") else { panic!("4.13 exists") };
    assert!(candidates.contains(&"4.16"));
    let mut policy = Policy::profile("7.2").expect("profile exists");
    assert!(matches!(policy.set("gates", "r0a"), Err(PolicyError::UnknownSwitch { .. })));
    let Err(PolicyError::UnknownValue { candidates, .. }) = policy.set("gate", "8") else { panic!("gate=8 exists") };
    assert_eq!(candidates[..3], ["r0a", "r0b", "r1_trailing"]);
    assert_eq!(policy.set("gate", "r0a").and_then(|()| policy.get("gate")), Ok("r0a"));
    assert_eq!(policy.set("gate", "1").and_then(|()| policy.get("gate")), Ok("r0b"));
}

#[test]
fn combinations_without_a_meaning_are_refused_with_a_reason() {
    let refused = [
        ("4.16", "rt_in_sum", "on"),
        ("4.16", "util_est", "u3"),
        ("4.16", "runnable_boost", "on"),
        ("7.2", "rt_rule", "flag_max"),
        ("7.2", "bandwidth", "group"),
        ("6.1", "headroom", "before_clamps"),
        ("4.16", "uclamp", "max"),
        ("6.1", "delayed_dequeue", "on"),
        ("4.12", "dl_bypass", "bandwidth"),
        ("7.2", "gate_asymmetry", "on"),
        ("7.2", "gate_window_min_us", "20000"),
    ];
    for (profile, switch, value) in refused {
        let mut policy = Policy::profile(profile).expect("profile exists");
        policy.set(switch, value).expect("switch and value exist");
        let Err(PolicyError::Conflict { switch_a, switch_b, reason, .. }) = policy.check() else {
            panic!("{profile} {switch}={value} was accepted")
        };
        assert!([switch_a, switch_b].contains(&switch), "{profile} {switch}={value} blames {switch_a}, {switch_b}");
        assert!(reason.len() > 20);
    }
}

#[test]
fn published_changes_are_a_profile_and_a_few_switches() {
    let changes: [(&str, &[(&str, &str)]); 2] = [
        ("4.12", &[("hook_decay", "off"), ("hook_tick", "on"), ("hook_blocked", "off")]),
        ("4.16", &[("rt_signal", "on"), ("rt_in_sum", "on")]),
    ];
    for (profile, sets) in changes {
        let mut policy = Policy::profile(profile).expect("profile exists");
        for (switch, value) in sets {
            policy.set(switch, value).expect("switch and value exist");
        }
        assert_eq!(policy.check(), Ok(()), "{profile}");
    }
}

/// Each row changes the value of the release before it, so that none is idle, and makes sense with all others.
#[test]
fn every_rule_of_stable_releases_changes_something() {
    for rule in stable_rules() {
        let series = stable_series().into_iter().find(|s| s.series == rule.series).expect("a series of the table");
        assert!((series.first..=series.last).contains(&rule.since), "{rule:?}");
        let value = |number: u32| {
            let policy = Policy::profile(&format!("{}.{number}", rule.series)).expect("it was read");
            assert_eq!(policy.check(), Ok(()), "{}.{number}", rule.series);
            policy.get(rule.switch).expect("a switch").to_owned()
        };
        let before = match rule.since {
            0 => Policy::profile(rule.series).expect("exists").get(rule.switch).expect("a switch").to_owned(),
            since => value(since - 1),
        };
        assert_eq!(value(rule.since), rule.value, "{rule:?}");
        assert_ne!(before, rule.value, "{rule:?}");
        assert!(rule.why.ends_with('.') && rule.why.len() > 20, "{rule:?}");
    }
}

/// The profile is one of its series' releases, or lies between two of them.
#[test]
fn a_profile_is_the_release_that_it_follows() {
    let same = |name: &str, profile: &str| assert_eq!(Policy::profile(name), Policy::profile(profile), "{name}");
    for (name, profile) in [
        ("4.12.0", "4.12"),
        ("4.16.13", "4.16"),
        ("5.4.0", "5.4"),
        ("5.10.262", "5.10"),
        ("5.15.215", "5.15"),
        ("6.1.192", "6.1"),
        ("6.6.0", "6.6"),
        ("6.8.0", "6.8"),
        ("6.12.117", "6.12"),
        ("6.12.118", "6.12"),
    ] {
        same(name, profile);
    }
    same("6.18.2", "6.18");
    same("7.2.12", "7.2");
    assert_ne!(Policy::profile("6.18.3"), Policy::profile("6.18"));
}

#[test]
fn stable_releases_of_6_18_have_the_rules_that_came_meanwhile() {
    let has = |number: u32, rules: [&str; 5]| {
        let policy = Policy::profile(&format!("6.18.{number}")).expect("it was read");
        let names = ["newidle_fails", "fair_zero", "newidle_dice", "lag_limit", "run_to_parity"];
        assert_eq!(names.map(|name| policy.get(name).expect("a switch")), rules, "6.18.{number}");
    };
    has(2, ["dearer", "min_vruntime", "off", "own_slice", "shortest"]);
    has(3, ["measured", "min_vruntime", "off", "own_slice", "shortest"]);
    has(4, ["measured", "average", "off", "own_slice", "shortest"]);
    has(15, ["measured", "average", "success", "own_slice", "shortest"]);
    has(17, ["measured", "average", "success", "longest_slice", "shortest"]);
    has(35, ["measured", "average", "success", "longest_slice", "shortest_each"]);
}

#[test]
fn releases_that_were_not_read_are_refused_and_have_a_nearest_one() {
    for name in ["6.18.36", "6.12.116", "6.6.1", "6.18.", "6.18.+3", "6.18.2.1", "5.4.1", "6.17.3", "6.18.x"] {
        assert!(matches!(Policy::profile(name), Err(PolicyError::UnknownProfile { .. })), "{name}");
    }
    let of = |release: &str| rules_of_release(release).map(|rules| (rules.name, rules.exact));
    let is =
        |release: &str, name: &str, exact: bool| assert_eq!(of(release), Some((name.to_owned(), exact)), "{release}");
    is("6.18.15+deb13-cloud-amd64", "6.18.15", true);
    is("6.18.2-arch1", "6.18", true);
    is("6.18.44", "6.18.35", false);
    is("6.12.118+deb13-arm64", "6.12", true);
    is("6.12.30", "6.12", false);
    is("7.2.12", "7.2", true);
    is("6.6.87.2-microsoft-standard", "6.6", false);
    is("5.4.210", "5.4", false);
    is("4.16.13", "4.16", true);
    is("6.18", "6.18", true);
    is("5.15.0-1", "5.15", false);
    is("3.18", "4.12", false);
    assert_eq!(of("none"), None);
}
