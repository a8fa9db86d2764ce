//! The end of a record (option 22 of SCPS-TP), which no simulated flow marks, between two engines.

use skyhaul_capture::Direction;
use skyhaul_core::packet::ip_protocol::TCP;
use skyhaul_core::{Connections, Engine, Instant, MS, NetworkFields, NullSink, Stream};
use skyhaul_tcp::segment::Way;
use skyhaul_tcp::{Config, Endpoint, EndpointConfig};

use crate::tshark::{capture_between, columns, is_missing};

const ENDS: [&str; 2] = ["10.0.0.1:0", "10.0.0.2:0"];
const PORT: u16 = 4700;

/// Segments of a connection that opens, writes these records, and has them acknowledged.
fn segments(records: &[&[u8]]) -> Vec<(Direction, Vec<u8>)> {
    let [one, other] = ENDS.map(|end| end.parse::<std::net::SocketAddr>().unwrap().ip());
    let way = Way { local: one, remote: other };
    let end = |name| {
        let accept = EndpointConfig { accept: Config::scps_tp(), ..EndpointConfig::default() };
        Endpoint::new(accept, Stream::new(1, name))
    };
    let mut ends = [end("a"), end("b")];
    ends[1].listen(PORT);
    let mut now = Instant::from_ns(1);
    let id = ends[0].connect(now, way, PORT, None, Config::scps_tp()).unwrap();
    let mut seen = Vec::new();
    for turn in 0..10 {
        if turn == 2 {
            for record in records {
                assert_eq!(ends[0].write_record(id, record), Ok(record.len()));
            }
        }
        for (side, direction) in [(0, Direction::Outbound), (1, Direction::Inbound)] {
            let (mut buffer, mut sent) = (Vec::new(), Vec::new());
            while let Some(transmit) = ends[side].poll_transmit(now, &mut buffer, 8, &mut NullSink) {
                sent.extend(buffer.chunks(transmit.segment_bytes).map(<[u8]>::to_vec));
            }
            let back = if side == 0 { way.reversed() } else { way };
            for bytes in &sent {
                ends[1 - side].handle(now, back, NetworkFields::default(), bytes, &mut NullSink);
            }
            seen.extend(sent.into_iter().map(|bytes| (direction, bytes)));
        }
        now = now.after(50 * MS);
        for end in &mut ends {
            end.handle_timeout(now, &mut NullSink);
        }
    }
    seen
}

#[test]
fn tshark_reads_the_option_of_scps_tp_that_ends_a_record() {
    let segments = segments(&[&[7; 2000], &[8; 30]]);
    let headers = || segments.iter().map(|(_, bytes)| bytes.split_at(4 * usize::from(bytes[12] >> 4)));
    let is_marked = |&(header, _): &(&[u8], &[u8])| header[20..].windows(2).any(|pair| pair == [22, 2]);
    let last = |(_, data): (&[u8], &[u8])| (data.len(), data.last().copied());
    let ends: Vec<_> = headers().filter(is_marked).map(last).collect();
    // The last segment goes again at the end of a stream, and says so again.
    assert!(
        matches!(ends[..], [(552, Some(7)), (30, Some(8)), ..]),
        "kind and length, as they are: {ends:?}"
    );
    assert!(ends[1..].iter().all(|end| *end == ends[1]), "{ends:?}");
    if is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.pcapng");
    capture_between(&path, ENDS, TCP, segments);
    let fields = ["tcp.len", "tcp.options.scpsrec", "_ws.malformed"];
    let data = columns(&path, "tcp.len > 0", &fields);
    let marked: Vec<usize> =
        data.iter().filter(|row| !row[1].is_empty()).map(|row| row[0].parse().unwrap()).collect();
    assert_eq!(marked, ends.iter().map(|end| end.0).collect::<Vec<_>>(), "{data:?}");
    assert_eq!(data.len(), marked.len() + 1, "1448 octets come before the end of the first record: {data:?}");
    assert!(data.iter().all(|row| row[2].is_empty()), "{data:?}");
    let kinds = |filter: &str| columns(&path, filter, &["frame.number"]).len();
    assert_eq!(
        (kinds("tcp.option_kind == 22"), kinds("tcp.option_kind == 22 && tcp.len == 0")),
        (marked.len(), 0)
    );
}
