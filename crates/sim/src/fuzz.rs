//! What the fuzz targets in `fuzz/` do with their bytes. It lives here so that ordinary tests replay
//! the corpus (`tests/fuzz_corpus.rs`) with the very same code.

mod connection;
mod input;
mod segment;
mod tcp_connection;
mod tcp_options;
mod tcp_pair;
mod tcp_segment;

pub use connection::connection;
pub use segment::segment_decode;
pub use tcp_connection::tcp_connection;
pub use tcp_options::tcp_options;
pub use tcp_segment::tcp_segment;
