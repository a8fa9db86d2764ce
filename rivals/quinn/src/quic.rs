//! A transfer over QUIC by quinn.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Instant;

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Endpoint, ServerConfig, TransportConfig, VarInt};
use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::cipher_suite::{TLS13_AES_128_GCM_SHA256, TLS13_CHACHA20_POLY1305_SHA256};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::ends::{Cost, Plan, drain, fill};

/// Octets of IPv4 and UDP in front of a datagram.
const HEADERS_BYTES: u32 = 28;
/// Windows that are no limit on loopback.
const WINDOW_BYTES: u32 = 64 << 20;
const NAME: &str = "rival.invalid";

/// What the two ends agree on.
#[derive(Clone, Copy)]
pub(crate) enum Suite {
    Aes,
    ChaCha,
}

/// Certificate and its key.
type Certified = (CertificateDer<'static>, PrivateKeyDer<'static>);

/// Its cost.
pub(crate) fn transfer(plan: Plan, suite: Suite) -> Cost {
    let certified = rcgen::generate_simple_self_signed([NAME.to_owned()]).expect("a certificate");
    let certificate = CertificateDer::from(certified.cert);
    let key = PrivateKeyDer::try_from(certified.signing_key.serialize_der()).expect("a key");
    let trusted = certificate.clone();
    let receiver = move |tell| receive(plan, suite, (certificate, key), tell);
    crate::ends::transfer(plan, receiver, |peer| send(plan, suite, trusted, peer)).0
}

/// AES-128-GCM is always there, since QUIC's first packets are sealed by it; what stands first is taken.
fn provider(suite: Suite) -> Arc<CryptoProvider> {
    let suites = match suite {
        Suite::Aes => vec![TLS13_AES_128_GCM_SHA256],
        Suite::ChaCha => vec![TLS13_CHACHA20_POLY1305_SHA256, TLS13_AES_128_GCM_SHA256],
    };
    Arc::new(CryptoProvider { cipher_suites: suites, ..rustls::crypto::ring::default_provider() })
}

fn transport(plan: Plan) -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    let size = (plan.mtu_bytes - HEADERS_BYTES) as u16;
    transport.initial_mtu(size).min_mtu(size).mtu_discovery_config(None);
    let window = VarInt::from_u32(WINDOW_BYTES);
    transport.stream_receive_window(window).receive_window(window).send_window(u64::from(WINDOW_BYTES));
    Arc::new(transport)
}

async fn receive(
    plan: Plan,
    suite: Suite,
    (certificate, key): Certified,
    tell: mpsc::Sender<SocketAddr>,
) -> u64 {
    let tls = rustls::ServerConfig::builder_with_provider(provider(suite))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("TLS 1.3")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("the certificate's key");
    let tls = QuicServerConfig::try_from(Arc::new(tls)).expect("a suite for QUIC");
    let mut config = ServerConfig::with_crypto(Arc::new(tls));
    config.transport_config(transport(plan));
    let endpoint = Endpoint::server(config, "127.0.0.1:0".parse().expect("an address")).expect("a socket");
    tell.send(endpoint.local_addr().expect("an address")).expect("the sender is there");
    let connection = endpoint.accept().await.expect("a connection").await.expect("a handshake");
    let (send, receive) = connection.accept_bi().await.expect("a stream");
    let received = drain(&mut tokio::io::join(receive, send)).await;
    connection.closed().await;
    received
}

/// Ends when the receiver has confirmed everything.
async fn send(plan: Plan, suite: Suite, trusted: CertificateDer<'static>, peer: SocketAddr) -> (f64, ()) {
    let mut roots = RootCertStore::empty();
    roots.add(trusted).expect("a certificate");
    let tls = rustls::ClientConfig::builder_with_provider(provider(suite))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("TLS 1.3")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let tls = QuicClientConfig::try_from(Arc::new(tls)).expect("a suite for QUIC");
    let mut config = ClientConfig::new(Arc::new(tls));
    config.transport_config(transport(plan));
    let endpoint = Endpoint::client("127.0.0.1:0".parse().expect("an address")).expect("a socket");
    let connection =
        endpoint.connect_with(config, peer, NAME).expect("a connection").await.expect("a handshake");
    let begin = Instant::now();
    let (mut send, mut receive) = connection.open_bi().await.expect("a stream");
    fill(&mut send, plan.bytes).await;
    let seconds = begin.elapsed().as_secs_f64();
    receive.read_to_end(0).await.expect("the receiver's end");
    connection.close(VarInt::from_u32(0), b"");
    endpoint.wait_idle().await;
    (seconds, ())
}
