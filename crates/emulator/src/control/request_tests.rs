use super::*;

fn parsed(text: &str) -> (String, Option<u32>, LinkQuantity) {
    let Change { link, port, quantity } = Change::parse(text).unwrap();
    (link, port, quantity)
}

#[test]
fn changes_are_read_as_people_write_them() {
    assert_eq!(parsed("geo.rate=2Mbit/s"), ("geo".into(), None, LinkQuantity::RateBps(Some(2_000_000))));
    assert_eq!(parsed("geo.rate=unlimited"), ("geo".into(), None, LinkQuantity::RateBps(None)));
    assert_eq!(
        parsed("a-b.forward.delay=300ms"),
        ("a-b".into(), Some(0), LinkQuantity::DelayNs(300_000_000))
    );
    assert_eq!(parsed("geo.reverse.loss=0.01"), ("geo".into(), Some(1), LinkQuantity::Loss(0.01)));
    for text in ["geo.forward.mtu=1300B", "geo.forward.mtu=1300", "geo.forward.mtu=1.3kB"] {
        assert_eq!(parsed(text), ("geo".into(), Some(0), LinkQuantity::MtuBytes(Some(1300))));
    }
    assert_eq!(parsed("geo.mtu=none"), ("geo".into(), None, LinkQuantity::MtuBytes(None)));
}

#[test]
fn what_cannot_be_read_says_how_to_write_it() {
    for (text, why) in [
        ("geo.rate", "'geo.rate' has no value"),
        ("rate=2M", "'rate' names no link"),
        ("geo.up.rate=2M", "'up' is neither forward nor reverse"),
        ("geo.queue=2", "'queue' cannot be changed"),
        ("geo.loss=much", "'much' is no probability"),
        ("geo.loss=nan", "'nan' is no probability"),
        ("geo.rate=5", "'5' has no unit"),
        ("geo.delay=300", "'300' has no unit"),
    ] {
        let error = Change::parse(text).unwrap_err();
        assert!(
            error.starts_with(why) && error.contains("write it like geo.rate=2Mbit/s"),
            "{text}: {error}"
        );
    }
    for text in ["geo.mtu=67", "geo.mtu=65536B", "geo.mtu=wide", "geo.mtu="] {
        let error = Change::parse(text).unwrap_err();
        assert!(error.contains("68 to 65535 bytes") && error.contains("geo.mtu=1300B"), "{text}: {error}");
    }
    assert!(Change::parse("geo.rate=fast").is_err());
    assert!(Change::parse("geo.delay=-1s").is_err());
}

/// It was looked up without a look at how many there are, by whoever can write to the socket.
#[test]
fn a_port_that_there_is_not_is_refused() {
    let change = |port| Change { link: "l".into(), port, quantity: LinkQuantity::Loss(0.1) };
    let links = ["l".to_string()];
    for port in [None, Some(0), Some(1)] {
        assert_eq!(change(port).check(&links), Ok(()));
    }
    for port in [2, 7, u32::MAX] {
        let error = change(Some(port)).check(&links).unwrap_err();
        assert_eq!(error, format!("l: there is no port {port}; there are 0 and 1"));
    }
}
