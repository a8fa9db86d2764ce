//! The page `docs/guide/scenario-reference.md`, made from the same lists of keys that read the files.

use skyhaul_link::{ChannelConfig, ChannelState, PolicerConfig, SignalConfig, StateConfig};

use super::page::Page;
use super::protocol::{Protocol, Register};
use super::tables::{
    ArqDraft, NodeDraft, arq_keys, bulk_keys, burst_keys, channel_keys, direction_keys, document_keys,
    every_keys, explicit_keys, flow_keys, link_keys, metrics_keys, node_keys, on_off_keys, outage_keys,
    policer_keys, red_keys, reordering_keys, requests_keys, route_keys, run_keys, signal_keys, sizes_keys,
    state_keys, utl_keys, via_keys, web_keys,
};

const HEAD: &str = include_str!("reference/head.md");
const SWEEP: &str = include_str!("reference/sweep.md");

/// Reference page: every table and key of a scenario file. Made from the code, which reads files by the same
/// lists.
pub fn reference(register: &Register) -> String {
    let first = register.first().map_or("", Protocol::name).to_string();
    let mut page = Page::new(HEAD, [register.allowed(), first]);
    top(&mut page);
    links(&mut page);
    register.iter().for_each(|protocol| protocol.describe(&mut page));
    flows(&mut page);
    page.text(SWEEP);
    page.plain("[metrics]", metrics_keys());
    page.finish()
}

fn top(page: &mut Page) {
    page.plain("At the top", document_keys());
    page.plain("[run]", run_keys());
    page.section("[nodes.NAME]", node_keys(), &mut NodeDraft::default());
    page.section("[nodes.NAME.signals]", signal_keys(), &mut SignalConfig::default());
}

fn links(page: &mut Page) {
    let state = StateConfig { mean_stay_ns: 0, loss: 0.0, min_delay_ns: 0, max_delay_ns: 0 };
    let mut channel = ChannelConfig { good: state, bad: state, start: ChannelState::Good };
    let mut policer = PolicerConfig { rate_bps: 0, depth_bytes: 0 };
    let direction = "[links.NAME.forward] and [links.NAME.reverse]";
    page.plain("[links.NAME]", link_keys());
    page.plain(direction, direction_keys());
    page.section("[links.NAME.forward.policer]", policer_keys(), &mut policer);
    page.plain("[links.NAME.forward.red]", red_keys());
    page.plain("[links.NAME.forward.explicit]", explicit_keys());
    page.plain("[links.NAME.forward.burst_loss]", burst_keys());
    page.plain("[links.NAME.forward.reordering]", reordering_keys());
    page.section("[links.NAME.arq]", arq_keys(), &mut ArqDraft::default());
    page.section("[links.NAME.channel]", channel_keys(), &mut channel);
    page.section("[links.NAME.channel.good] and [links.NAME.channel.bad]", state_keys(), &mut channel.good);
    page.plain("[[links.NAME.outages]]", outage_keys());
    page.plain("[links.NAME.outages_every]", every_keys());
    page.plain("[[routes]]", route_keys());
}

fn flows(page: &mut Page) {
    page.plain("[flows.NAME]", flow_keys());
    page.plain("[[flows.NAME.via]]", via_keys());
    page.plain("[flows.NAME.utl]", utl_keys());
    page.plain("[flows.NAME.workload], kind = \"bulk\"", bulk_keys());
    page.plain("[flows.NAME.workload], kind = \"requests\"", requests_keys());
    page.plain("A distribution of sizes: request and response there", sizes_keys());
    page.plain("[flows.NAME.workload], kind = \"on_off\"", on_off_keys());
    page.plain("[flows.NAME.workload], kind = \"web\"", web_keys());
}
