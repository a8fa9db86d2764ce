use alloc::string::ToString;

use super::*;

fn prefix(text: &str) -> Prefix {
    text.parse().unwrap()
}

#[test]
fn prefixes_are_read_shown_and_refused_with_a_reason() {
    for text in ["10.88.0.0/16", "0.0.0.0/0", "fd00:88::/32", "::/0", "10.88.1.2/32", "fd00::1/128"] {
        assert_eq!(prefix(text).to_string(), text);
    }
    assert_eq!(prefix("10.88.1.2").to_string(), "10.88.1.2/32");
    for (text, why) in [
        ("10.88.0.1/16", "10.88.0.1 has bits behind the first 16; write 10.88.0.0/16"),
        ("fd00:88::1/32", "fd00:88::1 has bits behind the first 32; write fd00:88::/32"),
        ("10.0.0.0/33", "an address has 32 bits, not 33"),
        ("fd00::/129", "an address has 128 bits, not 129"),
        ("10.0.0/8", "write ADDRESS/BITS, as 10.88.0.0/16 or fd00:88::/32"),
        ("10.0.0.0/", "write ADDRESS/BITS, as 10.88.0.0/16 or fd00:88::/32"),
        ("10.0.0.0/+8", "write ADDRESS/BITS, as 10.88.0.0/16 or fd00:88::/32"),
        ("10.0.0.0/300", "write ADDRESS/BITS, as 10.88.0.0/16 or fd00:88::/32"),
        ("", "write ADDRESS/BITS, as 10.88.0.0/16 or fd00:88::/32"),
    ] {
        assert_eq!(text.parse::<Prefix>().unwrap_err().to_string(), why, "{text}");
    }
}

#[test]
fn a_prefix_has_the_addresses_of_its_family_that_begin_with_it() {
    let has = |text: &str, address: &str| prefix(text).contains(address.parse().unwrap());
    assert!(has("10.88.0.0/16", "10.88.255.1") && !has("10.88.0.0/16", "10.89.0.1"));
    assert!(has("0.0.0.0/0", "255.255.255.255") && !has("0.0.0.0/0", "::1"));
    assert!(has("10.88.1.2/32", "10.88.1.2") && !has("10.88.1.2/32", "10.88.1.3"));
    assert!(has("fd00:88::/33", "fd00:88:7fff::1") && !has("fd00:88::/33", "fd00:88:8000::1"));
    assert!(!has("::/0", "10.0.0.1"));
}

#[test]
fn routes_stand_in_the_order_of_their_length_and_each_prefix_once() {
    let routes = |texts: &[&str]| Routes::new(texts.iter().map(|text| Route::to(prefix(text))).collect());
    let sorted = routes(&["10.0.0.0/8", "10.88.0.0/16", "0.0.0.0/0", "10.88.1.2"]).unwrap();
    let bits = sorted.iter().map(|route| route.prefix.bits).collect::<Vec<_>>();
    assert_eq!(bits, [32, 16, 8, 0]);
    let why = routes(&["10.0.0.0/8", "0.0.0.0/0", "10.0.0.0/8"]).unwrap_err().to_string();
    assert_eq!(why, "10.0.0.0/8 is there twice; of prefixes within each other the longest counts");
    let many = |count: u32| {
        let routes = (0..count).map(|n| Route::to(Prefix::new(IpAddr::V4(n.into()), 32).unwrap()));
        Routes::new(routes.collect())
    };
    assert!(many(256).is_ok());
    assert_eq!(many(257).unwrap_err(), RouteError::TooMany);
}

#[test]
fn a_bucket_has_the_depth_and_the_bursts_that_were_said_or_the_reference_implementation_s() {
    let declared = |rate_bps, depth_bytes, burst_bytes| {
        let DeclaredRate { burst_ns, peak, .. } =
            RouteRate { rate_bps, depth_bytes, burst_bytes }.declared(1500);
        let peak = peak.unwrap();
        (burst_ns, peak.rate_bps, peak.burst_ns)
    };
    // 7500 octets, less the packet that is due; 6000 every 10 ms, less one.
    assert_eq!(declared(1_000_000, None, None), (48 * MS, 4_800_000, 7_500_000));
    // 50 ms; bursts at no less than the rate.
    assert_eq!(declared(8_000_000, None, None).0, 48_500_000);
    assert_eq!(declared(8_000_000, None, None).1, 8_000_000);
    // Less than a packet is one.
    assert_eq!(declared(1_000_000, Some(10), Some(10)), (0, 1_200_000, 0));
    assert_eq!(declared(1_000_000, Some(u64::MAX), Some(u64::MAX)).1, u64::MAX);
}
