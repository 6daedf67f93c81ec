// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton check`: behaviour files, judged on boards of the simulator or on a recording.

use super::common::{Screen, failure, print, print_json, print_list, print_plain, section};
use crate::args::{CheckArgs, Format, Global};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::paint;
use crate::sheet::Sheet;
use pelton_lab::behaviour::result::{BoardVerdicts, Checked, ClaimVerdict, Claimed, Holds, WrongWorldResult};
use pelton_lab::behaviour::simulate::boards;
use pelton_lab::number::number;
use pelton_lab::results::lists::Behaviours;
use pelton_lab::verbs::check::{CheckRequest, check as judge, rtapp};
use pelton_scenario::behaviour::Behaviour;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Runs the verb.
pub fn check(args: &CheckArgs, global: &Global) -> Result<Exit, Failure> {
    let Some(name) = &args.behaviour else { return list(global) };
    let request = CheckRequest {
        behaviour: name.clone(),
        boards: args.boards.clone(),
        policy: args.policy.clone(),
        sets: args.sets.clone(),
        seeds: args.seeds,
        trace: args.trace.clone(),
        input_format: args.input_format.map(|format| format.name().to_owned()),
        wrong_worlds: args.wrong_worlds,
        jobs: usize::from(global.jobs),
        ..CheckRequest::default()
    };
    if let (Some(board), Some(place)) = (&args.rt_app, &args.output) {
        return write_rtapp(&request, board, place);
    }
    if args.instructions {
        return instruct(&request);
    }
    let checked = judge(&request, &Screen::new(global)).map_err(failure)?;
    show(&checked, global)?;
    Ok(match checked.score {
        score if score.fails > 0 => Exit::ClaimFails,
        score if score.measured_nowhere > 0 => Exit::Open,
        _ => Exit::Good,
    })
}

fn list(global: &Global) -> Result<Exit, Failure> {
    let all = Behaviours::all().map_err(failure)?;
    let mut sheet = Sheet::new(&["<behaviour", "claims", "boards", "<question"]);
    for line in &all.behaviours {
        let numbers = [line.claims, line.boards].map(|count| count.to_string());
        sheet.row([line.behaviour.clone()].into_iter().chain(numbers).chain([line.question.clone()]).collect());
    }
    print_list(global, &sheet, &all)?;
    Ok(Exit::Good)
}

fn write_rtapp(request: &CheckRequest, board: &str, place: &Path) -> Result<Exit, Failure> {
    let read = [PathBuf::from(&request.behaviour), PathBuf::from(board)];
    output::spare(&[place.to_owned()], &read)?;
    let behaviour = request.behaviour().map_err(failure)?;
    let (_, sized) = rtapp(&behaviour, board).map_err(failure)?;
    output::write(place, &sized.rtapp)?;
    Ok(Exit::Good)
}

fn show(checked: &Checked, global: &Global) -> Result<(), Failure> {
    match global.format {
        Format::Json => print_json(checked),
        Format::Csv => print(&csv(checked)),
        Format::Table | Format::Markdown | Format::Toml => print(&text(checked)),
    }
}

fn text(checked: &Checked) -> String {
    let mut out = format!("{}: {}\n", checked.behaviour, checked.question);
    let _ = match &checked.trace {
        Some(trace) => writeln!(out, "{trace}, kernel: {}", checked.policy),
        None => {
            let s = number(f64::from(checked.duration_ms) / 1e3);
            let runs = if checked.seeds == 1 { "one run".to_owned() } else { format!("{} runs", checked.seeds) };
            writeln!(out, "policy {}, {runs} of {s} s on each board; the worst decides", checked.policy)
        }
    };
    let mut claims = Sheet::new(&["<claim", "<holds where", "<what is claimed"]);
    for claim in &checked.claims {
        claims.row(vec![claim.id.clone(), bound(claim), claim.text.clone()]);
    }
    out += &section("claims", &claims);
    out += &section("verdicts", &verdicts(checked));
    out += &section("wrong worlds", &worlds(&checked.wrong_worlds));
    checked.remarks.iter().for_each(|remark| out += &format!("\nnote: {remark}\n"));
    let _ = writeln!(out, "\n{}", summary(checked));
    out
}

fn verdicts(checked: &Checked) -> Sheet {
    let mut sheet = Sheet::new(&["<board", "<claim", "value", "<unit", "<verdict"]);
    for board in &checked.boards {
        for (verdict, claim) in board.verdicts.iter().zip(&checked.claims) {
            let value = verdict.value.map_or_else(|| "-".to_owned(), |value| number(tenths(value)));
            let unit = claim.unit.to_owned();
            sheet.row(vec![board.board.clone(), claim.id.clone(), value, unit, words(verdict)]);
        }
    }
    sheet
}

/// A value as it is shown: noise of a run begins before hundredths.
fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn words(verdict: &ClaimVerdict) -> String {
    match (&verdict.verdict, &verdict.reason) {
        (Holds::Holds, _) => "holds".to_owned(),
        (Holds::Fails, _) => "FAILS".to_owned(),
        (Holds::NotMeasured, reason) => format!("not measured: {}", reason.as_deref().unwrap_or("no run")),
    }
}

/// The range of a claim, in words.
fn bound(claim: &Claimed) -> String {
    let range = match (claim.min, claim.max) {
        (Some(min), Some(max)) => format!("{} to {}", number(min), number(max)),
        (Some(min), None) => format!("at least {}", number(min)),
        (None, Some(max)) => format!("at most {}", number(max)),
        (None, None) => "anything".to_owned(),
    };
    let on = claim.on.map(|on| format!(" on {on}")).unwrap_or_default();
    format!("{}{on}: {range}", claim.measure)
}

fn worlds(worlds: &[WrongWorldResult]) -> Sheet {
    let mut sheet = Sheet::new(&["<world", "rejected on", "of", "<by", "<what is wrong in it"]);
    for world in worlds {
        let (rejected, accepted) = (world.rejected_on.len(), world.accepted_on.len());
        let numbers = [rejected, rejected + accepted].map(|count| count.to_string());
        let by = if world.claims.is_empty() { "-".to_owned() } else { world.claims.join(", ") };
        sheet.row([world.name.clone()].into_iter().chain(numbers).chain([by, world.why.clone()]).collect());
    }
    sheet
}

/// The verdict in a sentence.
fn summary(checked: &Checked) -> String {
    let score = &checked.score;
    let all = score.holds + score.fails + score.not_measured;
    let verdict = match score {
        score if score.fails > 0 => paint::bad(&failures(checked)),
        score if score.measured_nowhere > 0 => "some claims are measured nowhere".to_owned(),
        _ => paint::good("no claim fails"),
    };
    format!(
        "{}: of {all} verdicts {} hold, {} fail, {} not measured; {verdict}",
        checked.behaviour, score.holds, score.fails, score.not_measured
    )
}

/// Each claim that fails, and the boards on which it does.
fn failures(checked: &Checked) -> String {
    let fails = |at: usize| {
        let fails_there = |board: &&BoardVerdicts| board.verdicts.get(at).is_some_and(|v| v.verdict == Holds::Fails);
        let boards: Vec<&str> = checked.boards.iter().filter(fails_there).map(|board| board.board.as_str()).collect();
        (!boards.is_empty()).then(|| {
            let (id, count, of) = (&checked.claims[at].id, boards.len(), checked.boards.len());
            format!("{id} fails on {count} of {of} boards ({})", boards.join(", "))
        })
    };
    (0..checked.claims.len()).filter_map(fails).collect::<Vec<_>>().join("; ")
}

fn csv(checked: &Checked) -> String {
    let columns =
        ["<behaviour", "<board", "<claim", "<measure", "<on", "<unit", "value", "min", "max", "<verdict", "<reason"];
    let mut sheet = Sheet::new(&columns);
    let optional = |value: Option<f64>| value.map(number).unwrap_or_default();
    for board in &checked.boards {
        for (verdict, claim) in board.verdicts.iter().zip(&checked.claims) {
            let names = [&checked.behaviour, &board.board, &claim.id].map(String::clone);
            let what = [claim.measure, claim.on.unwrap_or(""), claim.unit].map(str::to_owned);
            let numbers = [verdict.value, claim.min, claim.max].map(optional);
            let outcome = [verdict.verdict.words().to_owned(), verdict.reason.clone().unwrap_or_default()];
            sheet.row(names.into_iter().chain(what).chain(numbers).chain(outcome).collect());
        }
    }
    sheet.csv()
}

/// Steps on hardware.
fn instruct(request: &CheckRequest) -> Result<Exit, Failure> {
    let behaviour = request.behaviour().map_err(failure)?;
    let all = boards(&behaviour);
    let board = match (request.boards.as_slice(), all.as_slice()) {
        ([board], _) | ([], [board]) => board.clone(),
        ([], _) => "BOARD".to_owned(),
        _ => return Err(Failure::new(Exit::Usage, "instructions are for one board", Some("give --board once"))),
    };
    if board != "BOARD" {
        rtapp(&behaviour, &board).map_err(failure)?;
    }
    print_plain(&instructions(&behaviour, &request.behaviour, &board))?;
    Ok(Exit::Good)
}

fn instructions(behaviour: &Behaviour, typed: &str, board: &str) -> String {
    let (name, ms) = (&behaviour.name, behaviour.duration_ms);
    format!(
        "\
# {name} on hardware: {question}
# As root on the board; it takes {seconds} s and the time of rt-app's calibration.
# {board}: a platform of `pelton platform list`, or a file: `pelton platform import /sys -o board.toml` on the board.

# 1. On any machine: the tasks for this board.
pelton check {typed} --rt-app {board} -o {name}.json

# 2. On the board: schedutil, and clamps and energy-aware placement as the kernel has them.
for policy in /sys/devices/system/cpu/cpufreq/policy*; do echo schedutil > $policy/scaling_governor; done
cat /proc/sys/kernel/sched_energy_aware   # 1, where placement is to look at energy

# 3. Record while rt-app runs. The change of governor makes each CPU say its frequency once.
trace-cmd start -b 20000 -e sched_switch -e sched_waking -e sched_wakeup -e sched_wakeup_new -e cpu_frequency
for policy in /sys/devices/system/cpu/cpufreq/policy*; do
  echo performance > $policy/scaling_governor; echo schedutil > $policy/scaling_governor
done
rt-app {name}.json
trace-cmd stop && trace-cmd extract -o {name}.dat

# 4. On any machine: the verdict.
pelton check {typed} --board {board} --trace {name}.dat
",
        question = behaviour.question,
        seconds = ms.div_ceil(1000) + 2,
    )
}
