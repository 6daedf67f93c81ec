// SPDX-License-Identifier: GPL-2.0-or-later
//! Stretches of recordings of a 6.18.44 kernel in which nice values, policies, affinities and shares of groups changed.
//! The rules of reading them are those of `recorded`.

use super::recorded::Told::{Is, Pending, Was};
use super::recorded::{COUNT, ENTITY, QUEUE, SWITCH, TRACE, Told, WAKEUP, divergent, explained_and_not_by_chance};

/// A sleeper whose weight was 1024 when it was last seen got 3121, which its queue has shown, and then 29.
#[test]
fn a_sleepers_nice_value_changes_the_load_of_its_queue() {
    let queue = |flags| (QUEUE, TRACE, 20, (20, 0, 1), (flags, 2, 2_097_152));
    explained_and_not_by_chance(&[
        Was(
            (ENTITY, SWITCH, 77, (20, 20_476, 1), (0, 0, 3_195_904)),
            ((64_117_878_743_040, 184), (46_899, 28_355_138, 6_577_433), (3120, 604, 139)),
        ),
        Was(queue(3), ((64_117_894_237_184, 979), (544_449_343, 143_348_259, 44_617_094), (11_487, 3019, 941))),
        Is(queue(3), ((64_117_894_291_456, 8), (390_985_006, 140_383_097, 43_714_289), (8367, 3004, 935))),
    ]);
}

/// The share of a group on another group's queue changed from 1024 to 64, which no event records, after it had joined
/// again.
#[test]
fn shares_of_a_group_that_changed_at_any_moment_are_found() {
    let queue = |runnable, weight| (QUEUE, TRACE, 84, (84, 0, 1), (1, runnable, weight));
    let at = (64_140_026_015_744, 476);
    explained_and_not_by_chance(&[
        Was(queue(2, 2_097_152), (at, (129_496_078, 129_132_492, 3_431_537), (2742, 2736, 73))),
        Is((ENTITY, TRACE, 92, (84, 0, 1), (1, 1, 1_048_576)), (at, (38_621, 39_548_572, 991_074), (837, 838, 21))),
        Is(queue(3, 2_162_688), ((64_140_029_871_104, 145), (92_323_070, 129_431_209, 3_146_733), (1970, 2761, 67))),
    ]);
}

/// A task joined the group and another one went to sleep: the queue weighs what it weighed before.
#[test]
fn who_joined_counts_until_another_one_sleeps() {
    let queue = |source| (QUEUE, source, 20, (20, 0, 1), (3, 4, 92_991_488));
    let task = |flags| (ENTITY, SWITCH, 24, (20, 20_432, 1), (flags, flags & 1, 1_048_576));
    let sleeps = (64_117_948_763_136, 979);
    explained_and_not_by_chance(&[
        Was(task(3), ((64_117_948_688_384, 906), (12_816, 13_106_473, 2_869_915), (275, 275, 60))),
        Was(queue(TRACE), ((64_117_948_749_824, 966), (724_494_173, 118_245_641, 23_422_359), (15_097, 2477, 490))),
        Is(task(0), (sleeps, (12_889, 13_181_225, 2_944_667), (275, 275, 60))),
        Is(queue(SWITCH), (sleeps, (725_688_041, 118_312_201, 23_435_671), (15_097, 2477, 490))),
    ]);
}

/// One whose dequeue was delayed left, then a third task woke, whose weight is not part of the queue's past.
#[test]
fn who_woke_last_is_not_part_of_the_stretch_before() {
    let woke = (64_118_320_733_184, 711);
    let task = |source, flags| (ENTITY, source, 1, (20, 20_430, 1), (flags, flags & 1, 90_891_264));
    explained_and_not_by_chance(&[
        Was(
            (QUEUE, TRACE, 20, (20, 0, 1), (3, 1, 1_051_648)),
            ((64_118_320_543_744, 526), (1_650_957_394, 104_013_476, 12_328_906), (34_945, 2201, 260)),
        ),
        Is(
            (ENTITY, TRACE, 76, (20, 20_475, 1), (5, 0, 1_048_576)),
            ((64_118_320_555_008, 537), (29_105, 28_132_134, 6_773_038), (630, 595, 143)),
        ),
        Was(task(TRACE, 0), (woke, (18_079, 18_237_364, 637_746), (33_833, 384, 13))),
        Is(task(WAKEUP, 1), (woke, (18_079, 18_237_364, 637_746), (33_833, 384, 13))),
        Is(
            (QUEUE, WAKEUP, 20, (20, 0, 1), (3, 2, 90_894_336)),
            (woke, (1_650_969_213, 104_202_916, 12_518_346), (34_945, 2201, 260)),
        ),
    ]);
}

/// One whose dequeue was delayed left, later the other one: the queue is empty when it is seen.
#[test]
fn who_left_last_is_part_of_the_stretch_before() {
    let queue = |source, flags, weight| (QUEUE, source, 82, (82, 0, 0), (flags, flags & 1, weight));
    let group = |source, flags| (ENTITY, source, 91, (82, 0, 0), (flags, flags & 1, 2_027_841));
    let (at, left) = ((64_154_811_527_168, 28), (64_154_812_250_112, 734));
    explained_and_not_by_chance(&[
        Was(group(TRACE, 3), (at, (16_208, 16_510_952, 13_346_439), (686, 353, 285))),
        Was(queue(TRACE, 3, 3_076_417), (at, (48_008_908, 29_498_567, 17_543_966), (1027, 631, 375))),
        Is(
            (ENTITY, TRACE, 81, (82, 20_527, 0), (5, 0, 1_048_576)),
            ((64_154_811_547_648, 48), (15_522, 12_987_614, 4_197_527), (339, 277, 89)),
        ),
        Is(group(SWITCH, 0), (left, (16_914, 17_233_896, 14_069_383), (686, 353, 285))),
        Is(queue(SWITCH, 0, 0), (left, (49_427_268, 30_221_511, 18_266_910), (1027, 631, 375))),
    ]);
}

/// A group got its weight when it joined, right when it was last seen, and waited since.
#[test]
fn a_weight_may_have_been_set_when_the_entity_was_last_seen() {
    let (at, now) = ((64_154_254_705_664, 1), (64_154_255_600_640, 875));
    let group = |source, flags, weight| (ENTITY, source, 91, (82, 0, 0), (flags, flags & 1, weight));
    let queue = |source, flags, weight| (QUEUE, source, 82, (82, 0, 0), (flags, flags & 1, weight));
    explained_and_not_by_chance(&[
        Was(group(TRACE, 0, 34_458_626), (at, (26_250, 26_841_235, 5_114_411), (18_907, 574, 109))),
        Was(queue(TRACE, 0, 0), (at, (883_515_488, 26_618_808, 5_114_411), (18_911, 569, 109))),
        Is(group(SWITCH, 3, 32_027_367), (now, (27_124, 27_736_211, 5_114_411), (17_573, 574, 109))),
        Is(queue(SWITCH, 3, 32_027_367), (now, (848_517_096, 27_513_784, 5_114_411), (17_577, 569, 109))),
    ]);
}

/// Of two tasks of a group that wanted to sleep one woke, which the level above counts at once, and the other one left.
#[test]
fn who_woke_and_who_left_count_above_until_that_level_is_brought_up() {
    let root = |source, runnable, weight| (QUEUE, source, 14, (14, 0, 1), (11, runnable, weight));
    let at = (64_160_674_844_672, 740);
    explained_and_not_by_chance(&[
        Was(
            (ENTITY, SWITCH, 22, (14, 0, 1), (11, 4, 444_153)),
            (at, (41_953, 113_287_866, 12_519_614), (382, 2392, 260)),
        ),
        Was(root(SWITCH, 3, 1_492_729), (at, (68_820_401, 154_779_490, 51_667_380), (1449, 3273, 1089))),
        Is(
            root(COUNT, 4, 1_457_891),
            ((64_160_674_978_816, 871), (67_580_412, 155_450_210, 51_801_524), (1419, 3273, 1089)),
        ),
    ]);
}

/// A task of the real-time class went to the other CPU: its entity went on at the time of the queue there.
#[test]
fn an_entity_that_is_moved_in_another_class_goes_on_at_the_time_of_its_new_queue() {
    let task = |queue, cpu| (ENTITY, TRACE, 76, (queue, 20_475, cpu), (0, 0, 1_048_576));
    let empty = |at| Was((QUEUE, TRACE, 2, (2, 0, 0), (0, 0, 0)), (at, (0, 0, 0), (0, 0, 0)));
    let told: Vec<Told> = [64_129_531_651_072, 64_129_531_669_504, 64_129_534_409_728]
        .map(|at| empty((at, 0)))
        .into_iter()
        .chain([
            Was(task(20, 1), ((64_119_020_413_952, 188), (275, 283_470, 3411), (6, 6, 0))),
            Is(task(2, 0), ((64_129_547_713_536, 496), (198, 204_832, 2464), (4, 4, 0))),
        ])
        .collect();
    explained_and_not_by_chance(&told);
}

/// A change of a group's weight seen one level up: the group had a task more between its two weights.
#[test]
fn a_group_counts_who_joined_until_another_one_sleeps() {
    let group = |source, weight| (ENTITY, source, 23, (8, 0, 1), (11, 4, weight));
    let sums = (35_390, 118_179_828, 23_378_472);
    let told = |load_avg| {
        let joined = ((64_117_948_749_824, 966), (35_377, 118_113_268, 23_365_160), (756, 2477, 490));
        let sleeps = ((64_117_948_763_136, 979), sums, (load_avg, 2477, 490));
        divergent(&[Was(group(TRACE, 1_044_596), joined), Is(group(SWITCH, 1_036_895), sleeps)], 0)
    };
    assert_eq!((told(750), told(751)), (0, 1));
}

/// A group got its weight as a task joined it, and propagated what the task brought: the new weight is what its queue
/// weighs more.
#[test]
fn a_group_gets_a_weight_and_hands_up_at_once() {
    let at = (65_972_167_267_328, 533);
    let queue = |runnable, weight| (QUEUE, TRACE, 72, (72, 0, 1), (1, runnable, weight));
    explained_and_not_by_chance(&[
        Was(queue(1, 23_029), (at, (1_075_030, 64_874_646, 8_977_689), (23, 1373, 190))),
        Was((ENTITY, TRACE, 75, (72, 0, 1), (1, 1, 23_029)), (at, (47_251, 70_829_249, 8_977_690), (22, 1499, 190))),
        Pending(76, 75, 22_090),
        Was(
            (QUEUE, TRACE, 76, (76, 0, 1), (1, 2, 2_097_152)),
            ((65_972_147_866_624, 19), (99_811_740, 92_441_440, 14_428_493), (2135, 1977, 308)),
        ),
        Is(queue(2, 38_791), (at, (1_795_005, 87_460_624, 14_553_307), (38, 1851, 308))),
    ]);
}
