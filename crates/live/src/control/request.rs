// SPDX-License-Identifier: GPL-2.0-or-later
//! Requests to a running scheduler, and its answers.

use serde_json::{Map, Value, json};

use crate::scheduler::{Group, Host};
use crate::watch::{Snapshot, of_explanation, of_group};

/// Root of the tree of cgroups.
const ROOT: &str = "/sys/fs/cgroup";
/// Largest boost, percent, and smallest with a minus.
const BOOST_PERCENT_MAX: i64 = 100;
/// Capacity of the largest CPU.
const CAPACITY: i64 = 1024;
/// Values of a group that was given none.
const NONE: Group = Group { boost_percent: 0, min: 0, max: CAPACITY as u32 };

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Counts, CPUs and groups.
    Status,
    /// Gives the tasks of a cgroup a boost.
    Boost {
        /// Path below `/sys/fs/cgroup`.
        cgroup: String,
        /// Percent, -100 to 100; 0 takes it away.
        percent: i32,
    },
    /// Gives the tasks of a cgroup clamps.
    Clamp {
        /// Path below `/sys/fs/cgroup`.
        cgroup: String,
        /// Lower clamp, 0 to 1024.
        min: u32,
        /// Upper clamp, 0 to 1024.
        max: u32,
    },
    /// Sets a number of the policy.
    Set {
        /// Name.
        name: String,
        /// Value, as after `--set`.
        value: String,
    },
    /// Terms of the last decision of a CPU.
    Explain {
        /// CPU.
        cpu: u32,
    },
    /// Ends the scheduler.
    Stop,
}

impl Request {
    /// The request as JSON.
    pub fn value(&self) -> Value {
        match self {
            Request::Status => json!({"ask": "status"}),
            Request::Boost { cgroup, percent } => json!({"ask": "boost", "cgroup": cgroup, "percent": percent}),
            Request::Clamp { cgroup, min, max } => json!({"ask": "clamp", "cgroup": cgroup, "min": min, "max": max}),
            Request::Set { name, value } => json!({"ask": "set", "name": name, "value": value}),
            Request::Explain { cpu } => json!({"ask": "explain", "cpu": cpu}),
            Request::Stop => json!({"ask": "stop"}),
        }
    }

    /// Reads a request.
    ///
    /// # Errors
    /// One sentence: no JSON, no such request, a field that is missing, out of range or not known.
    pub fn parse(line: &[u8]) -> Result<Request, String> {
        let value = serde_json::from_slice(line).map_err(|why| format!("a request is one line of JSON: {why}"))?;
        let Value::Object(mut fields) = value else { return Err("a request is an object of JSON".to_owned()) };
        let ask = text(&mut fields, "ask")?;
        let request = Request::of(&ask, &mut fields)?;
        match fields.keys().next() {
            Some(more) => Err(format!("`{ask}` has no field `{more}`")),
            None => Ok(request),
        }
    }

    fn of(ask: &str, fields: &mut Map<String, Value>) -> Result<Request, String> {
        Ok(match ask {
            "status" => Request::Status,
            "boost" => {
                let range = -BOOST_PERCENT_MAX..=BOOST_PERCENT_MAX;
                Request::Boost { cgroup: text(fields, "cgroup")?, percent: number(fields, "percent", range)? as i32 }
            }
            "clamp" => {
                let cgroup = text(fields, "cgroup")?;
                let [min, max] = ["min", "max"].map(|name| number(fields, name, 0..=CAPACITY));
                Request::Clamp { cgroup, min: min? as u32, max: max? as u32 }
            }
            "set" => Request::Set { name: text(fields, "name")?, value: text(fields, "value")? },
            "explain" => Request::Explain { cpu: number(fields, "cpu", 0..=i64::from(u32::MAX))? as u32 },
            "stop" => Request::Stop,
            other => {
                return Err(format!("there is no request `{other}`: status, boost, clamp, set, explain and stop are"));
            }
        })
    }

    /// Carries the request out.
    pub(super) fn answer(&self, host: &mut dyn Host) -> Result<Value, String> {
        match self {
            Request::Status => Ok(Snapshot::of(host).value()),
            Request::Boost { cgroup, percent } => {
                give(host, cgroup, |group| Ok(Group { boost_percent: *percent, ..group }))
            }
            Request::Clamp { cgroup, min, max } => give(host, cgroup, |group| match min > max {
                true => Err(format!("the lower clamp {min} is above the upper one, {max}")),
                false => Ok(Group { min: *min, max: *max, ..group }),
            }),
            Request::Set { name, value } => {
                host.set(name, value)?;
                Ok(json!({"name": name, "value": value}))
            }
            Request::Explain { cpu } => Ok(of_explanation(*cpu, host.explain(*cpu)?.as_ref())),
            Request::Stop => Ok(json!({"seconds": host.seconds()})),
        }
    }
}

fn text(fields: &mut Map<String, Value>, name: &str) -> Result<String, String> {
    match fields.remove(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(format!("`{name}` is a text")),
        None => Err(format!("`{name}` is missing")),
    }
}

fn number(fields: &mut Map<String, Value>, name: &str, range: std::ops::RangeInclusive<i64>) -> Result<i64, String> {
    let value = fields.remove(name).ok_or_else(|| format!("`{name}` is missing"))?;
    let found = value.as_i64().filter(|number| range.contains(number));
    found.ok_or_else(|| format!("`{name}` is a whole number from {} to {}", range.start(), range.end()))
}

/// Changes the values of a cgroup; those that are not meant stay as they are.
fn give(
    host: &mut dyn Host,
    cgroup: &str,
    change: impl FnOnce(Group) -> Result<Group, String>,
) -> Result<Value, String> {
    let path = whole_path(cgroup)?;
    let is_it = |known: &str| whole_path(known).as_ref() == Ok(&path);
    let given = host.groups().into_iter().find(|(known, _)| is_it(known)).map_or(NONE, |(_, group)| group);
    let group = change(given)?;
    host.set_group(&path, group)?;
    let name = path.strip_prefix(ROOT).filter(|name| !name.is_empty()).unwrap_or("/");
    Ok(of_group(name, group))
}

/// The whole path of a cgroup, which leads nowhere else.
fn whole_path(cgroup: &str) -> Result<String, String> {
    let below = cgroup.strip_prefix(ROOT).filter(|rest| rest.is_empty() || rest.starts_with('/')).unwrap_or(cgroup);
    let names: Vec<&str> = below.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    if names.contains(&"..") || below.contains('\0') {
        return Err(format!("a cgroup is a path below {ROOT}, without `..`"));
    }
    Ok([&[ROOT], &names[..]].concat().join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_as_they_are_written() {
        let cgroup = "/a b/\"c\"".to_owned();
        for request in [
            Request::Status,
            Request::Boost { cgroup: cgroup.clone(), percent: -30 },
            Request::Clamp { cgroup, min: 0, max: 1024 },
            Request::Set { name: "headroom_pct".into(), value: "10".into() },
            Request::Explain { cpu: u32::MAX },
            Request::Stop,
        ] {
            assert_eq!(Request::parse(request.value().to_string().as_bytes()), Ok(request));
        }
    }

    #[test]
    fn a_request_that_is_none_is_refused_with_a_sentence() {
        for (line, sentence) in [
            ("", "one line of JSON"),
            ("{\"ask\": \"status\"", "one line of JSON"),
            ("[1]", "an object"),
            ("{}", "`ask` is missing"),
            ("{\"ask\": 3}", "`ask` is a text"),
            ("{\"ask\": \"stat\"}", "no request `stat`"),
            ("{\"ask\": \"status\", \"cpu\": 1}", "`status` has no field `cpu`"),
            ("{\"ask\": \"boost\", \"percent\": 5}", "`cgroup` is missing"),
            ("{\"ask\": \"boost\", \"cgroup\": \"/\", \"percent\": 101}", "from -100 to 100"),
            ("{\"ask\": \"boost\", \"cgroup\": \"/\", \"percent\": 1.5}", "whole number"),
            (
                "{\"ask\": \"clamp\", \"cgroup\": \"/\", \"min\": -1, \"max\": 3}",
                "`min` is a whole number from 0 to 1024",
            ),
            ("{\"ask\": \"explain\", \"cpu\": 99999999999}", "`cpu` is a whole number"),
        ] {
            let refused = Request::parse(line.as_bytes()).expect_err(line);
            assert!(refused.contains(sentence), "{line}: {refused}");
        }
        assert!(Request::parse(&[b'[', 0xff, b']']).is_err());
        assert!(Request::parse("[".repeat(4000).as_bytes()).is_err(), "lists in lists are no way to fill the stack");
    }

    #[test]
    fn paths_of_cgroups_are_whole_and_lead_nowhere_else() {
        for path in ["app.slice", "/app.slice/", "/sys/fs/cgroup/app.slice", "/sys/fs/cgroup//./app.slice"] {
            assert_eq!(whole_path(path).as_deref(), Ok("/sys/fs/cgroup/app.slice"));
        }
        for path in ["", "/", "/sys/fs/cgroup", "/sys/fs/cgroup/"] {
            assert_eq!(whole_path(path).as_deref(), Ok("/sys/fs/cgroup"));
        }
        assert_eq!(whole_path("/sys/fs/cgroups").as_deref(), Ok("/sys/fs/cgroup/sys/fs/cgroups"));
        assert!(whole_path("/sys/fs/cgroup/../../../etc").is_err() && whole_path("a\0b").is_err());
    }
}
