//! Requests to a running emulation.

use serde::{Deserialize, Serialize};
use skyhaul_core::units::{parse_bytes, parse_rate_bps, parse_time_ns};
use skyhaul_core::{Instant, NullSink};
use skyhaul_link::{Link, MAX_MTU_BYTES, MIN_MTU_BYTES};
use skyhaul_sim::Middle;

use crate::Emulation;

/// Request to a running emulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlRequest {
    /// Counters so far.
    Status,
    /// All of these changes at one moment, or none if one of them makes no sense.
    Change(Vec<Change>),
}

/// Answer of an emulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlAnswer {
    /// Counters, in the words of `skyhaul emulate --json`.
    Status(serde_json::Value),
    /// It is done.
    Done,
    /// It makes no sense, or cannot be done; nothing was changed.
    Refused(String),
}

/// A change of one link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Name of the link.
    pub link: String,
    /// Port at which the direction starts; `None`: both.
    pub port: Option<u32>,
    /// Changed quantity.
    pub quantity: LinkQuantity,
}

/// Changed quantity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkQuantity {
    /// The rate in bit/s; `None`: unlimited.
    RateBps(Option<u64>),
    /// The propagation delay.
    DelayNs(u64),
    /// The probability of a random loss.
    Loss(f64),
    /// The largest packet; `None`: there is none.
    MtuBytes(Option<u32>),
    /// Down, for so long or until told otherwise.
    DownNs(Option<u64>),
    /// Up again, if it was down by an earlier request.
    Up,
}

impl Change {
    /// Reads `LINK.rate=2Mbit/s`, `LINK.forward.delay=300ms`, `LINK.reverse.loss=0.01`: without a direction
    /// both.
    pub fn parse(text: &str) -> Result<Self, String> {
        let like = "write it like geo.rate=2Mbit/s, geo.forward.delay=300ms or geo.reverse.loss=0.01";
        let (key, value) = text.split_once('=').ok_or_else(|| format!("'{text}' has no value; {like}"))?;
        let (front, what) = key.rsplit_once('.').ok_or_else(|| format!("'{key}' names no link; {like}"))?;
        let (link, port) = match front.rsplit_once('.') {
            Some((link, "forward")) => (link, Some(0)),
            Some((link, "reverse")) => (link, Some(1)),
            Some((_, other)) => return Err(format!("'{other}' is neither forward nor reverse; {like}")),
            None => (front, None),
        };
        if matches!(what, "rate" | "delay") && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        {
            return Err(format!("'{value}' has no unit; {like}"));
        }
        let quantity = match what {
            "rate" if value == "unlimited" => LinkQuantity::RateBps(None),
            "rate" => LinkQuantity::RateBps(Some(parse_rate_bps(value)?)),
            "delay" => LinkQuantity::DelayNs(parse_time_ns(value)?),
            "loss" => LinkQuantity::Loss(
                loss(value)
                    .ok_or_else(|| format!("'{value}' is no probability; it lies between 0 and 1; {like}"))?,
            ),
            "mtu" if value == "none" => LinkQuantity::MtuBytes(None),
            "mtu" => LinkQuantity::MtuBytes(Some(mtu_bytes(value)?)),
            other => {
                return Err(format!("'{other}' cannot be changed: rate, delay, loss and mtu can; {like}"));
            }
        };
        Ok(Self { link: link.to_string(), port, quantity })
    }

    /// Check as the link itself would make it, so that of several changes none is made if one makes no sense.
    fn check(&self, links: &[String]) -> Result<(), String> {
        if !links.contains(&self.link) {
            return Err(format!("there is no link '{}'; there are: {}", self.link, links.join(", ")));
        }
        if let Some(port @ 2..) = self.port {
            return Err(format!("{}: there is no port {port}; there are 0 and 1", self.link));
        }
        match self.quantity {
            LinkQuantity::RateBps(Some(0)) => {
                Err(format!("{}: a rate of 0 is none; take the link down instead", self.link))
            }
            LinkQuantity::Loss(loss) if !(0.0..=1.0).contains(&loss) => {
                Err(format!("{}: a loss of {loss} is no probability; it lies between 0 and 1", self.link))
            }
            LinkQuantity::MtuBytes(Some(bytes)) if !is_mtu(bytes) => {
                Err(format!("{}: a largest packet has {MIN_MTU_BYTES} to {MAX_MTU_BYTES} bytes", self.link))
            }
            LinkQuantity::DownNs(Some(0)) => Err(format!("{}: down for no time is not down", self.link)),
            _ => Ok(()),
        }
    }
}

/// Reads 1300 or 1300B: the size of a packet is a plain number wherever else it is written.
fn mtu_bytes(text: &str) -> Result<u32, String> {
    let plain = || text.parse::<u64>().ok();
    let bytes = plain().or_else(|| parse_bytes(text).ok()).and_then(|bytes| u32::try_from(bytes).ok());
    bytes.filter(|&bytes| is_mtu(bytes)).ok_or_else(|| {
        format!(
            "'{text}' is no largest packet; it has {MIN_MTU_BYTES} to {MAX_MTU_BYTES} bytes; write it like \
             geo.mtu=1300B, or geo.mtu=none"
        )
    })
}

fn is_mtu(bytes: u32) -> bool {
    (MIN_MTU_BYTES..=MAX_MTU_BYTES).contains(&bytes)
}

fn loss(text: &str) -> Option<f64> {
    text.parse().ok().filter(|loss| (0.0..=1.0).contains(loss))
}

/// Makes the changes, all of them at this moment, or none.
pub fn apply(emulation: &Emulation, changes: &[Change]) -> Result<(), String> {
    emulation.change(|middle, now| {
        let links: Vec<String> = middle.edges().iter().map(|edge| edge.link.config().name.clone()).collect();
        changes.iter().try_for_each(|change| change.check(&links))?;
        changes.iter().try_for_each(|change| make(middle, now, &links, change))
    })
}

fn make(middle: &mut Middle, now: Instant, links: &[String], change: &Change) -> Result<(), String> {
    let index = links.iter().position(|name| *name == change.link).unwrap_or(usize::MAX);
    let done = middle.change(now, index, |link| {
        let ports = change.port.map_or_else(|| vec![0, 1], |port| vec![port]);
        ports.into_iter().try_for_each(|port| set(link, now, port, change.quantity))
    });
    done.unwrap_or_else(|| Err(format!("there is no link '{}'", change.link)))
}

fn set(link: &mut Link, now: Instant, port: u32, quantity: LinkQuantity) -> Result<(), String> {
    let done = match quantity {
        LinkQuantity::RateBps(rate_bps) => link.set_rate(now, port, rate_bps, &mut NullSink),
        LinkQuantity::Loss(loss) => link.set_loss(now, port, loss),
        LinkQuantity::MtuBytes(mtu_bytes) => link.set_mtu(now, port, mtu_bytes, &mut NullSink),
        LinkQuantity::DownNs(for_ns) => link.force_outage(now, for_ns.map(|ns| now.after(ns)), &mut NullSink),
        LinkQuantity::DelayNs(delay_ns) => {
            link.set_delay(now, port, delay_ns, &mut NullSink);
            Ok(())
        }
        LinkQuantity::Up => {
            link.end_outage(now, &mut NullSink);
            Ok(())
        }
    };
    done.map_err(|error| error.to_string())
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
