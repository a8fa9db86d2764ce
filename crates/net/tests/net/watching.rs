//! The events of an endpoint's engine.

use skyhaul_core::{Event, Instant, SECOND, Verdict};
use skyhaul_link::{DirectionConfig, LinkConfig, Outage};
use skyhaul_net::{EmbeddedLink, Endpoint, EndpointOptions, Observed, watch};
use skyhaul_stp::Config;

use crate::support::{PORT, pattern, receive, send, server, within};

const RATE_BPS: u64 = 4_000_000;
/// One way. What a busy machine adds to a round trip is to stay below the tolerance of the verdict after an
/// outage, six tenths of a round trip.
const DELAY_NS: u64 = SECOND / 5;
/// When the link is gone, in tenths of a second: while data is sent, for several round trips.
const GONE_TENTHS: [u64; 2] = [10, 30];
/// Transfers tried: a machine may stand still for longer than the delay allows for.
const TRIES: u32 = 4;

fn config() -> LinkConfig {
    let direction =
        DirectionConfig { rate_bps: Some(RATE_BPS), delay_ns: DELAY_NS, ..DirectionConfig::default() };
    let [from, to] = GONE_TENTHS.map(|tenths| Instant::from_ns(tenths * SECOND / 10));
    LinkConfig {
        name: "test".into(),
        forward: direction.clone(),
        reverse: direction,
        outages: vec![Outage { from, to }],
        ..LinkConfig::default()
    }
}

/// Events of probing of a transfer during which the link is gone, and when, by the link's clock, the question
/// was asked that found that out. Every event is of the one connection that there is.
async fn transfer_over_an_outage() -> (Vec<Observed>, Option<Instant>) {
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
    drop(far);
    let told: Vec<_> = observations.take().collect();
    assert_eq!(observations.missed(), 0);
    assert!(told.iter().all(|o| o.source == told[0].source && o.source > 0), "{told:?}");
    // A machine that stands still may make the sender ask before: what counts is the question about the
    // outage.
    let outage = Some(Verdict::Outage);
    let is_answer = |o: &Observed| matches!(o.event, Event::ProbeEnded { verdict, .. } if verdict == outage);
    let answer = told.iter().position(is_answer).unwrap_or(0);
    let question = told[..answer].iter().rfind(|o| matches!(o.event, Event::ProbeStarted { .. }));
    let asked_at = question.map(|question| client.clock().translate(question.at, link.clock()));
    (told, asked_at)
}

#[tokio::test]
async fn an_outage_shows_as_a_probing_cycle_and_nothing_else_is_told() {
    within(60, async {
        let mut seen = Vec::new();
        for _ in 0..TRIES {
            let (told, asked_at) = transfer_over_an_outage().await;
            let gone = GONE_TENTHS.map(|tenths| Instant::from_ns(tenths * SECOND / 10));
            if asked_at.is_some_and(|at| gone[0] < at && at < gone[1]) {
                return;
            }
            seen.push((asked_at, told));
        }
        panic!("no question about the outage was answered: {seen:?}");
    })
    .await;
}
