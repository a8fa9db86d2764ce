//! Fuzz targets of `fuzz/`: what each does with its bytes. They are no part of any shipped crate; ordinary
//! tests replay the corpus (`tests/corpus.rs`) with the very same code.
#![forbid(unsafe_code)]

mod association;
mod coding;
mod connection;
mod envelope;
mod file_records;
mod input;
mod pairing;
mod record;
mod scps_compressed;
mod segment;
mod stpp_pdu;
mod tcp_connection;
mod tcp_openings;
mod tcp_openings_pair;
mod tcp_options;
mod tcp_pair;
mod tcp_segment;
mod utl;

pub use association::association;
pub use coding::coding;
pub use connection::connection;
pub use envelope::envelope;
pub use file_records::file_records;
pub use pairing::pairing;
pub use record::record;
pub use scps_compressed::scps_compressed;
pub use segment::segment_decode;
pub use stpp_pdu::stpp_pdu;
pub use tcp_connection::tcp_connection;
pub use tcp_openings::tcp_openings;
pub use tcp_options::tcp_options;
pub use tcp_pair::scps_pair;
pub use tcp_segment::tcp_segment;
pub use utl::utl;
