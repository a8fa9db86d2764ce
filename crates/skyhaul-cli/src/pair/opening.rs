//! The side at which the code is typed.

use std::io::{self, IsTerminal as _};
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use skyhaul_association::pairing::{Code, Paired, Pairing, PairingError, PairingEvent};
use skyhaul_core::{CloseReason, SECOND};
use skyhaul_net::{Endpoint, EndpointOptions, Stream};
use skyhaul_store::KnownPeer;
use skyhaul_stp::Config;
use tokio::time::timeout;

use super::conversation::{converse, part};
use super::{FAREWELL, Kept, PATIENCE, PORT, Scene, failed, interrupted, random};
use crate::address::resolve;
use crate::advice::is_refusal;
use crate::errors::ErrorCode;
use crate::failure::Failure;
use crate::output::note;
use crate::signals::stop_requested;

/// Times that somebody at a terminal may mistype the code: nothing is sent by that.
const MAX_TYPED: u32 = 3;
/// Patience with an address that does not answer.
const CONNECT_NS: u64 = 20 * SECOND;
/// Silence after which it is said that somebody is still waited for: ten round trips of a geostationary link.
const SILENCE: Duration = Duration::from_secs(5);
/// What to do if the other machine has kept this one, and this one cannot keep it.
const KEPT_THERE: &str =
    "the other machine has kept this one already: mend that, or name it by --as, and pair again";
/// What to do if this machine cannot keep the other one, which has kept nothing yet.
const STILL_SHOWN: &str = "the code still holds: mend that, and pair again by it";
/// Longest line that is read.
const MAX_LINE_BYTES: u64 = 1024;

/// Asks for the code, and tries it at the machine of this address.
pub(super) async fn run(scene: &Scene<'_>, address: &str) -> Result<KnownPeer, Failure> {
    let code = match &scene.args.code {
        Some(code) => code.clone(),
        None => ask()?,
    };
    let peers = resolve(address).await?;
    let kept = Kept::default();
    tokio::select! {
        paired = pair(scene, (&code, &kept), address, &peers) => paired,
        () = stop_requested() => kept.take().ok_or_else(interrupted),
    }
}

/// Code as somebody types it, or a program writes it.
fn ask() -> Result<Code, Failure> {
    let is_typed = io::stdin().is_terminal();
    for left in (0..MAX_TYPED).rev() {
        note("code that the other machine shows:");
        match line()?.parse::<Code>() {
            Ok(code) => return Ok(code),
            Err(error) if is_typed && left > 0 => note(&format!("{error}; nothing was sent, so once more")),
            Err(error) => return Err(Failure::usage(format!("{error}; nothing was sent"))),
        }
    }
    unreachable!("the last time either a code or an error is given")
}

fn line() -> Result<String, Failure> {
    use std::io::{BufRead as _, Read as _};
    let mut text = String::new();
    let read = io::stdin().lock().take(MAX_LINE_BYTES).read_line(&mut text);
    read.map_err(|error| Failure::of(ErrorCode::StdinFailed, format!("cannot read the code: {error}")))?;
    Ok(text)
}

/// Tries the code at the first address that answers.
async fn pair(
    scene: &Scene<'_>,
    (code, kept): (&Code, &Kept),
    address: &str,
    peers: &[SocketAddr],
) -> Result<KnownPeer, Failure> {
    let mut unreached = None;
    for &peer in peers {
        match connect(peer).await {
            Ok((endpoint, stream)) => {
                let paired = talk(scene, (code, kept), address, stream).await;
                endpoint.wait_ended(FAREWELL).await;
                return paired;
            }
            Err(error) => unreached = Some(absent(peer, &error)),
        }
    }
    Err(unreached.unwrap_or_else(|| Failure::of(ErrorCode::AddressUnknown, "there is no address")))
}

async fn connect(peer: SocketAddr) -> io::Result<(Endpoint, Stream)> {
    let endpoint = Endpoint::client(peer, EndpointOptions::default())?;
    let config = Config { connect_give_up_ns: Some(CONNECT_NS), ..Config::standard() };
    let stream = said_if_silent(peer, endpoint.connect(peer, PORT, config)).await?;
    Ok((endpoint, stream))
}

/// Waits for whoever is asked, and says so after a while.
async fn said_if_silent(
    peer: SocketAddr,
    connecting: impl Future<Output = io::Result<Stream>>,
) -> io::Result<Stream> {
    let mut connecting = pin!(connecting);
    if let Ok(connected) = timeout(SILENCE, &mut connecting).await {
        return connected;
    }
    note(&format!("{peer} has not answered yet; asking for {} s", CONNECT_NS / SECOND));
    connecting.await
}

/// Reason why nobody was reached, and what to do.
fn absent(peer: SocketAddr, error: &io::Error) -> Failure {
    let reason = error.get_ref().and_then(|source| source.downcast_ref::<CloseReason>()).copied();
    let is_absent = reason.is_some_and(|reason| reason == CloseReason::Unreachable || is_refusal(reason));
    let (code, advice) = match reason {
        _ if is_absent => (ErrorCode::PeerAbsent, "nothing waits there"),
        Some(CloseReason::ConnectTimeout) => (ErrorCode::NoAnswer, "it did not answer"),
        _ => return Failure::of(ErrorCode::SocketFailed, format!("cannot reach {peer}: {error}")),
    };
    let text =
        format!("cannot reach {peer}: {advice}; start `skyhaul pair --listen {peer}` on that machine first");
    Failure::of(code, text)
}

async fn talk(
    scene: &Scene<'_>,
    (code, kept): (&Code, &Kept),
    address: &str,
    mut stream: Stream,
) -> Result<KnownPeer, Failure> {
    let seed = random()?;
    let mut pairing = Pairing::open(code, scene.machine.identity(), scene.card.clone(), &seed);
    let outcome = timeout(PATIENCE, open(scene, address, &mut stream, &mut pairing)).await;
    let outcome = outcome.unwrap_or_else(|_| Err(failed(PairingError::Cut)));
    // The other end has kept this one: so does this one, before anything else is waited for.
    let keep =
        |paired| scene.keep(paired, Some(address.into())).map_err(|unable| unable.here.and(KEPT_THERE));
    let outcome = outcome.and_then(keep);
    kept.replace(outcome.as_ref().ok().cloned());
    part(stream, &mut pairing).await;
    outcome
}

/// Talks until the other end has kept this one. It is told who this one is if this one could keep it.
async fn open(
    scene: &Scene<'_>,
    address: &str,
    stream: &mut Stream,
    pairing: &mut Pairing,
) -> Result<Paired, Failure> {
    loop {
        match converse(stream, pairing, PATIENCE).await {
            PairingEvent::Met(paired) => match scene.try_keep(paired, Some(address.into())) {
                Ok(()) => pairing.confirm(),
                Err(unable) => {
                    pairing.decline(unable.there);
                    return Err(unable.here.and(STILL_SHOWN));
                }
            },
            PairingEvent::Paired(paired) => return Ok(paired),
            PairingEvent::Failed(error) => return Err(failed(error)),
        }
    }
}
