// SPDX-License-Identifier: GPL-2.0-or-later
//! Policies: a kernel profile and the switches changed in it, from files and from `--set switch=value`.

use std::collections::BTreeMap;
use std::path::Path;

use pelton_core::{Policy, PolicyError};
use pelton_model::KernelImage;

use crate::diagnostic::{Diagnostic, Diagnostics, INPUT_BYTES_MAX, SourceFile, hint_for, short};
use crate::platform::kernel_version;
use crate::tree::{At, Document, Key, Kind, Reader, Spec, check, parse, reference};

/// The profile taken when none is named.
pub const DEFAULT_PROFILE: &str = "7.2";

/// Policies that are known by name: name and file.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("composite", include_str!("../../../scenarios/policies/composite.toml")),
    ("live", include_str!("../../../scenarios/policies/live.toml")),
];

/// The keys of a policy file.
pub static POLICY: Spec = Spec {
    title: "",
    doc: "A policy is a kernel profile and the switches changed in it.",
    open: false,
    keys: &[
        Key::new("schema", Kind::Int(1, 1), "", "version of this format; absent: 1"),
        Key::new("profile", Kind::Text, "", "kernel whose rules apply where no switch says otherwise; absent: 7.2"),
        Key::new("why", Kind::Text, "", "what the policy is for"),
        Key::new("set", Kind::Table(&SET), "", "switches and numbers that differ from the profile"),
    ],
};

static SET: Spec = Spec { title: "[set]", doc: "`switch = \"value\"`, as after `--set`.", open: true, keys: &[] };

/// A policy and how it came about.
#[derive(Clone, Debug)]
pub struct PolicyChoice {
    /// The switches.
    pub policy: Policy,
    /// The profile they start from.
    pub profile: String,
    /// Switches that were set, with their value, in the order they were applied.
    pub set: Vec<(String, String)>,
    /// Purposes that the files state.
    pub why: Vec<String>,
    /// schedutil's rate limit, if set for this policy alone, us.
    pub rate_limit_us: Option<u64>,
    /// Settings that change nothing.
    pub warnings: Diagnostics,
    /// Origin of the value of each switch that was set: an option, or a file with its line.
    pub origins: BTreeMap<String, String>,
    /// A kernel's own code that decides where it can; the rest is the profile's.
    pub kernel: Option<KernelImage>,
}

/// A piece of text that says something about the policy.
struct Word {
    source: SourceFile,
    at: At<String>,
}

/// `switch = value` with the places of both.
struct Setting {
    source: SourceFile,
    switch: At<String>,
    value: At<String>,
}

impl Setting {
    /// The option, or the file and the line.
    fn place(&self) -> String {
        let name = self.source.name();
        if name.starts_with("--") {
            name.to_owned()
        } else {
            format!("{name}:{}", self.source.line_of(self.switch.span.start))
        }
    }
}

/// The policy that results from `--profile`, policy files and `--set`; see [`choose`].
pub fn load<P: AsRef<Path>, S: AsRef<str>>(
    profile: Option<&str>,
    files: &[P],
    sets: &[S],
) -> Result<Policy, Diagnostics> {
    choose(profile, files, sets).map(|choice| choice.policy)
}

/// The policy that results from `--profile`, policy files and `--set`, in this order of strength for the profile: the
/// option, the files (which must agree), 7.2. Settings apply in the order given, files first.
pub fn choose<P: AsRef<Path>, S: AsRef<str>>(
    profile: Option<&str>,
    files: &[P],
    sets: &[S],
) -> Result<PolicyChoice, Diagnostics> {
    let mut found = Diagnostics::new();
    let mut sources = Vec::new();
    for file in files {
        if let Some((name, text)) = BUILT_IN.iter().find(|(name, _)| file.as_ref() == Path::new(name)) {
            sources.push(SourceFile::new(format!("policies/{name}.toml"), *text));
            continue;
        }
        let is_stream = file.as_ref() == Path::new("-");
        let read = if is_stream {
            SourceFile::read_stream(file.as_ref(), INPUT_BYTES_MAX)
        } else {
            SourceFile::read(file.as_ref())
        };
        match read {
            Ok(source) => sources.push(source),
            Err(unreadable) => found.extend(unreadable),
        }
    }
    found.or(())?;
    choose_from(profile, &sources, sets)
}

/// Chooses as [`choose`] does, with policy files that are already text.
pub fn choose_from<S: AsRef<str>>(
    profile: Option<&str>,
    files: &[SourceFile],
    sets: &[S],
) -> Result<PolicyChoice, Diagnostics> {
    let mut found = Diagnostics::new();
    let mut builder = Builder { profile: profile.map(argument_profile), ..Builder::default() };
    for source in files {
        if let Err(wrong) = builder.add_file(source, profile.is_some()) {
            found.extend(wrong);
        }
    }
    for set in sets {
        match argument_setting(set.as_ref()) {
            Ok(setting) => builder.settings.push(setting),
            Err(wrong) => found.extend(wrong),
        }
    }
    found.or(())?;
    builder.finish()
}

fn argument_profile(name: &str) -> Word {
    Word { source: SourceFile::new("--profile", name), at: At { value: name.to_owned(), span: 0..name.len() } }
}

/// `switch=value` as typed after `--set`.
fn argument_setting(text: &str) -> Result<Setting, Diagnostics> {
    let source = SourceFile::new("--set", text);
    let Some((switch, value)) = text.split_once('=') else {
        let at = source.error(0..text.len(), "a setting needs a value").allowed("switch=value");
        return Err(at.help(format!("switches: {}", switch_names())).into());
    };
    let trimmed = |part: &str, start: usize| {
        let lead = part.len() - part.trim_start().len();
        let word = part.trim();
        At { value: word.to_owned(), span: start + lead..start + lead + word.len() }
    };
    let (switch, value) = (trimmed(switch, 0), trimmed(value, switch.len() + 1));
    Ok(Setting { source, switch, value })
}

fn switch_names() -> String {
    pelton_core::switches().iter().map(|s| s.name).collect::<Vec<_>>().join(", ")
}

#[derive(Default)]
struct Builder {
    profile: Option<Word>,
    settings: Vec<Setting>,
    why: Vec<String>,
}

impl Builder {
    /// Adds what a file says. `decided`: the profile was given as an option, which wins.
    fn add_file(&mut self, source: &SourceFile, decided: bool) -> Result<(), Diagnostics> {
        let document = parse(source)?;
        stray_switches(&document).or(())?;
        check(&document, &POLICY).or(())?;
        let root = Reader::new(document.root.get_ref());
        self.why.extend(root.text("why").map(|w| w.value));
        if let Some(at) = root.text("profile").filter(|_| !decided) {
            self.agree(source, at)?;
        }
        let settings = root.table("set").map_or_else(Vec::new, |set| set.entries());
        self.settings.extend(settings.into_iter().map(|(switch, value)| Setting {
            source: source.clone(),
            switch,
            value,
        }));
        Ok(())
    }

    fn agree(&mut self, source: &SourceFile, at: At<String>) -> Result<(), Diagnostics> {
        match &self.profile {
            Some(first) if first.at.value != at.value => {
                let message =
                    format!("two profiles: `{}` here, `{}` in {}", at.value, first.at.value, first.source.name());
                Err(source.error(at.span, message).help("keep one, or decide with --profile").into())
            }
            _ => {
                self.profile = Some(Word { source: source.clone(), at });
                Ok(())
            }
        }
    }

    fn finish(self) -> Result<PolicyChoice, Diagnostics> {
        let word = self.profile.unwrap_or_else(|| argument_profile(DEFAULT_PROFILE));
        let mut policy = Policy::profile(&word.at.value).map_err(|_| unknown_profile(&word))?;
        let mut found = Diagnostics::new();
        let mut rate_limit_us = None;
        for setting in &self.settings {
            if setting.switch.value == RATE_LIMIT {
                match rate_limit(setting) {
                    Some(us) => rate_limit_us = Some(us),
                    None => found.push_with(|| not_a_rate_limit(setting)),
                }
            } else if let Err(error) = policy.set(&setting.switch.value, &setting.value.value) {
                found.push_with(|| explain(setting, &error));
            }
        }
        found.or(())?;
        if let Err(error) = policy.check() {
            return Err(conflict(&word, &self.settings, &error).into());
        }
        let warnings = without_effect(&policy, &self.settings);
        let origins = self.settings.iter().map(|s| (s.switch.value.clone(), s.place())).collect();
        let set = self.settings.into_iter().map(|s| (s.switch.value, s.value.value)).collect();
        let profile = word.at.value;
        Ok(PolicyChoice { policy, profile, set, why: self.why, rate_limit_us, warnings, origins, kernel: None })
    }
}

/// The setting that is no switch of the core: a tunable of the governor, which every policy may have its own of.
const RATE_LIMIT: &str = "rate_limit_us";

/// Longest rate limit, us.
pub const RATE_LIMIT_US_MAX: u64 = 10_000_000;

fn rate_limit(setting: &Setting) -> Option<u64> {
    setting.value.value.parse().ok().filter(|us| *us <= RATE_LIMIT_US_MAX)
}

fn not_a_rate_limit(setting: &Setting) -> Diagnostic {
    let message = format!("`{RATE_LIMIT}` cannot be `{}`", short(&setting.value.value));
    setting.source.error(setting.value.span.clone(), message).allowed(format!("0..={RATE_LIMIT_US_MAX} us"))
}

/// A warning for each setting that nothing reads.
fn without_effect(policy: &Policy, settings: &[Setting]) -> Diagnostics {
    let mut found = Diagnostics::new();
    for setting in settings {
        let name = &setting.switch.value;
        let no_limit = name == RATE_LIMIT && !policy.reads_rate_limit();
        let Some(reason) = policy.without_effect(name).or(no_limit.then_some(NO_RATE_LIMIT)) else { continue };
        let at = setting.source.error(setting.switch.span.clone(), format!("`{name}` has no effect"));
        found.push(at.warning().label(reason));
    }
    found
}

/// Reason why a rate limit is not read.
const NO_RATE_LIMIT: &str = "no window of this gate comes from the rate limit";

impl PolicyChoice {
    /// The profile and what was set on top of it, in a line.
    pub fn in_words(&self) -> String {
        let base = match &self.kernel {
            Some(kernel) => format!("kernel:{} ({})", kernel.name, kernel.release),
            None => self.profile.clone(),
        };
        let changes = self.changes();
        if changes.is_empty() { base } else { format!("{base}, {changes}") }
    }

    /// The value of a switch, by name.
    pub fn value_of(&self, switch: &str) -> &'static str {
        let all = pelton_core::switches();
        let at = all.iter().position(|s| s.name == switch);
        let value = at.map(|at| self.policy.values()[at] as usize);
        at.zip(value).and_then(|(at, value)| all[at].values.get(value).copied()).unwrap_or("?")
    }

    /// Origin of a switch's value.
    pub fn origin(&self, switch: &str) -> String {
        self.origins.get(switch).cloned().unwrap_or_else(|| format!("profile {}", self.profile))
    }

    /// Switches that were set, in a line.
    pub fn changes(&self) -> String {
        self.set.iter().map(|(switch, value)| format!("{switch}={value}")).collect::<Vec<_>>().join(", ")
    }

    /// A warning when a rate limit that was given for all policies means nothing to this one.
    pub fn rate_limit_unread(&self, rate_limit_us: Option<u64>) -> Option<Diagnostic> {
        let us = rate_limit_us.filter(|_| self.rate_limit_us.is_none() && !self.policy.reads_rate_limit())?.to_string();
        let source = SourceFile::new("--rate-limit-us", us.as_str());
        let at = source.error(0..us.len(), format!("the rate limit has no effect under `{}`", self.in_words()));
        Some(at.warning().label(NO_RATE_LIMIT))
    }
}

/// Switches that were written outside of `[set]`.
fn stray_switches(document: &Document<'_>) -> Diagnostics {
    let mut found = Diagnostics::new();
    let switches = pelton_core::switches();
    for key in document.root.get_ref().keys().filter(|key| switches.iter().any(|s| s.name == key.get_ref().as_ref())) {
        let at = document.source.error(key.span(), format!("the switch `{}` is outside of [set]", key.get_ref()));
        found.push(at.help("put a line `[set]` above the switches"));
    }
    found
}

fn unknown_profile(word: &Word) -> Diagnostics {
    let name = &word.at.value;
    let known = pelton_core::profiles();
    let at = word.source.error(word.at.span.clone(), format!("there is no profile `{}`", short(name)));
    let at = at.allowed(known.join(", "));
    let Some(wanted) = kernel_version(name) else { return at.help("profiles are named by kernel version").into() };
    if let Some(read) = read_of_series(name) {
        return at.help(read).into();
    }
    let older = known.iter().rfind(|k| kernel_version(k).is_some_and(|v| v <= wanted));
    let newer = known.iter().find(|k| kernel_version(k).is_some_and(|v| v > wanted));
    match (older, newer) {
        (Some(older), Some(newer)) => at.help(between(older, newer)).into(),
        (Some(newest), None) => {
            at.help(format!("the kernel is newer than the newest profile `{newest}`, and may have other rules")).into()
        }
        _ => at.help("the kernel is older than the oldest profile").into(),
    }
}

/// Names of rules that a message lists.
const RULES_LISTED: usize = 12;

/// Rules that a kernel between two profiles may have of either.
fn between(older: &str, newer: &str) -> String {
    let (Ok(before), Ok(after)) = (Policy::profile(older), Policy::profile(newer)) else { return String::new() };
    let values = before.values().into_iter().zip(after.values());
    let changed = pelton_core::switches().into_iter().zip(values).filter(|(_, (before, after))| before != after);
    let names: Vec<&str> = changed.map(|(switch, _)| switch.name).collect();
    let listed = names[..names.len().min(RULES_LISTED)].join(", ");
    let more = match names.len().saturating_sub(RULES_LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "its text was not read. It lies between `{older}` and `{newer}`, which differ in {} rules: {listed}{more}. It may have either \
         value of each: try both (`pelton compare --policy {older} --policy {newer}`), or take one and `--set` what you know",
        names.len()
    )
}

/// Stable releases of a release's series that were read, in words.
fn read_of_series(name: &str) -> Option<String> {
    let series =
        pelton_core::stable_series().into_iter().find(|s| name.rsplit_once('.').is_some_and(|n| n.0 == s.series));
    let pelton_core::StableSeries { series, first, last } = series?;
    Some(match last - first {
        0 => format!("of the releases of {series} {series}.{first} was read, which is the profile `{series}`"),
        _ => format!("of the releases of {series} those from {series}.{first} to {series}.{last} were read"),
    })
}

/// The table's complaint about one setting, at the word that is wrong.
fn explain(setting: &Setting, error: &PolicyError) -> Diagnostic {
    let at = |word: &At<String>, message: String| setting.source.error(word.span.clone(), message);
    match error {
        PolicyError::UnknownSwitch { name, candidates } => {
            at(&setting.switch, format!("there is no switch `{}`", short(name)))
                .help(hint_for(name, candidates.iter().copied().chain([RATE_LIMIT])))
        }
        PolicyError::UnknownValue { switch, value, candidates } => {
            let about = pelton_core::switches().into_iter().find(|s| s.name == *switch).map_or("", |s| s.why);
            let message = format!("`{switch}` cannot be `{}`", short(value));
            let near = hint_for(value, candidates.iter().copied());
            let help = if near.starts_with("did") {
                format!("{near}\n{switch}: {about}")
            } else {
                format!("{switch}: {about}")
            };
            at(&setting.value, message).allowed(candidates.join(", ")).help(help)
        }
        PolicyError::OutOfRange { parameter, value, allowed } => {
            let about = pelton_core::parameters().into_iter().find(|p| p.name == *parameter).map_or("", |p| p.why);
            at(&setting.value, format!("`{parameter}` cannot be `{}`", short(value)))
                .allowed(allowed.clone())
                .help(format!("{parameter}: {about}"))
        }
        other => at(&setting.switch, other.to_string()),
    }
}

/// A contradiction, at the last setting that took part in it.
fn conflict(profile: &Word, settings: &[Setting], error: &PolicyError) -> Diagnostic {
    let PolicyError::Conflict { switch_a, value_a, switch_b, value_b, reason } = error else {
        return profile.source.error(profile.at.span.clone(), error.to_string());
    };
    let (source, span) = settings
        .iter()
        .rfind(|s| s.switch.value == *switch_a || s.switch.value == *switch_b)
        .map_or((&profile.source, profile.at.span.clone()), |s| (&s.source, s.switch.span.start..s.value.span.end));
    let message = format!("`{switch_a}={value_a}` and `{switch_b}={value_b}` contradict each other");
    let origin = |switch: &str| {
        let place = settings.iter().rfind(|s| s.switch.value == switch);
        place.map_or_else(
            || format!("profile {}", profile.at.value),
            |s| format!("{}:{}", s.source.name(), s.source.line_of(s.switch.span.start)),
        )
    };
    let help =
        format!("{switch_a} comes from {}, {switch_b} from {}; change one of them", origin(switch_a), origin(switch_b));
    source.error(span, message).label(*reason).help(help)
}

/// The page `docs/guide/policies.md`: the format, with the table of keys that the checks use.
pub fn guide() -> String {
    let example = include_str!("../tests/good/policy.toml").split_once('\n').map_or("", |(_, rest)| rest);
    let page = include_str!("policy_guide.md.in").replace("{{example}}", &format!("```toml\n{example}```"));
    let page =
        page.replace("{{profile}}", DEFAULT_PROFILE).replace("{{profiles}}", &pelton_core::profiles().join(", "));
    page.replace("{{keys}}\n", &reference(&POLICY))
}

/// Reads arbitrary bytes as a policy file, as a fuzzer does: nothing may panic.
pub fn fuzz_policy(data: &[u8]) {
    let none: [&str; 0] = [];
    let chosen = SourceFile::from_bytes("input.toml", data).and_then(|source| choose_from(None, &[source], &none));
    if let Err(refused) = chosen {
        drop(crate::diagnostic::render(&refused, 80, false));
    }
}
