use proptest::prelude::*;
use skyhaul_core::envelope::{EnvelopeError, Mode};

use crate::record::*;

fn index(number: u32) -> Index {
    Index::new(number).unwrap()
}

#[test]
fn heads_are_the_golden_octets_of_the_specification() {
    let head = |mode, addressee| Head { mode, addressee, truncated_number: 0x0102_0304 }.encode();
    let association = Addressee::Association(index(0x0A_0B0C));
    assert_eq!(head(Mode::Encrypted, association), [0x24, 0x0A, 0x0B, 0x0C, 1, 2, 3, 4]);
    assert_eq!(head(Mode::Authenticated, association), [0x28, 0x0A, 0x0B, 0x0C, 1, 2, 3, 4]);
    let early = Addressee::Early(index(0x0A_0B0C));
    assert_eq!(head(Mode::Encrypted, early), [0x24, 0x8A, 0x0B, 0x0C, 1, 2, 3, 4]);
}

#[test]
fn a_datagram_has_24_octets_more_than_its_text() {
    assert_eq!(OVERHEAD_BYTES, 24);
    let mut datagram = [0; OVERHEAD_BYTES];
    datagram[..4].copy_from_slice(&[0x24, 0, 0, 1]);
    assert!(Head::decode(&datagram).is_ok(), "an empty text is a text");
    assert_eq!(Head::decode(&datagram[..OVERHEAD_BYTES - 1]), Err(RecordError::Short));
}

#[test]
fn what_is_no_record_is_refused_with_its_reason() {
    let decode = |first: u8, index: u8| {
        let mut datagram = [0; OVERHEAD_BYTES];
        (datagram[0], datagram[3]) = (first, index);
        Head::decode(&datagram).unwrap_err()
    };
    assert_eq!(decode(0x24, 0), RecordError::NoIndex);
    assert_eq!(decode(0x20, 1), RecordError::Envelope(EnvelopeError::Mode(0)));
    assert_eq!(decode(0x2C, 1), RecordError::Envelope(EnvelopeError::Mode(3)));
    assert_eq!(decode(0x44, 1), RecordError::Envelope(EnvelopeError::Version(2)));
    assert_eq!(decode(0x26, 1), RecordError::Envelope(EnvelopeError::PathHeader));
    assert_eq!(decode(0x25, 1), RecordError::Envelope(EnvelopeError::Reserved));
    assert_eq!(Head::decode(&[]), Err(RecordError::Envelope(EnvelopeError::Empty)));
}

proptest! {
    #[test]
    fn any_octets_give_a_head_or_an_error(octets in proptest::collection::vec(any::<u8>(), 0..40)) {
        if let Ok(head) = Head::decode(&octets) {
            prop_assert_eq!(&head.encode()[..], &octets[..HEAD_BYTES]);
        }
    }

    #[test]
    fn heads_survive(number in 1..=MAX_INDEX, early: bool, truncated_number: u32) {
        let index = index(number);
        let addressee = if early { Addressee::Early(index) } else { Addressee::Association(index) };
        let head = Head { mode: Mode::Authenticated, addressee, truncated_number };
        let mut datagram = [0; OVERHEAD_BYTES];
        datagram[..HEAD_BYTES].copy_from_slice(&head.encode());
        prop_assert_eq!(Head::decode(&datagram), Ok(head));
    }
}
