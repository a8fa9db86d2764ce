//! The events of an endpoint's engine.

use skyhaul_core::{Event, Instant, SECOND, Verdict};
use skyhaul_link::{DirectionConfig, LinkConfig, Outage};
use skyhaul_net::{EmbeddedLink, Endpoint, EndpointOptions, watch};
use skyhaul_stp::Config;

use crate::support::{PORT, pattern, receive, send, server, within};

const RATE_BPS: u64 = 10_000_000;

/// Gone from 0.3 s to 0.8 s.
fn config() -> LinkConfig {
    let direction =
        DirectionConfig { rate_bps: Some(RATE_BPS), delay_ns: SECOND / 50, ..DirectionConfig::default() };
    let [from, to] = [3, 8].map(|tenths| Instant::from_ns(tenths * SECOND / 10));
    LinkConfig {
        name: "test".into(),
        forward: direction.clone(),
        reverse: direction,
        outages: vec![Outage { from, to }],
        ..LinkConfig::default()
    }
}

#[tokio::test]
async fn an_outage_shows_as_a_probing_cycle_and_nothing_else_is_told() {
    within(60, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let link = EmbeddedLink::start(config(), 1, server.local_addr()).unwrap();
        let (watch, observations) =
            watch(64, |event| matches!(event, Event::ProbeStarted { .. } | Event::ProbeEnded { .. }));
        let options = EndpointOptions { watch: Some(watch), ..EndpointOptions::default() };
        let client = Endpoint::client(link.front_addr(), options).unwrap();
        let rate = Config { rate_bps: Some(RATE_BPS), ..Config::standard() };
        let mut near = client.open(link.front_addr(), PORT, rate).unwrap();
        let data = pattern(1, 1_000_000);
        let ((), far) = tokio::join!(send(&mut near, &data), async {
            let mut far = listener.accept().await.unwrap();
            assert!(receive(&mut far).await == data);
            far
        });
        let told: Vec<_> = observations.take().collect();
        assert_eq!(observations.missed(), 0);
        assert!(told.iter().all(|o| o.source == told[0].source && o.source > 0), "{told:?}");
        // A machine that stands still may make the sender ask before: what counts is the question about the
        // outage.
        let outage = Some(Verdict::Outage);
        let answer = told
            .iter()
            .position(|o| matches!(o.event, Event::ProbeEnded { verdict, .. } if verdict == outage));
        let answer = answer.unwrap_or_else(|| panic!("{told:?}"));
        let question =
            told[..answer].iter().rfind(|o| matches!(o.event, Event::ProbeStarted { .. })).unwrap();
        let gone_at = client.clock().translate(question.at, link.clock()).as_ns();
        assert!(gone_at > 3 * SECOND / 10, "{told:?}");
        drop(far);
    })
    .await;
}
