//! Sequences of operations against one endpoint, drawn and shrunk by proptest: segments of any content, time,
//! writes, reads, ends, in any order. What must hold is in [`skyhaul_fuzz_harness::connection`].

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_leaves_the_endpoint_sound(operations in proptest::collection::vec(any::<u8>(), 0..1500)) {
        skyhaul_fuzz_harness::connection(&operations);
    }

    #[test]
    fn any_sequence_of_openings_with_data_leaves_both_ends_sound(
        operations in proptest::collection::vec(any::<u8>(), 0..1500),
    ) {
        skyhaul_fuzz_harness::tcp_openings(&operations);
    }
}
