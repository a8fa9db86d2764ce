//! Web-like traffic: pages of heavy-tailed objects, each object over a connection of its own, and pauses.

mod browser;
mod server;
#[cfg(test)]
mod web_tests;

use skyhaul_core::Stream;

pub(super) use browser::Browser;
pub(super) use server::Server;

use super::io::{Reader, Writer};
use super::source::Supply;
use skyhaul_scenario::{HEAD_BYTES, MAX_OBJECTS, WebLoad};

/// Bytes that an end writes at a time.
const CHUNK_BYTES: u64 = 16 * 1024;

/// A request begins with the size of the object, so that the server needs to know nothing.
fn request(key: u64, load: &WebLoad, object_bytes: u64) -> Writer {
    let bytes = load.request_bytes.max(HEAD_BYTES);
    Writer::new(key, Some(bytes), CHUNK_BYTES, Supply::Greedy).with_head(object_bytes.to_be_bytes())
}

fn response(key: u64, object_bytes: u64) -> Writer {
    Writer::new(!key, Some(object_bytes), CHUNK_BYTES, Supply::Greedy)
}

fn response_reader(key: u64) -> Reader {
    Reader::new(!key)
}

/// Objects of the next page: at least 1, geometrically distributed.
fn draw_objects(load: &WebLoad, stream: &mut Stream) -> u32 {
    u32::try_from(stream.geometric(load.objects)).unwrap_or(u32::MAX).min(MAX_OBJECTS)
}

/// Size of the next object: Pareto distributed, cut off at the largest.
fn draw_object_bytes(load: &WebLoad, stream: &mut Stream) -> u64 {
    let least = load.object_bytes as f64 * (load.shape - 1.0) / load.shape;
    (stream.pareto(load.shape) * least).clamp(1.0, load.max_object_bytes as f64) as u64
}
