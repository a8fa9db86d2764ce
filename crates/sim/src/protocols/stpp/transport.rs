//! `[transports.NAME]`, protocol = "stpp".

use std::sync::LazyLock;

use skyhaul_petra::stpp::{Config, MAX_PAYLOAD_BYTES};

use super::keys::config_keys;
use skyhaul_scenario::keys::{Key, join, read_table};
use skyhaul_scenario::tree::Node;
use skyhaul_scenario::{Page, ScenarioError, TransportTable};

/// A transport as the file says it.
#[derive(Clone, Debug)]
pub(super) struct StppDraft {
    end: Config,
    acceptor: Option<Config>,
}

impl Default for StppDraft {
    fn default() -> Self {
        Self { end: Config::standard(), acceptor: None }
    }
}

/// Parameters of the accepting end: without the declared rate, which is that of the way to it.
fn accepting(end: &Config) -> Config {
    Config { rate_bps: None, ..end.clone() }
}

/// Parameters of the end that opens and of the one that accepts.
pub(super) fn read(table: &TransportTable<'_>) -> Result<[Config; 2], ScenarioError> {
    let mut draft = StppDraft::default();
    table.read(transport_keys(), &mut draft)?;
    let acceptor = draft.acceptor.unwrap_or_else(|| accepting(&draft.end));
    let ends = [draft.end, acceptor];
    let tables = [&[][..], &["acceptor"]];
    ends.iter().zip(tables).try_for_each(|(end, within)| check(end, within, table))?;
    Ok(ends)
}

/// Fails if an engine could not keep to these values: it would take others in silence. `within`: the table
/// among the transport's keys that this end has to itself.
fn check(
    end: &Config,
    within: &[&str],
    TransportTable { node, path }: &TransportTable<'_>,
) -> Result<(), ScenarioError> {
    let kept = end.clone().checked();
    let refuse = |key: &str, found: u64, allowed: &str| {
        let place = node.place_of(&[within, &[key]].concat()).unwrap_or(&node.place);
        Err(place.refuse(&join(path, key), &format!("{found} octets"), allowed, "change either"))
    };
    if kept.payload_bytes != end.payload_bytes {
        let allowed =
            format!("(22): 1 to {MAX_PAYLOAD_BYTES} octets, which is what a PDU of STPP has room for");
        return refuse("payload", end.payload_bytes.into(), &allowed);
    }
    if kept.sdu_header_bytes != end.sdu_header_bytes {
        return refuse("sdu_header", end.sdu_header_bytes.into(), "from 4 to 1024 octets");
    }
    if kept.receive_limit_bytes != end.receive_limit_bytes {
        return refuse("receive_limit", end.receive_limit_bytes, "two payloads and more");
    }
    if kept.threshold_bytes != end.threshold_bytes {
        return refuse("threshold", end.threshold_bytes, "at most `receive_limit`");
    }
    Ok(())
}

/// Section of the reference.
pub(super) fn describe(page: &mut Page) {
    page.transport("stpp", transport_keys(), ["default"], &mut [StppDraft::default()]);
}

pub(super) fn transport_keys() -> &'static [Key<StppDraft>] {
    static KEYS: LazyLock<Vec<Key<StppDraft>>> = LazyLock::new(|| {
        let mut keys: Vec<_> =
            config_keys().into_iter().map(|key| key.within(|t: &mut StppDraft| &mut t.end)).collect();
        keys.push(Key::custom("acceptor", "a table", read_acceptor).means(
            "Changes for the end that accepts: every key but `protocol` and `acceptor`. Without it both ends are \
             alike, but for `rate`.",
        ));
        keys
    });
    &KEYS
}

fn read_acceptor(transport: &mut StppDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    static KEYS: LazyLock<Vec<Key<Config>>> = LazyLock::new(config_keys);
    let mut acceptor = accepting(&transport.end);
    read_table(&KEYS, &mut acceptor, node, path)?;
    transport.acceptor = Some(acceptor);
    Ok(())
}
