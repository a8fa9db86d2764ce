use skyhaul_link::{DirectionConfig, preset};

use super::*;

const NOTHING: PlainLink = PlainLink { rate: None, down: None, delay: None, loss: None, queue: None };

fn directions(link: &PlainLink, mtu_bytes: Option<u32>) -> [DirectionConfig; 2] {
    let file = link.file(mtu_bytes, &[]).unwrap_or_else(|error| panic!("{error}"));
    let link = file.first_scenario().unwrap_or_else(|error| panic!("{error}")).links.remove(0);
    [link.config.forward, link.config.reverse]
}

#[test]
fn rate_and_delay_make_the_link_of_the_geo_scenario() {
    let link = PlainLink { rate: Some(10_000_000), delay: Some(275_000_000), ..NOTHING };
    let geo = preset("geo").unwrap_or_else(|| panic!("a built-in link"));
    assert_eq!(directions(&link, None), [geo.forward, geo.reverse]);
}

#[test]
fn what_is_not_said_is_as_the_help_says() {
    assert_eq!(directions(&NOTHING, None), [DirectionConfig::default(), DirectionConfig::default()]);
    let link =
        PlainLink { rate: Some(2_000_000), down: Some(8_000_000), delay: Some(100_000_000), ..NOTHING };
    let [up, down] = directions(&link, Some(1300));
    assert_eq!((up.rate_bps, down.rate_bps), (Some(2_000_000), Some(8_000_000)));
    assert_eq!([up.queue, down.queue], [50_000, 200_000].map(QueueLimit::Bytes));
    assert_eq!([up.mtu_bytes, down.mtu_bytes], [Some(1300); 2]);
    let short = PlainLink { rate: Some(1000), queue: None, loss: Some(0.25), ..NOTHING };
    let [up, down] = directions(&short, None);
    assert_eq!((up.queue, up.loss, down.loss), (QueueLimit::Bytes(15_000), 0.25, 0.25));
    let packets = PlainLink { queue: Some(QueueLimit::Packets(7)), ..NOTHING };
    assert_eq!(directions(&packets, None)[1].queue, QueueLimit::Packets(7));
}

#[test]
fn values_that_make_no_sense_are_refused() {
    for text in ["", "7", "0packets", "0B", "many", "-1kB", "packets"] {
        assert!(queue(text).is_err(), "{text}");
    }
    assert_eq!(queue("125kB"), Ok(QueueLimit::Bytes(125_000)));
    assert_eq!(queue("100packets"), Ok(QueueLimit::Packets(100)));
    for text in ["1%", "1.1", "-0.1", "nan", "much"] {
        assert!(probability(text).is_err(), "{text}");
    }
    assert!(mtu("67").is_err() && mtu("65536").is_err() && mtu("1300kB").is_err() && mtu("").is_err());
    assert_eq!((mtu("68"), mtu("65535"), mtu("1300B")), (Ok(68), Ok(65_535), Ok(1300)));
}
