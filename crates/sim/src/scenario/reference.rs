//! The page `docs/guide/scenario-reference.md`, made from the same lists of keys that read the files.

use std::fmt::Write;

use skyhaul_link::{ChannelConfig, ChannelState, StateConfig};
use skyhaul_stp::ProbingConfig;
use skyhaul_tcp::Config;

use super::keys::Key;
use super::model::NodeKind;
use super::tables::{
    AckDraft, KEEPALIVE, ProbingDraft, Profile, SAVED, StpDraft, TCP_PROFILES, TcpDraft, ack_policy_keys,
    bulk_keys, burst_keys, channel_keys, direction_keys, document_keys, every_keys, flow_keys,
    keepalive_keys, link_keys, metrics_keys, node_keys, on_off_keys, outage_keys, probing_table_keys,
    red_keys, remembered_keys, reordering_keys, requests_keys, route_keys, run_keys, state_keys,
    stp_transport_keys, tcp_transport_keys, web_keys,
};

const HEAD: &str = include_str!("reference/head.md");
const SWEEP: &str = include_str!("reference/sweep.md");

/// The page: every table and key of a scenario file. Made from the code, which reads files by the same lists.
pub fn reference() -> String {
    let mut page = HEAD.to_string();
    top(&mut page);
    links(&mut page);
    transports(&mut page);
    flows(&mut page);
    page.push_str(SWEEP);
    plain(&mut page, "[metrics]", metrics_keys());
    page
}

fn top(page: &mut String) {
    plain(page, "At the top", document_keys());
    plain(page, "[run]", run_keys());
    section(page, "[nodes.NAME]", node_keys(), &mut NodeKind::Host);
}

fn links(page: &mut String) {
    let state = StateConfig { mean_stay_ns: 0, loss: 0.0, min_delay_ns: 0, max_delay_ns: 0 };
    let mut channel = ChannelConfig { good: state, bad: state, start: ChannelState::Good };
    let direction = "[links.NAME.forward] and [links.NAME.reverse]";
    plain(page, "[links.NAME]", link_keys());
    plain(page, direction, direction_keys());
    plain(page, "[links.NAME.forward.red]", red_keys());
    plain(page, "[links.NAME.forward.burst_loss]", burst_keys());
    plain(page, "[links.NAME.forward.reordering]", reordering_keys());
    section(page, "[links.NAME.channel]", channel_keys(), &mut channel);
    section(page, "[links.NAME.channel.good] and [links.NAME.channel.bad]", state_keys(), &mut channel.good);
    plain(page, "[[links.NAME.outages]]", outage_keys());
    plain(page, "[links.NAME.outages_every]", every_keys());
    plain(page, "[[routes]]", route_keys());
}

fn transports(page: &mut String) {
    let names = ["default", "paper"];
    let mut profiles = [Profile::Default, Profile::Paper].map(StpDraft::new);
    profiled(page, "[transports.NAME], protocol = \"stp\"", stp_transport_keys(), names, &mut profiles);
    let mut profiles = [ProbingConfig::standard(), ProbingConfig::paper()].map(ProbingDraft::new);
    profiled(page, "[transports.NAME.probing]", probing_table_keys(), names, &mut profiles);
    section(page, "[transports.NAME.remembered]", remembered_keys(), &mut { SAVED });
    tcp(page);
}

fn tcp(page: &mut String) {
    let mut profiles = TCP_PROFILES.map(|name| TcpDraft::of_profile(name).unwrap_or_default());
    let title = "[transports.NAME], protocol = \"tcp\"";
    profiled(page, title, tcp_transport_keys(), TCP_PROFILES, &mut profiles);
    let mut policies = TCP_PROFILES
        .map(|name| Config::profile(name).unwrap_or_else(Config::standard).ack_policy)
        .map(AckDraft::from);
    profiled(page, "[transports.NAME.ack_policy]", ack_policy_keys(), TCP_PROFILES, &mut policies);
    section(page, "[transports.NAME.keepalive]", keepalive_keys(), &mut { KEEPALIVE });
}

fn flows(page: &mut String) {
    plain(page, "[flows.NAME]", flow_keys());
    plain(page, "[flows.NAME.workload], kind = \"bulk\"", bulk_keys());
    plain(page, "[flows.NAME.workload], kind = \"requests\"", requests_keys());
    plain(page, "[flows.NAME.workload], kind = \"on_off\"", on_off_keys());
    plain(page, "[flows.NAME.workload], kind = \"web\"", web_keys());
}

/// A table of keys with their defaults.
fn plain<T: Default + 'static>(page: &mut String, title: &str, keys: &[Key<T>]) {
    section(page, title, keys, &mut T::default());
}

/// A table of keys with the values that `default` has.
fn section<T: 'static>(page: &mut String, title: &str, keys: &[Key<T>], default: &mut T) {
    head(page, title, "default");
    for key in keys {
        let shown = code(&key.shown(default));
        row(page, key, &shown);
    }
}

/// The same with the values of all profiles; what is as in the first of them is not said again.
fn profiled<T: 'static, const N: usize>(
    page: &mut String,
    title: &str,
    keys: &[Key<T>],
    names: [&str; N],
    profiles: &mut [T; N],
) {
    head(page, title, &names.map(|name| format!("profile `{name}`")).join(" | "));
    for key in keys {
        let shown = profiles.each_mut().map(|profile| code(&key.shown(profile)));
        let again = |value: &String| if *value == shown[0] { "=".to_string() } else { value.clone() };
        let others = shown.iter().skip(1).map(again);
        let all: Vec<String> = shown.iter().take(1).cloned().chain(others).collect();
        row(page, key, &all.join(" | "));
    }
}

fn head(page: &mut String, title: &str, defaults: &str) {
    let columns = defaults.matches('|').count() + 4;
    // Writing to a string cannot fail.
    let _ =
        write!(page, "\n## {title}\n\n| key | value | {defaults} | meaning |\n|{}\n", "---|".repeat(columns));
}

fn row<T>(page: &mut String, key: &Key<T>, defaults: &str) {
    let _ = writeln!(page, "| `{}` | {} | {defaults} | {} |", key.name, key.allowed, key.meaning);
}

/// Words of our own are no code.
fn code(value: &str) -> String {
    if ["-", "required"].contains(&value) { value.to_string() } else { format!("`{value}`") }
}
