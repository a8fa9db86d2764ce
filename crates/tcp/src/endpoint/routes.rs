//! Routes of an endpoint: parameters of connections by their peers, and paths that peers share.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::IpAddr;

use skyhaul_core::{DeclaredRate, PathName};

use crate::config::Config;
use crate::connection::Connection;
use crate::route::{Prefix, Route, Routes};
use crate::segment::Way;

/// Route with the name of its path.
#[derive(Clone, Debug)]
struct Entry {
    route: Route,
    /// Number of the path that its peers share.
    path: u64,
    /// Parameters of accepted connections.
    accept: Arc<Config>,
}

/// Routes of an endpoint, those with the longest prefix first.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    entries: Vec<Entry>,
    /// Number of the last path.
    last_path: u64,
}

impl Table {
    /// Has these routes from now on, unless there are none; a prefix that was there keeps its path. `accept`:
    /// parameters of accepted connections.
    pub(super) fn learn(&mut self, routes: &Routes, accept: &Config) {
        if routes.is_empty() || routes.iter().eq(self.entries.iter().map(|entry| &entry.route)) {
            return;
        }
        let entries = routes.iter().map(|&route| {
            let path = self.path_of(route.prefix).unwrap_or_else(|| {
                self.last_path += 1;
                self.last_path
            });
            Entry { route, path, accept: Arc::new(applied(&route, accept)) }
        });
        self.entries = entries.collect();
    }

    fn path_of(&self, prefix: Prefix) -> Option<u64> {
        self.entries.iter().find(|entry| entry.route.prefix == prefix).map(|entry| entry.path)
    }

    fn find(&self, remote: IpAddr) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.route.prefix.contains(remote))
    }

    /// Path to a peer: that of its route, if that has a rate.
    pub(super) fn path_name(&self, way: Way) -> PathName<Way> {
        let shared = self.find(way.remote).filter(|entry| entry.route.rate.is_some());
        shared.map_or(PathName::To(way), |entry| PathName::Shared(entry.path))
    }

    /// Parameters of a connection to a peer.
    pub(super) fn applied(&self, remote: IpAddr, config: Config) -> Config {
        match self.find(remote) {
            Some(entry) => applied(&entry.route, &config),
            None => config,
        }
    }

    /// Parameters of a connection that a peer opens; `None`: those of any other.
    pub(super) fn accept(&self, remote: IpAddr) -> Option<&Arc<Config>> {
        self.find(remote).map(|entry| &entry.accept)
    }

    /// Tells a new connection to a peer.
    pub(super) fn brief(&self, remote: IpAddr, connection: &mut Connection) {
        if let Some(entry) = self.find(remote) {
            connection.obey(entry.route.obeys);
        }
    }

    /// Rate that a connection to a peer declares, over packets of `mtu_bytes` at most.
    pub(super) fn declared(&self, remote: IpAddr, mtu_bytes: u32, config: &Config) -> Option<DeclaredRate> {
        let rate = self.find(remote).and_then(|entry| entry.route.rate);
        rate.map(|rate| rate.declared(mtu_bytes)).or_else(|| config.declared_rate())
    }
}

/// Parameters of a connection over a route.
fn applied(route: &Route, config: &Config) -> Config {
    let mut config = config.clone();
    config.rate_bps = route.rate.map(|rate| rate.rate_bps).or(config.rate_bps);
    config.ecn &= route.obeys.ecn;
    if let Some(scps) = &mut config.scps {
        scps.source_quench &= route.obeys.source_quench;
        scps.loss_cause = route.loss_cause.unwrap_or(scps.loss_cause);
        scps.bandwidth_delay_bytes = route.bandwidth_delay_bytes.or(scps.bandwidth_delay_bytes);
    }
    config
}

#[cfg(test)]
mod tests {
    use skyhaul_core::Verdict;

    use super::*;
    use crate::route::{RouteRate, Signals};

    #[test]
    fn a_route_changes_what_it_knows_of_and_signals_it_does_not_obey() {
        let mut scps = Config { rate_bps: Some(5), ..Config::scps_tp() };
        scps.scps.as_mut().unwrap().source_quench = true;
        let route = Route::to("0.0.0.0/0".parse().unwrap());
        assert_eq!(std::format!("{:#?}", applied(&route, &scps)), std::format!("{scps:#?}"));
        let known = Route {
            rate: Some(RouteRate { rate_bps: 9, depth_bytes: None, burst_bytes: None }),
            loss_cause: Some(Verdict::Corruption),
            bandwidth_delay_bytes: Some(70_000),
            obeys: Signals { ecn: false, source_quench: false, ..Signals::ALL },
            ..route
        };
        let changed = applied(&known, &scps);
        let of = changed.scps.unwrap();
        assert_eq!((changed.rate_bps, changed.ecn, of.source_quench), (Some(9), false, false));
        assert_eq!((of.loss_cause, of.bandwidth_delay_bytes), (Verdict::Corruption, Some(70_000)));
        let plain = applied(&known, &Config::standard());
        assert!(plain.scps.is_none() && plain.rate_bps == Some(9));
    }
}
