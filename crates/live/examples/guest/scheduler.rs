// SPDX-License-Identifier: GPL-2.0-or-later
//! The core as the scheduler of the guest while something is counted: `--scheduler 7.2,uclamp=sum`, with
//! `--group CGROUP=BOOST,MIN,MAX` for each cgroup that is given something. `--system-clamps MIN,MAX` are the kernel's
//! own, of all tasks, for what it does by itself. `--decisions FOLDER`: every decision is recorded.

use std::error::Error;
use std::path::Path;

use pelton_core::Policy;
use pelton_live::scheduler::{Attached, DecisionLog, Group, Host, Machine, Options, Placing, Records, refusals};
use pelton_trace::decided::{DecidedTable, MACHINE};
use serde_json::{Value, json};

use crate::{Table, after};

const CLAMPS: [&str; 2] = ["/proc/sys/kernel/sched_util_clamp_min", "/proc/sys/kernel/sched_util_clamp_max"];

/// Runs `count` under the scheduler that was asked for, if one was.
///
/// # Errors
/// When the kernel refuses the scheduler or ends it.
pub fn beside(
    arguments: &[String],
    count: impl Fn() -> Result<Value, Box<dyn Error>>,
) -> Result<Value, Box<dyn Error>> {
    let clamps = after(arguments, "--system-clamps").map(system_clamps).transpose()?;
    let Some(policy) = after(arguments, "--scheduler") else { return count() };
    drop(clamps);
    let machine = Machine::here();
    let folder = after(arguments, "--decisions").map(Path::new);
    let options = Options { record: folder.is_some(), ..options(policy)? };
    let reasons = refusals(&machine, &options);
    if !reasons.is_empty() {
        return Err(reasons.join("; ").into());
    }
    let machine = machine.described()?;
    let mut attached = Attached::start(&machine, &options)?;
    for pair in arguments.windows(2).filter(|pair| pair[0] == "--group") {
        let (cgroup, group) = group(&pair[1])?;
        attached.set_group(cgroup, group)?;
    }
    let before = attached.counts();
    let mut told = count()?;
    let counts = attached.counts();
    let counts = counts.iter().zip(&before).map(|((name, now), (_, then))| ((*name).to_owned(), json!(now - then)));
    told["scheduler"] = Value::Object(counts.collect());
    told["verified"] = json!(attached.verified());
    told["decisions"] = decisions(&attached)?;
    if let Some(ended) = attached.ended() {
        return Err(format!("the kernel ended the scheduler: {} {}", ended.reason, ended.message).into());
    }
    if let Some(folder) = folder {
        let log = DecisionLog::new(&machine, policy.split(',').next().unwrap_or_default());
        told["recorded"] = recorded(log, &mut attached, folder)?;
    }
    Ok(told)
}

/// Writes everything that was decided: it had room in the buffer.
fn recorded(mut log: DecisionLog, attached: &mut Attached, folder: &Path) -> Result<Value, Box<dyn Error>> {
    attached.detach();
    std::fs::create_dir_all(folder)?;
    let mut tables = Vec::new();
    for table in DecidedTable::ALL {
        let mut out = Table::create(&folder.join(table.file()))?;
        out.put(&log.header(table));
        tables.push(out);
    }
    log.follow(attached, &mut |table, line| tables[usize::from(table == DecidedTable::Placements)].put(line));
    tables.into_iter().try_for_each(|table| table.finish(None))?;
    let lost = log.lost(attached);
    std::fs::write(folder.join(MACHINE), log.machine(lost))?;
    Ok(json!({"decisions": log.decisions, "placements": log.placements, "lost": lost}))
}

/// The last decision of each CPU.
fn decisions(attached: &Attached) -> Result<Value, String> {
    let explained = |cpu: u32| {
        let terms = attached.explain(cpu)?.map(|why| why.terms).unwrap_or_default();
        Ok(Value::Object(terms.iter().map(|term| (term.name.to_owned(), json!(term.value))).collect()))
    };
    Ok(Value::Array((0..attached.cpus().len() as u32).map(explained).collect::<Result<_, String>>()?))
}

/// Limits of the system's clamps; they are gone when this is dropped.
struct SystemClamps;

fn system_clamps(text: &str) -> Result<SystemClamps, Box<dyn Error>> {
    let (min, max) = text.split_once(',').ok_or("MIN,MAX is expected")?;
    std::fs::write(CLAMPS[0], min)?;
    std::fs::write(CLAMPS[1], max)?;
    Ok(SystemClamps)
}

impl Drop for SystemClamps {
    fn drop(&mut self) {
        // The guest is thrown away.
        let _ = std::fs::write(CLAMPS[1], "1024").and_then(|()| std::fs::write(CLAMPS[0], "1024"));
    }
}

/// A profile and switches behind it.
///
/// # Errors
/// A name or a value is not known.
pub fn options(text: &str) -> Result<Options, Box<dyn Error>> {
    let mut words = text.split(',');
    let mut policy = Policy::profile(words.next().unwrap_or_default())?;
    policy.set("delayed_dequeue", "off")?;
    policy.set("uclamp", "debt")?;
    let mut options = Options {
        policy,
        frequencies: true,
        placing: Placing::Auto,
        own_clamps: false,
        record: false,
        stall_after: None,
    };
    for word in words {
        match word.split_once('=') {
            Some((name, value)) => options.policy.set(name, value)?,
            None if word == "own-clamps" => options.own_clamps = true,
            None if word == "no-frequencies" => options.frequencies = false,
            None => return Err(format!("`{word}` is no option of a scheduler").into()),
        }
    }
    Ok(options)
}

fn group(text: &str) -> Result<(&str, Group), Box<dyn Error>> {
    let (cgroup, values) = text.split_once('=').ok_or("CGROUP=BOOST,MIN,MAX is expected")?;
    let values: Vec<i32> = values.split(',').map(str::parse).collect::<Result<_, _>>()?;
    let [boost_percent, min, max] = values[..] else { return Err("BOOST,MIN,MAX are three numbers".into()) };
    Ok((cgroup, Group { boost_percent, min: min.max(0) as u32, max: max.max(0) as u32 }))
}
