//! A line of a result file: one run.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::save::json_line;
use super::side_files::{self, SideFile};
use super::{Header, RunId, Sweep};
use crate::fabric::RunError;
use crate::network::Ended;
use crate::simulate::Measured;
use skyhaul_scenario::Scenario;

/// A run that is over.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Which.
    pub id: RunId,
    /// Its line, with the end of the line.
    pub line: String,
    /// Why it is not to be counted, if so.
    pub problem: Option<String>,
    /// Other files that it leaves.
    pub files: Vec<SideFile>,
}

#[derive(Serialize)]
struct Line<'a> {
    point: usize,
    replication: u32,
    seed: u64,
    #[serde(serialize_with = "as_map")]
    set: Vec<(&'a str, &'a Value)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    /// Of a run that counts: a flow did not work.
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<&'a str>,
    #[serde(serialize_with = "as_map", skip_serializing_if = "Vec::is_empty")]
    metrics: Vec<(&'a str, f64)>,
}

/// Pairs in their order.
fn as_map<S: Serializer, V: Serialize>(pairs: &[(&str, V)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

/// Key of a line among others.
#[derive(Deserialize)]
struct Key {
    point: usize,
    replication: u32,
}

/// Which run a line is about; none if it is no line of a run.
pub(super) fn id_of(line: &str) -> Option<RunId> {
    let Key { point, replication } = serde_json::from_str(line).ok()?;
    Some(RunId { point, replication })
}

impl Finished {
    /// A run of a sweep with this header that was done by somebody else: how it ended, why it is not to be
    /// counted, if so, and what was measured.
    pub fn told(
        header: &Header,
        id: RunId,
        ended: Option<Ended>,
        problem: Option<String>,
        metrics: Vec<(&str, f64)>,
    ) -> Self {
        let line = line(header, id, ended, (problem.as_deref(), None), metrics);
        Self { id, line, problem, files: Vec::new() }
    }

    /// Line of run `id` of `sweep`.
    pub(super) fn new(sweep: &Sweep, id: RunId, result: &Result<(Scenario, Measured), RunError>) -> Self {
        let measured = result.as_ref().ok().map(|(_, measured)| measured);
        let problem = match result {
            Ok((scenario, measured)) => problem(scenario, measured),
            Err(error) => Some(error.to_string()),
        };
        let wanted = &sweep.file().settings().wanted;
        let metrics = measured.into_iter().flat_map(|measured| &measured.metrics);
        let metrics = metrics.filter(|(name, _)| wanted.matches(name)).map(|(n, v)| (n.as_str(), *v));
        let ended = measured.map(|measured| measured.ended);
        let trouble = measured.and_then(|measured| measured.trouble.as_deref());
        let words = (problem.as_deref(), trouble.filter(|_| problem.is_none()));
        let line = line(sweep.header(), id, ended, words, metrics.collect());
        let files = result.as_ref().map(|(scenario, measured)| side_files::of_run(id, scenario, measured));
        Self { id, line, problem, files: files.unwrap_or_default() }
    }
}

fn line(
    header: &Header,
    id: RunId,
    ended: Option<Ended>,
    (error, trouble): (Option<&str>, Option<&str>),
    metrics: Vec<(&str, f64)>,
) -> String {
    let (ended, set) = (ended.map(in_a_word), header.set_at(id.point).collect());
    json_line(&Line {
        point: id.point,
        replication: id.replication,
        seed: header.seed_of(id),
        set,
        ended,
        error,
        trouble,
        metrics,
    })
}

fn in_a_word(ended: Ended) -> &'static str {
    match ended {
        Ended::Done => "done",
        Ended::Stuck => "stuck",
        Ended::OutOfTime => "out-of-time",
        Ended::OutOfEvents => "out-of-events",
        Ended::OutOfMemory => "out-of-memory",
    }
}

/// Why a run that ended like this is not what the scenario asked for.
fn problem(scenario: &Scenario, measured: &Measured) -> Option<String> {
    match measured.ended {
        Ended::Done | Ended::OutOfTime => None,
        Ended::OutOfEvents => Some(format!(
            "not over after {} events; with a larger --max-events (or run.max_events) it is another sweep, which needs another --out",
            scenario.stop.max_events
        )),
        Ended::OutOfMemory => Some(format!(
            "send buffers hold more than {} bytes; fewer flows, a smaller send_limit, or a larger run.max_memory",
            scenario.stop.max_memory_bytes
        )),
        Ended::Stuck => {
            let why =
                measured.trouble.as_deref().unwrap_or("nothing is left to happen, but a flow is not done");
            Some(format!("stuck: {why}"))
        }
    }
}
