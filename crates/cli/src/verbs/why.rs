// SPDX-License-Identifier: GPL-2.0-or-later
//! `pelton why`: switches between two policies, and what each has moved.

use super::common::{Screen, failure, input, input_files, policy_files, print, print_json, section};
use crate::args::{Format, Global, WhyArgs};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::paint;
use crate::picture;
use crate::sheet::Sheet;
use pelton_lab::measure::stats::SAMPLES_FOR_CI95;
use pelton_lab::number::number;
use pelton_lab::run::LabError;
use pelton_lab::verbs::{self, why::WhyRequest};
use pelton_lab::why::kept::Kept;
use pelton_lab::why::{Estimate, Keep, Moved, Player, Share, Verdict, Why};
use pelton_report::chart::why as shares;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Switches that the first sentence names.
const NAMED: usize = 3;
/// Share of the change below which the first sentence does not name a switch, percent.
const NAMED_PCT_MIN: f64 = 5.0;

/// Runs the verb.
pub fn why(args: &WhyArgs, global: &Global) -> Result<Exit, Failure> {
    args.plot.as_deref().map_or(Ok(()), picture::check)?;
    args.resume.as_deref().map_or(Ok(()), is_file)?;
    let outputs: Vec<&PathBuf> = args.plot.iter().chain(&args.resume).collect();
    let policies = [args.from.clone(), args.to.clone()];
    let read: Vec<PathBuf> = input_files(&args.input).into_iter().chain(policy_files(&policies)).collect();
    output::spare(&outputs, &read)?;
    let [from, to] = policies;
    let request = WhyRequest {
        input: input(&args.input),
        from,
        to,
        sets: args.sets.clone(),
        metric: args.metric.clone(),
        seeds: args.seeds,
        first_seed: args.first_seed,
        orders: args.orders,
        jobs: usize::from(global.jobs),
    };
    let found = asked(&request, args.resume.as_deref(), global)?;
    if let (Some(path), Some(moved)) = (&args.plot, found.answer()) {
        picture::save(path, &shares::picture(&found, moved, &sentence(&found, moved)))?;
    }
    match global.format {
        Format::Json => print_json(&found)?,
        Format::Csv => print(&long_sheet(&found).csv())?,
        Format::Table | Format::Markdown | Format::Toml => print(&text(&found, global.verbose > 0))?,
    }
    Ok(Exit::Good)
}

/// Refuses a place where nothing can be kept.
fn is_file(path: &Path) -> Result<(), Failure> {
    if path.as_os_str() != "-" {
        return Ok(());
    }
    Err(Failure::new(Exit::Usage, "--resume -: finished runs are kept in a file", Some("name one")))
}

/// Asks with the finished runs of a file, which is written again while others end.
fn asked(request: &WhyRequest, file: Option<&Path>, global: &Global) -> Result<Why, Failure> {
    let failed: Mutex<Option<Failure>> = Mutex::new(None);
    let write = |path: &Path, kept: &Kept| {
        output::write(path, &kept.text()).map_err(|error| {
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            LabError::Caller
        })
    };
    let screen = Screen::new(global);
    let answer = match file {
        None => verbs::why::why(request, None, &screen),
        Some(path) => {
            let runs = Kept::read(path).map_err(failure)?;
            verbs::why::why(request, Some(Keep { runs, write: &|kept| write(path, kept) }), &screen)
        }
    };
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    answer.map_err(|error| failed.unwrap_or_else(|| failure(error)))
}

fn text(why: &Why, all: bool) -> String {
    let Some(moved) = why.answer() else {
        let Why { from, to, .. } = why;
        return format!(
            "no switch or number differs between {from} and {to}: there is nothing to explain, and nothing ran\n"
        );
    };
    let mut out = paint::strong(&sentence(why, moved)) + "\n";
    out += &about(why);
    out += &section("", &sheet(why, moved, all));
    for player in why.players.iter().filter(|player| player.changes_runs) {
        if let Some(because) = &player.together {
            out += &format!("\n{}: taken together, {because}\n", player.name);
        }
    }
    out += &moved.note.as_ref().map(|note| format!("\nenergy: {note}\n")).unwrap_or_default();
    why.remarks.iter().for_each(|remark| out += &format!("\nnote: {remark}\n"));
    out + "\n" + &meaning(why, moved)
}

/// Platform, workload and what ran, in a line.
fn about(why: &Why) -> String {
    let method = &why.method;
    let how = if method.exact {
        "every combination".to_owned()
    } else {
        format!("{} orders and their reverses", method.orders / 2)
    };
    let run = &why.run;
    format!(
        "{} on {}, {} s, {} seeds; {how}: {} policies, {} runs\n",
        run.workload,
        run.platform,
        number(run.duration_s),
        why.seeds.len(),
        method.policies,
        method.runs
    )
}

/// The answer.
pub fn sentence(why: &Why, moved: &Moved) -> String {
    let Why { from, to, .. } = why;
    let (name, unit) = (moved.quantity, moved.unit);
    let ends = format!("{} to {} {unit}", number(moved.from), number(moved.to));
    match moved.verdict {
        Verdict::Equal => format!("{name} is {} {unit} under {from} and {to}, equal in every seed", number(moved.from)),
        Verdict::WithinNoise => {
            let (low, high) = moved.change.ci95.unwrap_or_default();
            format!(
                "{name} does not move beyond what the seeds explain from {from} to {to}: {} {unit}, 95 % [{}, {}]",
                signed(moved.change.mean),
                signed(low),
                signed(high)
            )
        }
        Verdict::Moved | Verdict::NoInterval => {
            let verb = if moved.change.mean < 0.0 { "falls" } else { "rises" };
            let amount = match moved.change_pct {
                Some(pct) => format!("{:.1} %{} ({ends})", pct.mean.abs(), half(pct, |half| format!("{half:.1}"))),
                None => format!("{} {unit}", number(moved.change.mean.abs()) + &half(moved.change, number)),
            };
            format!("{name} {verb} by {amount} from {from} to {to}: {}", carried(moved))
        }
    }
}

/// ` ± half` of an interval.
fn half(of: Estimate, shown: impl Fn(f64) -> String) -> String {
    of.ci95.map(|(low, high)| format!(" ± {}", shown((high - low) / 2.0))).unwrap_or_default()
}

/// Switches with the largest shares, those that are more than the seeds explain.
fn carried(moved: &Moved) -> String {
    let counts = |share: &&&Share| moved.verdict == Verdict::NoInterval || share.is_significant();
    let large = |share: &&&Share| share.of_change_pct.is_some_and(|pct| pct.abs() >= NAMED_PCT_MIN);
    let sorted = moved.sorted();
    let named: Vec<String> = sorted
        .iter()
        .filter(counts)
        .filter(large)
        .take(NAMED)
        .map(|share| format!("`{}` {:.0} %", share.player, share.of_change_pct.unwrap_or(0.0)))
        .collect();
    match &named[..] {
        [] => "no switch has a share beyond what seeds and orders explain".to_owned(),
        [one] => one.replacen("` ", "` carries ", 1) + " of it",
        [first, others @ ..] => {
            format!("{} of it, {}", first.replacen("` ", "` carries ", 1), others.join(", "))
        }
    }
}

fn player<'a>(why: &'a Why, share: &Share) -> Option<&'a Player> {
    why.players.iter().find(|player| player.name == share.player)
}

/// Part of the largest share below which a share within noise has no line of its own.
const SMALL_PART: f64 = 0.05;

/// Reason why a share has no line of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Folded {
    Noise,
    Unmoved,
    NoRun,
}

/// Reason why a player has no line of its own; `None` for one that has.
fn folded(player: &Player, share: &Share, moved: &Moved) -> Option<Folded> {
    let zero = |of: Estimate| of.mean == 0.0 && of.ci95.is_none_or(|ends| ends == (0.0, 0.0));
    let largest = moved.sorted().first().map_or(0.0, |first| first.share.mean.abs());
    let is_small = share.share.mean.abs() < SMALL_PART * largest && !share.is_significant();
    if !player.changes_runs {
        Some(Folded::NoRun)
    } else if [share.alone, share.left_out, share.share].into_iter().all(zero) {
        Some(Folded::Unmoved)
    } else {
        is_small.then_some(Folded::Noise)
    }
}

/// One line for each player with a share that matters, the largest first; the others in few lines; the total.
fn sheet(why: &Why, moved: &Moved, all: bool) -> Sheet {
    let share = format!("share {}", moved.unit);
    let header = ["<switch", "<before", "<after", "alone", "left out", &share, "<95 %", "% of change", "<orders"];
    let mut sheet = Sheet::new(&header).with_keys(1);
    let mut others: Vec<(Folded, &Player, &Share)> = Vec::new();
    for share in moved.sorted() {
        let Some(player) = player(why, share) else { continue };
        match folded(player, share, moved) {
            Some(folded) if !all => others.push((folded, player, share)),
            _ => rows_of(player, &numbers_of(share)).into_iter().for_each(|row| sheet.row(row)),
        }
    }
    let words = [
        (Folded::Noise, "each small and within noise"),
        (Folded::Unmoved, "other runs, no other value"),
        (Folded::NoRun, "no run changed"),
    ];
    words.iter().filter_map(|&(kind, words)| row_of_others(&others, kind, words)).for_each(|row| sheet.row(row));
    let percents = matches!(moved.verdict, Verdict::Moved | Verdict::NoInterval);
    let [from, to] = short_names(why);
    let ends = ["total", from, to, "", ""].map(str::to_owned);
    let whole = if percents { "100.0" } else { "" };
    let numbers = [
        signed(moved.change.mean),
        interval(moved.change, moved.change.is_significant()),
        whole.to_owned(),
        String::new(),
    ];
    sheet.row(ends.into_iter().chain(numbers).collect());
    sheet.without_empty_columns()
}

/// Numbers of a line.
fn numbers_of(share: &Share) -> Vec<String> {
    vec![
        signed(share.alone.mean),
        signed(share.left_out.mean),
        signed(share.share.mean),
        interval(share.share, share.is_significant()),
        share.of_change_pct.map(percent).unwrap_or_default(),
        share.orders_ci95_half.map(|half| format!("± {}", number(half))).unwrap_or_default(),
    ]
}

/// The line of all that are left out for one reason: how many switches, and the sum of their shares.
fn row_of_others(others: &[(Folded, &Player, &Share)], kind: Folded, words: &str) -> Option<Vec<String>> {
    let these = || others.iter().filter(|(folded, ..)| *folded == kind);
    let count: usize = these().map(|(_, player, _)| player.switches.len()).sum();
    let name = if count == 1 { "1 other".to_owned() } else { format!("{count} others") };
    let share: f64 = these().map(|(.., share)| share.share.mean).sum();
    let pct: Option<f64> = these().map(|(.., share)| share.of_change_pct).sum();
    let pct = pct.map(percent).unwrap_or_default();
    let empty = String::new;
    let row = vec![name, words.to_owned(), empty(), empty(), empty(), signed(share), empty(), pct, empty()];
    (count > 0).then_some(row)
}

/// Lines of a player: one for each of its switches, numbers beside the first.
fn rows_of(player: &Player, numbers: &[String]) -> Vec<Vec<String>> {
    let row = |(at, changed): (usize, &pelton_lab::why::Changed)| {
        let name = if at == 0 { changed.switch.clone() } else { format!("+ {}", changed.switch) };
        let numbers = if at == 0 { numbers.to_vec() } else { vec![String::new(); numbers.len()] };
        [vec![name, changed.from.clone(), changed.to.clone()], numbers].concat()
    };
    player.switches.iter().enumerate().map(row).collect()
}

fn percent(pct: f64) -> String {
    let text = format!("{pct:.1}");
    if text == "-0.0" { "0.0".to_owned() } else { text }
}

/// Letters of a policy in the table; a longer one is called by its place on the command line.
const POLICY_LETTERS: usize = 14;

/// Both policies, as the table calls them.
fn short_names(why: &Why) -> [&str; 2] {
    let short = |policy: &str| policy.chars().count() <= POLICY_LETTERS;
    if short(&why.from) && short(&why.to) { [&why.from, &why.to] } else { ["A", "B"] }
}

fn signed(value: f64) -> String {
    let text = number(value);
    if value > 0.0 && text != "0" { format!("+{text}") } else { text }
}

fn interval(of: Estimate, is_significant: bool) -> String {
    let star = if is_significant { " *" } else { "" };
    of.ci95.map(|(low, high)| format!("[{}, {}]{star}", signed(low), signed(high))).unwrap_or_default()
}

/// Meaning of the columns.
fn meaning(why: &Why, moved: &Moved) -> String {
    let [from, to] = short_names(why);
    let mut out = format!(
        "alone: {from} with the switch, less {from}; left out: {to}, less {to} without it\n\
         share: mean over orders of what it adds to those before it; shares add up to the total\n"
    );
    if why.seeds.len() < SAMPLES_FOR_CI95 {
        out += "no 95 % confidence: it needs six seeds\n";
    } else {
        out += "in brackets: 95 % confidence over seeds; * = more than seeds and orders explain\n";
    }
    if moved.shares.iter().any(|share| share.orders_ci95_half.is_some()) {
        out += "orders: 95 % of what the draw of orders leaves open (--orders)\n";
    }
    if moved.verdict == Verdict::WithinNoise {
        out += "the change is within noise: percents of it would mean nothing\n";
    }
    out
}

/// Every number and player, one line each.
fn long_sheet(why: &Why) -> Sheet {
    let mut sheet = Sheet::new(&[
        "<quantity",
        "<unit",
        "<switch",
        "<before",
        "<after",
        "alone",
        "left_out",
        "share",
        "share_ci95_low",
        "share_ci95_high",
        "orders_ci95_half",
        "of_change_pct",
    ]);
    let optional = |value: Option<f64>| value.map(number).unwrap_or_default();
    for moved in &why.numbers {
        let line = |words: [&str; 3], numbers: [Option<f64>; 7]| {
            let words = [moved.quantity, moved.unit].into_iter().chain(words).map(str::to_owned);
            words.chain(numbers.map(optional)).collect::<Vec<_>>()
        };
        for (share, player) in moved.shares.iter().zip(&why.players) {
            let values = |value: fn(&pelton_lab::why::Changed) -> &String| {
                player.switches.iter().map(|changed| value(changed).as_str()).collect::<Vec<_>>().join(" + ")
            };
            let (before, after) = (values(|changed| &changed.from), values(|changed| &changed.to));
            let (alone, left_out, own) = (share.alone.mean, share.left_out.mean, share.share);
            let ends = [own.ci95.map(|ci| ci.0), own.ci95.map(|ci| ci.1)];
            let numbers = [
                Some(alone),
                Some(left_out),
                Some(own.mean),
                ends[0],
                ends[1],
                share.orders_ci95_half,
                share.of_change_pct,
            ];
            sheet.row(line([&share.player, &before, &after], numbers));
        }
        let change = moved.change;
        let ends = [change.ci95.map(|ci| ci.0), change.ci95.map(|ci| ci.1)];
        let numbers = [None, None, Some(change.mean), ends[0], ends[1], None, None];
        sheet.row(line(["total", &why.from, &why.to], numbers));
    }
    sheet
}
