//! Routers of an emulated link tell a sender its rate, by headers on datagrams.

use skyhaul_core::event::RuledBy;
use skyhaul_core::{Event, MS};
use skyhaul_link::{DirectionConfig, Discipline, ExplicitConfig, LinkConfig};
use skyhaul_net::{EmbeddedLink, Endpoint, EndpointOptions, watch};
use skyhaul_stp::{Config, ControllerKind};

use crate::support::{PORT, pattern, receive, send, server, within};

const RATE_BPS: u64 = 8_000_000;

fn config(has_router: bool) -> LinkConfig {
    let direction =
        DirectionConfig { rate_bps: Some(RATE_BPS), delay_ns: 30 * MS, ..DirectionConfig::default() };
    let router = ExplicitConfig { discipline: Discipline::PXcp, set_off: None };
    let explicit = has_router.then_some(router);
    LinkConfig {
        name: "test".into(),
        forward: DirectionConfig { explicit, ..direction.clone() },
        reverse: direction,
        ..LinkConfig::default()
    }
}

/// What ruled the rate of a transfer of 3 MB, and the seconds that it took.
async fn transfer(has_router: bool, controller: ControllerKind) -> (Vec<RuledBy>, f64) {
    let (server, mut listener) = server(EndpointOptions::default());
    let link = EmbeddedLink::start(config(has_router), 1, server.local_addr()).unwrap();
    let (watch, observations) = watch(64, |event| matches!(event, Event::Ruled { .. }));
    let options = EndpointOptions { watch: Some(watch), ..EndpointOptions::default() };
    let client = Endpoint::client(link.front_addr(), options).unwrap();
    let config = Config { controller, discover_mtu: true, ..Config::standard() };
    let mut near = client.open(link.front_addr(), PORT, config).unwrap();
    let data = pattern(1, 3_000_000);
    let start = link.now();
    let ((), (far, end)) = tokio::join!(send(&mut near, &data), async {
        let mut far = listener.accept().await.unwrap();
        assert!(receive(&mut far).await == data);
        (far, link.now())
    });
    drop(far);
    let ruled = observations.take().filter_map(|observed| match observed.event {
        Event::Ruled { by } => Some(by),
        _ => None,
    });
    (ruled.collect(), end.since(start) as f64 / 1e9)
}

#[tokio::test]
async fn a_router_rules_the_rate() {
    within(60, async {
        let (ruled, seconds) = transfer(true, ControllerKind::PXcp).await;
        assert_eq!(ruled, [RuledBy::Routers]);
        let physics = 3_000_000.0 * 8.0 / RATE_BPS as f64;
        assert!((physics..2.5 * physics).contains(&seconds), "{seconds} s for what takes {physics} s");
    })
    .await;
}

#[tokio::test]
async fn without_a_router_the_rate_is_measured() {
    within(60, async {
        let (ruled, _) = transfer(false, ControllerKind::Xcp).await;
        assert_eq!(ruled, [RuledBy::NoRouter]);
        assert_eq!(transfer(true, ControllerKind::Model).await.0, [], "nobody asked");
    })
    .await;
}
