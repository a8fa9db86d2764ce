//! `--route` of `send` and `receive`: what is known of the ways to peers behind a prefix.

use std::net::IpAddr;

use skyhaul_core::Verdict;
use skyhaul_core::units::{parse_bytes, parse_rate_bps};
use skyhaul_tcp::{Prefix, Route, RouteRate, Routes};

/// Words where a route is not understood.
const LIKE: &str = "write it like 10.88.0.0/16,rate=9.5M,loss-cause=corruption";
/// Keys, for whoever asks for another one.
const KEYS: &str = "rate, depth, burst, loss-cause, bandwidth-delay, obey-ecn, obey-corruption, obey-outage and \
                    obey-source-quench";
/// Largest sizes, which are those of scenario files.
const MAX_BYTES: u64 = 1 << 30;

/// Reads `PREFIX,KEY=VALUE,...`. Keys are those of `[[transports.NAME.routes]]`, with `-` or `_`.
pub(crate) fn route(text: &str) -> Result<Route, String> {
    let mut parts = text.split(',').map(str::trim);
    let first = parts.next().unwrap_or_default();
    let prefix: Prefix =
        first.parse().map_err(|error| format!("'{first}' is no prefix of addresses: {error}"))?;
    let mut draft = Draft::new(prefix);
    let mut seen: Vec<String> = Vec::new();
    for part in parts {
        let (key, value) = part.split_once('=').ok_or_else(|| format!("'{part}' has no value; {LIKE}"))?;
        let key = key.trim().replace('_', "-");
        if seen.contains(&key) {
            return Err(format!("'{key}' is there twice; leave one out"));
        }
        draft.set(&key, value.trim()).map_err(|why| format!("{key}: {why}"))?;
        seen.push(key);
    }
    if seen.is_empty() {
        return Err(format!("'{text}' says nothing of the way there; {LIKE}"));
    }
    draft.finish()
}

/// Rate of the route to a peer, if that has one, in bit/s.
pub(crate) fn rate_to(routes: &Routes, peer: IpAddr) -> Option<u64> {
    let route = routes.iter().find(|route| route.prefix.contains(peer))?;
    route.rate.map(|rate| rate.rate_bps)
}

/// Route as far as it was read.
struct Draft {
    route: Route,
    rate_bps: Option<u64>,
    depth_bytes: Option<u64>,
    burst_bytes: Option<u64>,
}

impl Draft {
    fn new(prefix: Prefix) -> Self {
        Self { route: Route::to(prefix), rate_bps: None, depth_bytes: None, burst_bytes: None }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let obeys = &mut self.route.obeys;
        match key {
            "rate" => self.rate_bps = Some(parse_rate_bps(value)?),
            "depth" => self.depth_bytes = Some(bytes(value)?),
            "burst" => self.burst_bytes = Some(bytes(value)?),
            "bandwidth-delay" => self.route.bandwidth_delay_bytes = Some(bytes(value)?),
            "loss-cause" => self.route.loss_cause = Some(cause(value)?),
            "obey-ecn" => obeys.ecn = switch(value)?,
            "obey-corruption" => obeys.corruption = switch(value)?,
            "obey-outage" => obeys.outage = switch(value)?,
            "obey-source-quench" => obeys.source_quench = switch(value)?,
            _ => return Err(format!("routes have no such key; they have {KEYS}")),
        }
        Ok(())
    }

    fn finish(self) -> Result<Route, String> {
        let Self { route, rate_bps, depth_bytes, burst_bytes } = self;
        let of_rate = [("depth", depth_bytes), ("burst", burst_bytes)];
        match (rate_bps, of_rate.iter().find(|(_, bytes)| bytes.is_some())) {
            (None, Some((name, _))) => {
                Err(format!("{name}: without a rate it says nothing; add rate=..., or leave {name} out"))
            }
            (rate_bps, _) => {
                let rate = rate_bps.map(|rate_bps| RouteRate { rate_bps, depth_bytes, burst_bytes });
                Ok(Route { rate, ..route })
            }
        }
    }
}

fn bytes(text: &str) -> Result<u64, String> {
    parse_bytes(text).and_then(|bytes| match bytes {
        0..=MAX_BYTES => Ok(bytes),
        _ => Err(format!("'{text}' is too much: at most 1GiB")),
    })
}

fn cause(text: &str) -> Result<Verdict, String> {
    match text {
        "congestion" => Ok(Verdict::Congestion),
        "corruption" => Ok(Verdict::Corruption),
        _ => Err(format!("'{text}' is neither congestion nor corruption")),
    }
}

fn switch(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| format!("'{text}' is neither true nor false"))
}

#[cfg(test)]
mod tests {
    use skyhaul_tcp::Signals;

    use super::*;

    #[test]
    fn routes_are_read_with_all_their_keys() {
        let all = "10.88.0.0/16, rate=9.5M,depth=20kB,burst=6000B,loss-cause=corruption,bandwidth_delay=650kB,\
                   obey-ecn=false,obey-corruption=true,obey_outage=false,obey-source-quench=true";
        let rate = RouteRate { rate_bps: 9_500_000, depth_bytes: Some(20_000), burst_bytes: Some(6000) };
        let expected = Route {
            rate: Some(rate),
            loss_cause: Some(Verdict::Corruption),
            bandwidth_delay_bytes: Some(650_000),
            obeys: Signals { ecn: false, outage: false, ..Signals::ALL },
            ..Route::to("10.88.0.0/16".parse().unwrap())
        };
        assert_eq!(route(all), Ok(expected));
        let one = route("fd00:88::7,loss-cause=congestion").unwrap();
        let expected =
            Route { loss_cause: Some(Verdict::Congestion), ..Route::to("fd00:88::7/128".parse().unwrap()) };
        assert_eq!(one, expected);
    }

    #[test]
    fn what_is_no_route_is_refused_with_what_to_write() {
        let cases = [
            ("", "'' is no prefix of addresses: write ADDRESS/BITS"),
            ("ground,rate=1M", "'ground' is no prefix of addresses: write ADDRESS/BITS"),
            ("10.88.0.1/16,rate=1M", "10.88.0.1 has bits behind the first 16; write 10.88.0.0/16"),
            ("10.0.0.0/8", "says nothing of the way there; write it like"),
            ("10.0.0.0/8,rate", "'rate' has no value; write it like"),
            ("10.0.0.0/8,rate=1M,", "'' has no value; write it like"),
            ("10.0.0.0/8,speed=1M", "speed: routes have no such key; they have rate, depth"),
            ("10.0.0.0/8,rate=1", "rate: '1' has no unit; write 1bit/s, 1k or 1M"),
            ("10.0.0.0/8,rate=0", "rate: '0' is no rate: it must be at least 1 bit/s"),
            ("10.0.0.0/8,rate=1M,rate=2M", "'rate' is there twice"),
            ("10.0.0.0/8,rate=1M,depth=2GiB", "depth: '2GiB' is too much: at most 1GiB"),
            (
                "10.0.0.0/8,burst=2kB",
                "burst: without a rate it says nothing; add rate=..., or leave burst out",
            ),
            ("10.0.0.0/8,loss-cause=weather", "'weather' is neither congestion nor corruption"),
            ("10.0.0.0/8,obey-outage=no", "obey-outage: 'no' is neither true nor false"),
        ];
        for (text, expected) in cases {
            let said = route(text).unwrap_err();
            assert!(said.contains(expected), "{text}: {said}");
        }
    }
}
