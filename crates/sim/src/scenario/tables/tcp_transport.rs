//! `[transports.NAME]`, protocol = "tcp".

use std::sync::LazyLock;

use skyhaul_tcp::Config;

use super::tcp::tcp_config_keys;
use super::transport::protocol_key;
use crate::scenario::error::ScenarioError;
use crate::scenario::keys::{Key, join, read_table};
use crate::scenario::kinds::{Choice, Kind};
use crate::scenario::model::Transport;
use crate::scenario::tree::Node;

/// Names of the profiles.
pub(in crate::scenario) const TCP_PROFILES: [&str; 3] = ["standard", "paper", "sunos-4.1.3"];

/// A transport as the file says it.
#[derive(Clone, Debug)]
pub(in crate::scenario) struct TcpDraft {
    end: Config,
    acceptor: Option<Config>,
}

impl TcpDraft {
    /// One with nothing said beyond its profile; `None`: there is none of this name.
    pub(in crate::scenario) fn of_profile(name: &str) -> Option<Self> {
        Config::profile(name).map(|end| Self { end, acceptor: None })
    }

    /// Keys that contradict each other.
    pub(super) fn check(&self, node: &Node, path: &str) -> Result<(), ScenarioError> {
        let is_torn = |end: &Config| end.min_rto_ns > end.max_rto_ns;
        if is_torn(&self.end) || self.acceptor.as_ref().is_some_and(is_torn) {
            let path = join(path, "min_rto");
            return Err(node.place.refuse(
                &path,
                "more than `max_rto`",
                "at most `max_rto`",
                "change either",
            ));
        }
        Ok(())
    }

    pub(super) fn finish(self, name: &str) -> Transport {
        let acceptor = self.acceptor.unwrap_or_else(|| accepting(&self.end));
        Transport { name: name.to_string(), opener: self.end.into(), acceptor: acceptor.into() }
    }
}

/// The same at the accepting end: the rate that was declared is that of the way to it.
fn accepting(end: &Config) -> Config {
    Config { rate_bps: None, ..end.clone() }
}

impl Default for TcpDraft {
    fn default() -> Self {
        Self { end: Config::standard(), acceptor: None }
    }
}

pub(in crate::scenario) fn tcp_transport_keys() -> &'static [Key<TcpDraft>] {
    static KEYS: LazyLock<Vec<Key<TcpDraft>>> = LazyLock::new(|| {
        let mut keys = vec![
            protocol_key(),
            Key::custom("profile", &PROFILES.allowed(), read_profile).means(
                "Start values: what a user today should have, the regular TCP of the papers, or that of the \
                 SCPS-TP paper.",
            ),
        ];
        keys.extend(tcp_config_keys().into_iter().map(|key| key.within(|t: &mut TcpDraft| &mut t.end)));
        keys.push(Key::custom("acceptor", "a table", read_acceptor).means(
            "Changes for the end that accepts: every key but `protocol`, `profile` and `acceptor`. Without it \
             both ends are alike. All flows of TCP that end at one node need the same.",
        ));
        keys
    });
    &KEYS
}

const PROFILES: Choice<&str> =
    Choice(&[("standard", "standard"), ("paper", "paper"), ("sunos-4.1.3", "sunos-4.1.3")]);

fn read_profile(transport: &mut TcpDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let name = PROFILES
        .read(node)
        .map_err(|hint| node.place.refuse(path, &node.shown(), &PROFILES.allowed(), &hint))?;
    *transport = TcpDraft::of_profile(name).unwrap_or_default(); // every name of the list is known
    Ok(())
}

fn read_acceptor(transport: &mut TcpDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    static KEYS: LazyLock<Vec<Key<Config>>> = LazyLock::new(tcp_config_keys);
    let mut acceptor = accepting(&transport.end);
    read_table(&KEYS, &mut acceptor, node, path)?;
    transport.acceptor = Some(acceptor);
    Ok(())
}
