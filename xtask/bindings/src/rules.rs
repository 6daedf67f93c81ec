// SPDX-License-Identifier: GPL-2.0-or-later
//! Names and types of C in Rust, and what headers do not say: which pointers may be null or are arrays.

use quote::ToTokens as _;
use syn::Type;

/// Records whose name in Rust is another one.
const RENAMED: [(&str, &str); 1] = [("pelton_tg", "TaskGroup")];

/// Modules of constants, and what the names of these begin with behind `PELTON_`.
pub const MODULES: [(&str, &str); 17] = [
    ("balance_idle", "CPU_"),
    ("class", "CLASS_"),
    ("commit", "COMMIT_"),
    ("dequeue", "DEQUEUE_"),
    ("ev", "EV_"),
    ("filter_form", "FILTER_"),
    ("hook_flag", "HOOK_FLAG_"),
    ("how", "HOW_"),
    ("lbf", "LBF_"),
    ("migrate", "MIGRATE_"),
    ("quota", "BANDWIDTH_"),
    ("runs", "RUNS_"),
    ("sd", "SD_"),
    ("verdict", "VERDICT_"),
    ("vote", "VOTE_"),
    ("wf", "WF_"),
    ("woke", "IDLE_WOKE_"),
];

/// Pointers that may be null: a parameter, and the functions where it may.
const NULLABLE: [(&str, &[&str]); 7] = [
    ("owned", &["*"]),
    ("cfs", &["rq_*"]),
    (
        "curr",
        &[
            "avg_vruntime",
            "delay_dequeue",
            "entity_eligible",
            "keeps_curr",
            "leave_entity",
            "place_entity",
            "requeue_delayed",
            "reweight_entity_of",
            "update_deadline",
            "update_min_vruntime",
        ],
    ),
    ("first", &["update_min_vruntime"]),
    ("prev", &["rq_switch_fair", "rq_switch_idle"]),
    ("next", &["rq_switch_fair"]),
    ("sc", &["sugov_commit"]),
];

/// Functions of `NULLABLE` in which the parameter may not be null after all.
const NOT_NULL: [(&str, &str); 1] = [("owned", "propagate_entity_load_avg")];

/// Pointers to records that are arrays: a parameter, and the functions where it is one. Pointers to constant numbers
/// are arrays everywhere.
const ARRAYS: [(&str, &[&str]); 11] = [
    ("asked", &["sugov_*"]),
    ("c", &["task_cache_work"]),
    ("cpus", &["*"]),
    ("groups", &["*"]),
    ("levels", &["*"]),
    ("s", &["sugov_ask", "sugov_evaluate"]),
    ("sc", &["sugov_ask", "sugov_evaluate"]),
    ("states", &["*"]),
    ("t", &["task_cache_work"]),
    ("terms", &["sugov_ask", "sugov_ask_again", "sugov_decide", "sugov_evaluate", "sugov_first_largest", "sugov_need"]),
    ("votes", &["*"]),
];

fn listed(list: &[(&str, &[&str])], param: &str, function: &str) -> bool {
    let fits = |pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => function.starts_with(start),
        None => pattern == function,
    };
    list.iter().any(|(name, functions)| *name == param && functions.iter().any(|pattern| fits(pattern)))
}

/// May a parameter be null?
pub fn may_be_null(param: &str, function: &str) -> bool {
    listed(&NULLABLE, param, function) && !NOT_NULL.contains(&(param, function))
}

/// Is a pointer to records an array?
pub fn is_array(param: &str, function: &str) -> bool {
    listed(&ARRAYS, param, function)
}

/// `pelton_cfs_rq` is `CfsRq`.
pub fn record_name(c: &str) -> String {
    if let Some((_, name)) = RENAMED.iter().find(|(of, _)| *of == c) {
        return (*name).to_owned();
    }
    let words = c.strip_prefix("pelton_").unwrap_or(c).split('_');
    words.map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

/// The record of C that a name in Rust stands for; `None`: it is no record's name.
pub fn c_record(name: &str) -> Option<String> {
    if let Some((c, _)) = RENAMED.iter().find(|(_, own)| *own == name) {
        return Some((*c).to_owned());
    }
    if !name.starts_with(char::is_uppercase) || !name.contains(char::is_lowercase) {
        return None;
    }
    let mut c = "pelton".to_owned();
    for letter in name.chars() {
        if letter.is_uppercase() {
            c.push('_');
        }
        c.push(letter.to_ascii_lowercase());
    }
    Some(c)
}

/// Does the generator itself provide a name?
pub fn is_own(name: &str) -> bool {
    MODULES.iter().any(|(module, _)| *module == name)
}

/// A type that is no pointer.
pub fn rust_type(ty: &Type) -> String {
    match ty {
        Type::Array(array) => {
            let len = array.len.to_token_stream().to_string();
            format!("[{}; {}]", rust_type(&array.elem), len.trim_end_matches("usize"))
        }
        Type::Path(path) => {
            let name = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
            named(&name)
        }
        other => other.to_token_stream().to_string(),
    }
}

fn named(name: &str) -> String {
    match name {
        "u32_" | "c_uint" => "u32".to_owned(),
        "u64_" | "pelton_span" | "c_ulonglong" => "u64".to_owned(),
        "s32" | "c_int" => "i32".to_owned(),
        "s64" | "c_longlong" => "i64".to_owned(),
        record if record.starts_with("pelton_") => record_name(record),
        other => other.to_owned(),
    }
}

/// A comment in front of an item, wrapped between words.
pub fn comment(indent: &str, text: &str) -> String {
    let mut out = String::new();
    let mut line = format!("{indent}///");
    for word in text.split_whitespace() {
        if line.len() + 1 + word.len() > 120 {
            out += &line;
            out.push('\n');
            line = format!("{indent}///");
        }
        line.push(' ');
        line += word;
    }
    if text.is_empty() { out } else { out + &line + "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_named_by_rule() {
        assert_eq!(["pelton_cfs_rq", "pelton_tg"].map(record_name), ["CfsRq", "TaskGroup"]);
        assert_eq!(
            ["CfsRq", "TaskGroup"].map(|name| c_record(name).unwrap_or_default()),
            ["pelton_cfs_rq", "pelton_tg"]
        );
        assert_eq!([c_record("NO_CPU"), c_record("ramp")], [None, None]);
    }

    #[test]
    fn pointers_are_known_by_parameter_and_function() {
        assert!(may_be_null("owned", "enqueue_entity") && !may_be_null("owned", "propagate_entity_load_avg"));
        assert!(may_be_null("cfs", "rq_tick_entity") && !may_be_null("cfs", "tick_entity"));
        assert!(is_array("votes", "sched_dvfs_update") && !is_array("t", "dbs_load"));
    }

    #[test]
    fn types_lose_their_names_of_c() {
        let of = |text: &str| rust_type(&syn::parse_str(text).expect("a type"));
        assert_eq!([of("u64_"), of("[s32; 3usize]"), of("[pelton_tg; 2usize]")], ["u64", "[i32; 3]", "[TaskGroup; 2]"]);
    }
}
