// SPDX-License-Identifier: GPL-2.0-or-later
//! A systemd unit that runs `pelton live` with given arguments.

use crate::args::{LiveArgs, LivePlacement};
use crate::exit::{Exit, Failure};
use pelton_lab::plan::PolicySpec;
use std::path::{Path, PathBuf};

/// The unit.
pub(super) fn unit(args: &LiveArgs) -> Result<String, Failure> {
    let program = std::env::current_exe();
    let program =
        program.map_err(|why| Failure::cannot(format!("cannot find this program: {why}"), "is /proc there?"))?;
    let words = words(args)?;
    text(&[word(&program.to_string_lossy()), "live --quiet".to_owned(), words].join(" "), args)
}

fn text(command: &str, args: &LiveArgs) -> Result<String, Failure> {
    let network = match args.start.prometheus {
        Some(_) => "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6",
        None => "PrivateNetwork=yes\nRestrictAddressFamilies=AF_UNIX",
    };
    let socket = args.socket.as_deref().map(whole).transpose()?;
    let folder = socket.as_deref().and_then(|socket| Path::new(socket).parent());
    let folder = folder.map_or_else(String::new, |path| format!("ReadWritePaths={}\n", word(&path.to_string_lossy())));
    let command = command.trim_end();
    Ok(format!(
        "[Unit]
Description=Pelton's policy core as the scheduler of this machine
ConditionPathIsDirectory=/sys/kernel/sched_ext

[Service]
Type=exec
ExecStart={command}
# A scheduler that the kernel ended (exit code 6) would be ended again: look at the journal first.
Restart=no
TimeoutStopSec=10
# Its end hands all tasks back to the kernel; that is no reason to prefer it when memory runs out.
OOMScoreAdjust=-900
LimitMEMLOCK=infinity
# The control socket.
RuntimeDirectory=pelton
RuntimeDirectoryMode=0700
{folder}UMask=0077
CapabilityBoundingSet=CAP_SYS_ADMIN CAP_SYSLOG CAP_BPF CAP_PERFMON CAP_SYS_NICE CAP_SYS_RESOURCE CAP_DAC_READ_SEARCH
NoNewPrivileges=yes
# The program or a policy may be in a home.
ProtectHome=read-only
ProtectSystem=strict
ProtectControlGroups=yes
ProtectKernelModules=yes
ProtectClock=yes
ProtectHostname=yes
RestrictNamespaces=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
{network}

[Install]
WantedBy=multi-user.target
"
    ))
}

/// The file that the policy is; a name that is built in is none.
fn policy_file(args: &LiveArgs) -> Option<PathBuf> {
    let spec = PolicySpec::parse(args.start.policy.as_deref()?);
    spec.file.filter(|_| spec.typed.is_none())
}

/// Arguments of the unit, each as systemd reads it; paths are whole, a unit has no folder of its own.
fn words(args: &LiveArgs) -> Result<String, Failure> {
    let start = &args.start;
    let mut words: Vec<String> = Vec::new();
    if let Some(policy) = &start.policy {
        let policy = policy_file(args).map_or_else(|| Ok(policy.clone()), |file| whole(&file))?;
        words.extend(["--policy".to_owned(), policy]);
    }
    start.sets.iter().for_each(|set| words.extend(["--set".to_owned(), set.clone()]));
    words.extend(start.no_frequencies.then(|| "--no-frequencies".to_owned()));
    words.extend(start.own_clamps.then(|| "--own-clamps".to_owned()));
    match start.placement {
        LivePlacement::Auto => {}
        LivePlacement::Core => words.push("--placement=core".to_owned()),
        LivePlacement::Kernel => words.push("--placement=kernel".to_owned()),
    }
    words.extend(start.length.map(|ns| format!("--for={ns}ns")));
    words.extend(start.every.map(|ns| format!("--every={ns}ns")));
    words.extend(start.prometheus.map(|address| format!("--prometheus={address}")));
    if let Some(socket) = &args.socket {
        words.extend(["--socket".to_owned(), whole(socket)?]);
    }
    Ok(words.iter().map(|text| word(text)).collect::<Vec<_>>().join(" "))
}

fn whole(path: &Path) -> Result<String, Failure> {
    if path == Path::new("-") {
        let hint = "give the policy as a file, or by name";
        return Err(Failure::new(Exit::Usage, "a unit has no standard input", Some(hint)));
    }
    let path = std::path::absolute(path)
        .map_err(|why| Failure::cannot(format!("{}: {why}", path.display()), "is the current folder there?"))?;
    Ok(path.to_string_lossy().into_owned())
}

/// A word of a command line as systemd reads it.
fn word(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:%$[]".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) { text } else { format!("\"{text}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Verb};
    use clap::Parser;

    fn args(words: &[&str]) -> LiveArgs {
        let Verb::Live(args) = Cli::parse_from([&["pelton", "live", "--unit"], words].concat()).verb else {
            panic!("that is the verb");
        };
        args
    }

    #[test]
    fn arguments_are_kept_and_paths_are_whole() {
        let given = args(&["--set", "headroom_pct=10", "--placement", "core", "--own-clamps", "--for", "2s"]);
        let unit = unit(&given).expect("a unit");
        let command = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("a command");
        let end = "live --quiet --set headroom_pct=10 --own-clamps --placement=core --for=2000000000ns";
        assert!(command.starts_with('/') && command.ends_with(end), "{command}");
        assert!(unit.contains("PrivateNetwork=yes"), "{unit}");
        let given = args(&["--policy", "mine.toml", "--prometheus", "127.0.0.1:9464"]);
        let words = words(&given).expect("words");
        assert!(words.starts_with("--policy /") && words.contains("/mine.toml --prometheus=127.0.0.1:9464"), "{words}");
        let unit = text("x", &given).expect("a unit");
        assert!(!unit.contains("PrivateNetwork") && !unit.contains("ReadWritePaths"), "{unit}");
        let unit = text("x", &args(&["--socket", "/srv/p/l.sock"])).expect("a unit");
        assert!(unit.contains("\nReadWritePaths=/srv/p\n"), "{unit}");
        for named in ["composite", "6.12,rt_signal=on", "composite,hook_epsilon=8"] {
            assert_eq!(self::words(&args(&["--policy", named])).expect("words"), format!("--policy {named}"));
        }
        assert!(self::words(&args(&["--policy", "-"])).is_err());
    }

    #[test]
    fn what_systemd_would_read_otherwise_is_quoted() {
        assert_eq!(word("a b"), "\"a b\"");
        assert_eq!(word("50%\"$x\\"), "\"50%%\\\"$$x\\\\\"");
        assert_eq!(word(""), "\"\"");
    }
}
