//! `[flows.NAME.workload]`, kind = "requests".

use std::sync::LazyLock;

use super::flow::{kind_key, read};
use super::sizes::{ALLOWED, read_sizes};
use crate::error::ScenarioError;
use crate::keys::{Key, expect_table, join};
use crate::kinds::{Choice, Count, Maybe, Switch, Time};
use crate::model::Workload;
use crate::sizes::{Keep, Sizes};
use crate::tree::Node;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Requests {
    request: Sizes,
    response: Sizes,
    think_ns: u64,
    requests: Option<u64>,
    keep: bool,
    closes: Keep,
}

impl Default for Requests {
    fn default() -> Self {
        let (request, response, closes) = (Sizes::Fixed(1), Sizes::Fixed(1), Keep::WithRequest);
        Self { request, response, think_ns: 0, requests: None, keep: false, closes }
    }
}

pub(crate) fn requests_keys() -> &'static [Key<Requests>] {
    static KEYS: LazyLock<Vec<Key<Requests>>> = LazyLock::new(|| {
        let count = Count { min: 1, max: 1_000_000_000 };
        let closes = Choice(&[("with-request", Keep::WithRequest), ("after-response", Keep::AfterResponse)]);
        vec![
            kind_key(),
            Key::custom("request", ALLOWED, |r: &mut Requests, node, path| {
                read_sizes(&mut r.request, node, path)
            })
            .means(
                "Size of each request, by the host that opens; or a distribution of sizes. Where either size is drawn, \
                 a request begins with both, and has 8 bytes at least.",
            )
            .required(),
            Key::custom("response", ALLOWED, |r: &mut Requests, node, path| {
                read_sizes(&mut r.response, node, path)
            })
            .means("Size of each response, or a distribution of sizes.")
            .required(),
            Key::new("think", Time::default(), |r: &mut Requests| &mut r.think_ns)
                .means("Pause after each response."),
            Key::new("requests", Maybe(count), |r: &mut Requests| &mut r.requests)
                .means("How many. Without it they follow each other until the run ends."),
            Key::new("keep", Switch, |r: &mut Requests| &mut r.keep)
                .means("All over one connection, instead of a new one for each."),
            Key::new("closes", closes, |r: &mut Requests| &mut r.closes).means(
                "When the client ends its direction of a connection: with its request, or after the server has ended \
                 its own with the response, as in HTTP/1.0. Not beside `keep`: the client ends behind the last response.",
            ),
        ]
    });
    &KEYS
}

pub(super) fn read_requests(node: &Node, path: &str) -> Result<Workload, ScenarioError> {
    let Requests { request, response, think_ns, requests, keep, closes } = read(requests_keys(), node, path)?;
    if let Some(entry) = expect_table(node, path)?.get("closes").filter(|_| keep) {
        let problem =
            "beside `keep` it says nothing: the client ends behind the last response; leave out one of both";
        return Err(entry.node.place.error(&join(path, "closes"), problem.to_string()));
    }
    let keep = if keep { Keep::Whole } else { closes };
    Ok(Workload::Requests { request_bytes: request, response_bytes: response, think_ns, requests, keep })
}
