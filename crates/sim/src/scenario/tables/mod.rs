//! The tables of a scenario file: which keys each has, and what becomes of them.

mod ack_policy;
mod document;
mod flow;
mod keepalive;
mod link;
mod link_parts;
mod remembered;
mod run;
mod stp;
mod stp_transport;
mod tcp;
mod tcp_transport;
mod transport;

pub(super) use ack_policy::{AckDraft, ack_policy_keys};
pub(super) use document::{Document, Item, document_keys, node_keys, place_of, route_keys};
pub(super) use flow::{FlowDraft, bulk_keys, flow_keys, on_off_keys, requests_keys, web_keys};
pub(super) use keepalive::{KEEPALIVE, keepalive_keys};
pub(super) use link::{LinkDraft, every_keys, link_keys, outage_keys};
pub(super) use link_parts::{
    burst_keys, channel_keys, direction_keys, red_keys, reordering_keys, state_keys,
};
pub(super) use remembered::{SAVED, remembered_keys};
pub(super) use run::{MetricsDraft, RunDraft, metrics_keys, run_keys};
#[cfg(test)]
pub(super) use stp::{config_keys, probing_keys};
pub(super) use stp_transport::{ProbingDraft, Profile, StpDraft, probing_table_keys, stp_transport_keys};
#[cfg(test)]
pub(super) use tcp::tcp_config_keys;
pub(super) use tcp_transport::{TCP_PROFILES, TcpDraft, tcp_transport_keys};
pub(super) use transport::TransportDraft;
