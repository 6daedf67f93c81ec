// SPDX-License-Identifier: GPL-2.0-only
//! Idle governors of each release, from drivers/cpuidle/governors/{ladder,menu,teo,haltpoll}.c.

use pelton_core::{Policy, value};

/// The governors that each release registers with their `.rating`, on a kernel whose tick stops (ladder has 25 where it
/// never does, init_ladder). cpuidle_register_governor() of drivers/cpuidle/governor.c takes a new one when its rating is
/// higher than that of the one in place.
#[test]
fn the_idle_governor_of_a_kernel_with_all_is_menu() {
    const OLD: &[(u32, &str)] = &[(10, "ladder"), (20, "menu")];
    const NEW: &[(u32, &str)] = &[(10, "ladder"), (20, "menu"), (19, "teo"), (9, "haltpoll")];
    let releases = [
        ("4.12", OLD),
        ("4.16", OLD),
        ("4.19", OLD),
        ("5.4", NEW),
        ("5.10", NEW),
        ("6.1", NEW),
        ("6.6", NEW),
        ("6.12", NEW),
        ("6.18", NEW),
        ("7.2", NEW),
    ];
    for (profile, governors) in releases {
        let (_, best) = governors.iter().max_by_key(|g| g.0).expect("not empty");
        let chosen = match Policy::profile(profile).expect("exists").idle_governor {
            value::IDLE_GOVERNOR_MENU => "menu",
            value::IDLE_GOVERNOR_TEO => "teo",
            _ => "no kernel's",
        };
        assert_eq!(chosen, *best, "{profile}");
    }
}
