// SPDX-License-Identifier: GPL-2.0-or-later
//! Requests to a scheduler that runs in another process.

use crate::results::live::{LiveExplained, LiveGroup, LiveNumber, LiveStatus, LiveStopped};
use crate::run::{Fault, LabError};
use pelton_live::control::{Request, reply};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;

/// Answer to a request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// The state.
    Status(LiveStatus),
    /// Boost and clamps that a cgroup has by now.
    Group(LiveGroup),
    /// A number that was set.
    Number(LiveNumber),
    /// The last decision of a CPU.
    Explained(LiveExplained),
    /// A scheduler that ends.
    Stopped(LiveStopped),
}

/// Asks the scheduler behind a socket.
///
/// # Errors
/// When nothing answers there, or the request is refused.
pub fn ask(socket: &Path, request: &Request) -> Result<Answer, LabError> {
    let hint = "`pelton live` starts one; --socket names the socket of another";
    let answer = reply(socket, request).map_err(|silence| LabError::refused(Fault::Machine, silence, hint))?;
    let answer = answer.map_err(LabError::input)?;
    match request {
        Request::Status => read(answer).map(Answer::Status),
        Request::Boost { .. } | Request::Clamp { .. } => read(answer).map(Answer::Group),
        Request::Set { .. } => read(answer).map(Answer::Number),
        Request::Explain { .. } => read(answer).map(Answer::Explained),
        Request::Stop => read(answer).map(Answer::Stopped),
    }
}

/// A value of a scheduler, which may be one of another version.
pub(super) fn read<T: DeserializeOwned>(answer: Value) -> Result<T, LabError> {
    serde_json::from_value(answer).map_err(|why| {
        let reason = format!("the answer is not one of this version: {why}");
        LabError::refused(Fault::Machine, reason, "ask with the program that runs as `pelton live`")
    })
}
