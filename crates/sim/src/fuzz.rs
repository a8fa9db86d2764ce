//! What the fuzz targets in `fuzz/` do with their bytes. It lives here so that ordinary tests replay
//! the corpus (`tests/fuzz_corpus.rs`) with the very same code.

mod connection;
mod input;
mod segment;

pub use connection::connection;
pub use segment::segment_decode;
