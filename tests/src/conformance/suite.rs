// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs episodes on a build and explains the first difference.

use std::fmt::Write as _;

use super::builds::Core;
use super::episode::{Answer, Episode};
use super::grammar;
use super::ops::{CALL_WORDS, Call, page};
use super::world::World;

/// Calls per episode: long enough for signals to saturate and decay, short enough for many policies.
const EPISODE_CALLS: usize = 4000;

/// Counts of what was compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Total {
    /// Episodes, each with its own policy and seed.
    pub episodes: u64,
    /// Core operations compared.
    pub calls: usize,
}

/// Compares at least `calls` operations; the error describes the first difference.
pub fn compare(core: &mut impl Core, seed: u64, calls: usize) -> Result<Total, String> {
    let mut total = Total::default();
    while total.calls < calls {
        let length = EPISODE_CALLS.min(calls - total.calls);
        let episode = grammar::episode(seed + total.episodes, length);
        compare_episode(core, &episode)?;
        total.episodes += 1;
        total.calls += episode.calls.len();
    }
    Ok(total)
}

/// At least `calls` operations in the words that `host.c` reads, and the words that it answers where it agrees.
pub fn recording(seed: u64, calls: usize) -> (Vec<u64>, Vec<u64>) {
    let (mut asked, mut answered) = (Vec::new(), Vec::new());
    for seed in seed.. {
        let done = answered.len() / 2;
        if done >= calls {
            break;
        }
        let episode = grammar::episode(seed, EPISODE_CALLS.min(calls - done));
        let start = episode.start.encode();
        asked.extend([0, start.len() as u64]);
        asked.extend(start);
        asked.extend([1, episode.calls.len() as u64]);
        asked.extend(episode.calls.iter().flat_map(Call::words));
        answered.extend(episode.answers.iter().flatten());
    }
    (asked, answered)
}

/// Compares one episode.
pub fn compare_episode(core: &mut impl Core, episode: &Episode) -> Result<(), String> {
    core.load(&episode.start.encode())?;
    let answers = core.run(&episode.calls).map_err(|error| format!("{}: {error}", place(episode, 0)))?;
    match answers.iter().zip(&episode.answers).position(|(theirs, ours)| theirs != ours) {
        None => Ok(()),
        Some(at) => Err(explain(core, episode, at, answers[at])),
    }
}

fn place(episode: &Episode, at: usize) -> String {
    format!("seed {}, call {at} of {}, policy {}", episode.seed, episode.calls.len(), episode.policy)
}

/// State of the reference before a call.
fn before(episode: &Episode, at: usize) -> World {
    let mut world = episode.start.clone();
    for call in &episode.calls[..at] {
        world.execute(call);
    }
    world
}

/// State of the build after a call.
fn core_after(core: &mut impl Core, episode: &Episode, at: usize) -> Result<Vec<u64>, String> {
    core.load(&episode.start.encode())?;
    core.run(&episode.calls[..=at])?;
    core.dump()
}

/// Operation, rule, and both states of every record it touched or should have touched.
fn explain(core: &mut impl Core, episode: &Episode, at: usize, theirs: Answer) -> String {
    let call = &episode.calls[at];
    let start = before(episode, at);
    let mut after = start.clone();
    let result = after.execute(call);
    let mut text = format!("first difference: {:?}, rules: {}\n  {}\n", call.op, page(call.op), place(episode, at));
    writeln!(text, "  arguments {}", arguments(call, &start)).expect("writing to a string");
    writeln!(text, "  result    core {}  reference {result}", theirs[0]).expect("writing to a string");
    match core_after(core, episode, at) {
        Ok(core_words) => text.push_str(&differences(&start, &after.encode(), &core_words)),
        Err(error) => writeln!(text, "  the build did not repeat it: {error}").expect("writing to a string"),
    }
    text
}

fn arguments(call: &Call, world: &World) -> String {
    let names = world.names();
    let name = |word: u64| {
        names.iter().find(|(_, half, _)| Some(*half as u64) == word.checked_mul(2)).map(|row| row.0.as_str())
    };
    let text = |word: &u64| name(*word).map_or(word.to_string(), |name| format!("&{name}"));
    call.args.iter().map(text).collect::<Vec<_>>().join(" ")
}

/// Fields that changed in either, one per line: before, core, reference.
fn differences(start: &World, ours: &[u64], theirs: &[u64]) -> String {
    let old = start.encode();
    let mut text = format!("  {:<40} {:>20} {:>20} {:>20}\n", "field", "before", "core", "reference");
    for (name, half, width) in start.names() {
        let [was, core, reference] = [&old, theirs, ours].map(|words| field(words, half, width));
        if was != core || was != reference {
            let mark = if core == reference { "" } else { "  <-- differs" };
            writeln!(text, "  {name:<40} {was:>20} {core:>20} {reference:>20}{mark}").expect("writing to a string");
        }
    }
    if ours[CALL_WORDS..].len() != theirs[CALL_WORDS..].len() {
        text.push_str("  the states differ in length\n");
    }
    text
}

/// A field of the buffer, by its first half word and width.
pub fn field(words: &[u64], half: usize, width: usize) -> u64 {
    let word = words[half / 2];
    match (width, half % 2) {
        (2, _) => word,
        (_, 0) => word & 0xffff_ffff,
        _ => word >> 32,
    }
}
