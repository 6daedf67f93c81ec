// SPDX-License-Identifier: GPL-2.0-or-later
//! Stretches of recordings of a 6.18.44 kernel in which something was brought up, unseen, at a moment that the trace
//! has of something else. The rules of reading them are those of `recorded`.

use super::recorded::Told::{Is, Migrates, Pending, Was};
use super::recorded::{COUNT, ENTITY, QUEUE, SWITCH, TRACE, Told, WAKING, explained_and_not_by_chance};

/// Two tasks whose dequeue was delayed leave a group, one after the other; neither leaving shows the group's queue.
fn two_leave_a_group() -> [Told; 5] {
    let own = |runnable, weight| (QUEUE, TRACE, 41, (41, 0, 0), (3, runnable, weight));
    let group = |runnable| (ENTITY, TRACE, 42, (4, 0, 0), (11, runnable, 262_144));
    let task = |object, tid| (ENTITY, TRACE, object, (41, tid, 0), (5, 0, 1_048_576));
    let at = (52_078_078_951_424, 352);
    [
        Is(own(1, 3_145_728), (at, (83_658_529, 71_310_023, 36_097_806), (1777, 1514, 766))),
        Is(group(2), (at, (44_882, 78_696_192, 36_088_829), (244, 1671, 766))),
        Is(task(32, 31_904), ((52_078_078_960_640, 361), (28_792, 22_739_897, 12_603_553), (626, 483, 267))),
        Is(task(31, 31_903), ((52_078_079_541_248, 928), (29_085, 27_085_561, 12_658_168), (625, 568, 265))),
        Is(own(1, 1_048_576), ((52_078_079_986_688, 339), (83_471_656, 70_801_549, 36_343_857), (1773, 1504, 772))),
    ]
}

#[test]
fn a_queue_was_brought_up_when_its_tasks_left() {
    explained_and_not_by_chance(&two_leave_a_group());
}

#[test]
fn a_group_was_brought_up_when_tasks_of_its_queue_left() {
    let group = (ENTITY, TRACE, 42, (4, 0, 0), (11, 1, 262_144));
    let last = Is(group, ((52_078_079_986_688, 339), (44_915, 78_038_466, 36_335_073), (244, 1658, 772)));
    let told: Vec<Told> = [Pending(41, 42, 0)].into_iter().chain(two_leave_a_group()).chain([last]).collect();
    explained_and_not_by_chance(&told);
}

/// A running task joined the group while another one's dequeue was delayed, which ended a few microseconds later.
#[test]
fn who_joined_counts_until_who_wanted_to_sleep_left() {
    let at = (52_085_875_276_800, 511);
    let now = (52_085_875_305_472, 539);
    explained_and_not_by_chance(&[
        Was(
            (QUEUE, TRACE, 37, (37, 0, 1), (1, 1, 2_097_152)),
            (at, (73_297_867, 68_335_435, 34_235_174), (1543, 1447, 720)),
        ),
        Told::Counted(1, 52_085_875_289_088),
        Is(
            (ENTITY, SWITCH, 31, (37, 31_903, 1), (1, 1, 1_048_576)),
            (now, (18_753, 18_873_043, 10_135_678), (406, 399, 214)),
        ),
        Is(
            (QUEUE, SWITCH, 37, (37, 0, 1), (3, 2, 2_097_152)),
            (now, (73_367_499, 68_392_779, 34_263_846), (1543, 1447, 720)),
        ),
    ]);
}

/// The one that wanted to sleep left first, then the other one.
#[test]
fn a_queue_was_brought_up_when_the_count_above_it_fell_twice() {
    let at = (52_093_701_469_184, 141);
    let task = |object, tid, flags| (ENTITY, SWITCH, object, (37, tid, 1), (flags, flags & 1, 1_048_576));
    let own = |flags, weight| (QUEUE, SWITCH, 37, (37, 0, 1), (flags, flags & 1, weight));
    explained_and_not_by_chance(&[
        Was(
            (ENTITY, SWITCH, 32, (37, 31_904, 1), (5, 0, 1_048_576)),
            (at, (19_373, 16_574_064, 13_229_477), (423, 353, 282)),
        ),
        Was(own(3, 2_097_152), (at, (39_467_192, 35_696_029, 24_302_695), (842, 761, 518))),
        Was(task(30, 31_902, 3), (at, (19_132, 19_095_876, 11_054_324), (418, 407, 235))),
        Told::Counted(1, 52_093_702_010_880),
        Is(task(30, 31_902, 0), ((52_093_702_261_760, 915), (19_906, 19_888_452, 11_846_900), (418, 407, 235))),
        Is(own(0, 0), ((52_093_702_263_808, 917), (40_801_464, 36_488_605, 25_095_271), (842, 761, 518))),
    ]);
}

/// A group whose dequeue was delayed left at the first update after it was seen; many followed before it propagated.
#[test]
fn a_group_that_left_long_ago_hands_up_what_it_had() {
    let root = |source, flags, runnable, weight| (QUEUE, source, 9, (9, 0, 1), (flags, runnable, weight));
    let (load, util) = ((31_044_224, 61_762_334, 34_588_641), (649, 1303, 727));
    let (seen, now) = ((52_091_229_286_400, 492), (52_091_229_762_560, 957));
    explained_and_not_by_chance(&[
        Was(
            (ENTITY, SWITCH, 36, (9, 0, 1), (13, 0, 1_646_843)),
            (seen, (16_931, 16_180_701, 13_220_270), (576, 342, 280)),
        ),
        Is(root(COUNT, 10, 0, 0), ((52_091_229_522_944, 723), load, util)),
        Is(root(SWITCH, 8, 0, 0), ((52_091_229_527_040, 727), load, util)),
        Is(root(SWITCH, 11, 1, 15_360), ((52_091_229_582_336, 781), load, util)),
        Is(root(COUNT, 10, 0, 0), ((52_091_229_741_056, 936), (31_046_549, 61_921_054, 34_747_361), util)),
        Is(root(SWITCH, 10, 0, 0), ((52_091_229_743_104, 938), (31_046_549, 61_921_054, 34_747_361), util)),
        Pending(35, 36, 12_663),
        Was((QUEUE, TRACE, 35, (35, 0, 1), (0, 0, 0)), (now, (30_159_703, 29_154_848, 23_344_831), (636, 614, 492))),
        Is(root(TRACE, 10, 0, 0), (now, (51_408_653, 75_012_803, 44_983_191), (1078, 1575, 939))),
    ]);
}

/// A task joined a group, wanted to sleep at once, left it a hundred microseconds later and woke on another CPU.
#[test]
fn who_left_in_his_sleep_had_counted_until_he_left() {
    let own = (QUEUE, TRACE, 41, (41, 0, 0), (0, 0, 0));
    explained_and_not_by_chance(&[
        Was(own, ((52_095_756_178_432, 677), (29_810_854, 24_361_030, 12_654_465), (629, 514, 267))),
        Is(
            (ENTITY, WAKING, 32, (41, 31_904, 0), (0, 0, 1_048_576)),
            ((52_095_756_281_856, 778), (29_213, 24_361_030, 12_654_465), (629, 514, 267)),
        ),
        Migrates(31_904, 1),
        Is(own, ((52_095_783_995_392, 194), (21_894, 0, 0), (0, 0, 0))),
    ]);
}

/// A sleeper was taken out at the update at which another task left, which only the count shows.
#[test]
fn who_left_in_his_sleep_is_taken_out_before_another_one_leaves() {
    let queue = |weight| (QUEUE, TRACE, 6, (6, 0, 1), (11, 1, weight));
    let (at, left) = ((3_204_751_398_912, 102), (3_204_752_063_488, 751));
    let task = |object, tid, flags, weight| (ENTITY, TRACE, object, (6, tid, 1), (flags, flags & 1, weight));
    explained_and_not_by_chance(&[
        Was(task(18, 4230, 11, 1_048_576), (at, (27_988, 25_007_348, 13_982_095), (612, 534, 298))),
        Was(queue(2_097_152), (at, (120_181_999, 88_566_120, 47_548_909), (2566, 1891, 1015))),
        Was(task(21, 4228, 8, 1_048_576), (at, (21_866, 18_164_226, 8_773_762), (478, 387, 187))),
        Migrates(4228, 0),
        Told::Counted(1, left.0),
        Is(
            task(18, 4230, 11, 1_048_576),
            ((3_204_752_528_384, 181), (28_471, 25_580_484, 14_791_479), (621, 545, 315)),
        ),
        Is(queue(1_048_576), ((3_204_752_528_384, 181), (97_465_765, 70_046_338, 39_071_390), (2078, 1493, 833))),
    ]);
}

/// A task died at the update at which a sleeper was taken out: it is taken out later, as another one leaves.
#[test]
fn who_left_after_a_removal_is_taken_out_at_the_next_one() {
    let queue = |flags, runnable, weight| (QUEUE, SWITCH, 6, (6, 0, 1), (flags, runnable, weight));
    let at = (3_214_620_573_696, 80);
    let now = (3_214_620_582_912, 89);
    let task = |object, tid, flags| (ENTITY, SWITCH, object, (6, tid, 1), (flags, flags & 1, 1_048_576));
    explained_and_not_by_chance(&[
        Was(task(10, 4222, 8), (at, (244, 122_078, 114_234), (5, 2, 2))),
        Migrates(4222, 0),
        Was(queue(11, 2, 2_097_152), (at, (65_014_615, 56_645_568, 34_859_148), (1389, 1210, 746))),
        Was(task(15, 4225, 9), (at, (11_379, 7_815_266, 4_399_012), (249, 167, 94))),
        Told::Dies(4225),
        Is(task(15, 4225, 8), (now, (11_388, 7_824_482, 4_408_228), (249, 167, 94))),
        Is(queue(11, 1, 1_048_576), (now, (64_799_057, 56_570_404, 34_774_768), (1384, 1208, 744))),
        Was(task(16, 4229, 11), (now, (12_045, 12_335_092, 8_314_934), (263, 263, 177))),
        Is(queue(8, 0, 0), ((3_214_620_652_544, 157), (40_810_034, 36_418_543, 22_097_614), (872, 778, 473))),
    ]);
}

/// Two whose dequeue was delayed left together, the queue was brought up once more without them, and one woke
/// elsewhere.
#[test]
fn a_sleeper_is_taken_out_after_its_queue_was_brought_up_without_it() {
    let at = (66_001_539_824_640, 383);
    let task = |source, object, tid, flags| (ENTITY, source, object, (11, tid, 0), (flags, 0, 1_048_576));
    explained_and_not_by_chance(&[
        Was(
            (QUEUE, SWITCH, 11, (11, 0, 0), (0, 0, 2_097_152)),
            ((66_001_539_776_512, 336), (60_736_307, 11_898_917, 10_392_188), (1290, 252, 220)),
        ),
        Is(task(TRACE, 20, 30_571, 5), (at, (9678, 2_547_430, 1_072_448), (210, 54, 22))),
        Told::Counted(0, 66_001_539_829_760),
        Is(task(WAKING, 99, 30_642, 0), (at, (47_101, 8_426_713, 8_377_612), (1024, 179, 178))),
        Migrates(30_642, 1),
        Is(
            (QUEUE, TRACE, 11, (11, 0, 0), (0, 0, 0)),
            ((66_001_540_681_728, 196), (12_326_112, 3_392_653, 1_964_307), (262, 72, 41)),
        ),
    ]);
}

/// A sleeper went to the other CPU, ran there and came back while its queue here was not brought up: it is taken out
/// and joins.
#[test]
fn who_went_and_came_back_is_taken_out_before_it_joins() {
    let at = (65_990_845_716_480, 694);
    let task = |source, queue, cpu| (ENTITY, source, 19, (queue, 30_570, cpu), (0, 0, 1_048_576));
    explained_and_not_by_chance(&[
        Was(
            (QUEUE, SWITCH, 3, (3, 0, 1), (3, 1, 1_048_576)),
            (at, (1_505_662_969, 32_708_425, 31_504_053), (32_123, 678, 661)),
        ),
        Was(
            (ENTITY, SWITCH, 22, (3, 30_573, 1), (3, 1, 1_048_576)),
            (at, (45_567, 4_562_891, 4_111_279), (984, 87, 86)),
        ),
        Is(task(WAKING, 3, 1), ((65_990_845_665_280, 644), (45_858, 11_457_254, 10_912_229), (991, 234, 223))),
        Migrates(30_570, 0),
        Was(task(TRACE, 11, 0), ((66_001_407_823_872, 500), (45_697, 11_085_352, 10_519_356), (991, 234, 223))),
        Told::Counted(1, 65_990_845_774_848),
        Migrates(30_570, 1),
        Is(
            (QUEUE, TRACE, 3, (3, 0, 1), (2, 0, 0)),
            ((65_990_845_784_064, 760), (1_505_785_773, 32_782_237, 31_577_139), (32_123, 678, 661)),
        ),
    ]);
}

/// A group that has been over its quota is 94 ms behind its CPU: it was left at a moment that only the CPU's clock
/// shows, then joined.
#[test]
fn a_queue_that_was_throttled_is_brought_up_at_the_moments_of_its_cpu() {
    let queue = |flags, weight| (QUEUE, TRACE, 70, (70, 0, 0), (flags, flags & 1, weight));
    let told: Vec<Told> = [
        Told::Clock(0, 65_982_065_094_197),
        Is(queue(3, 4_194_304), ((65_981_970_925_568, 18), (169_525_939, 71_723_419, 11_448_916), (3627, 1534, 244))),
    ]
    .into_iter()
    .chain([65_982_065_375_669, 65_982_065_377_883].map(|clock_ns| Told::Clock(0, clock_ns)))
    .chain([
        Was(
            (ENTITY, SWITCH, 69, (72, 30_522, 1), (0, 0, 1_048_576)),
            ((65_971_404_214_272, 836), (32_127, 32_899_941, 2_546_968), (691, 691, 53)),
        ),
        Migrates(30_522, 0),
        Is(queue(2, 0), ((65_981_971_222_528, 308), (203_146_931, 104_499_985, 14_222_894), (4318, 2225, 297))),
    ])
    .collect();
    explained_and_not_by_chance(&told);
}
