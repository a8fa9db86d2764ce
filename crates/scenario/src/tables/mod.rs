//! The tables of a scenario file: which keys each has, and what becomes of them.

mod document;
mod flow;
mod link;
mod link_parts;
mod requests;
mod run;
mod sizes;
mod transport;
mod utl;
mod via;

pub(super) use document::{Document, Item, NodeDraft, document_keys, node_keys, route_keys, signal_keys};
pub(super) use flow::{FlowDraft, bulk_keys, flow_keys, on_off_keys, web_keys};
pub(super) use link::{LinkDraft, every_keys, link_keys, outage_keys};
pub(super) use link_parts::{
    ArqDraft, arq_keys, burst_keys, channel_keys, direction_keys, explicit_keys, policer_keys, red_keys,
    reordering_keys, state_keys,
};
pub(super) use requests::requests_keys;
pub(super) use run::{MetricsDraft, RunDraft, metrics_keys, run_keys};
pub(super) use sizes::sizes_keys;
pub(super) use utl::utl_keys;
pub(super) use via::via_keys;
