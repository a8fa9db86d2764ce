//! The side that shows the code.

use std::net::SocketAddr;
use std::time::Duration;

use skyhaul_association::pairing::{
    CODE_NS, Code, Invitation, MAX_SESSIONS, Pairing, PairingError, PairingEvent, SILENCE_NS,
};
use skyhaul_core::SECOND;
use skyhaul_net::{Endpoint, EndpointOptions, Limits, Listener, Stream};
use skyhaul_store::KnownPeer;
use tokio::time::timeout;

use super::conversation::{converse, part};
use super::{
    FAREWELL, Kept, MAY_NOT_KNOW, PATIENCE, PORT, Scene, cut_off, failed, interrupted, random, show, told,
};
use crate::advice;
use crate::errors::ErrorCode;
use crate::failure::Failure;
use crate::output::note;
use crate::signals::stop_requested;

/// Silence after which an end is gone, so that it holds nobody up.
const SILENCE: Duration = Duration::from_secs(SILENCE_NS / SECOND);
/// Connections at once: one is talked to, others wait.
const MAX_CONNECTIONS: usize = 16;

/// Time for which a code is worth a try.
const CODE_LIFE: Duration = Duration::from_secs(CODE_NS / SECOND);

/// Shows a code, and waits for the machine at which it is typed.
pub(super) async fn run(scene: &Scene<'_>, address: SocketAddr) -> Result<KnownPeer, Failure> {
    run_for(scene, address, CODE_LIFE).await
}

/// [`run`] with a code that lives for so long.
async fn run_for(scene: &Scene<'_>, address: SocketAddr, life: Duration) -> Result<KnownPeer, Failure> {
    let (endpoint, mut listener) = listen(address)?;
    let code = Code::new(&random()?);
    let stop = stop_requested();
    let mut invitation = Invitation::new(code, scene.machine.identity(), scene.card.clone());
    note(&format!("on the other machine: skyhaul pair {}", hint(endpoint.local_addr())));
    show(&invitation.code().to_string(), scene.args.json)?;
    let kept = Kept::default();
    let paired = tokio::select! {
        paired = timeout(life, invite(scene, &mut invitation, &mut listener, &kept)) => {
            paired.unwrap_or_else(|_| cut_off(&kept, too_late(life)))
        }
        () = stop => cut_off(&kept, interrupted()),
    };
    drop(listener);
    endpoint.wait_ended(FAREWELL).await;
    paired
}

fn listen(address: SocketAddr) -> Result<(Endpoint, Listener), Failure> {
    let limits =
        Limits { max_connections: MAX_CONNECTIONS, max_unproven: MAX_CONNECTIONS, ..Limits::default() };
    let options = EndpointOptions { limits, ..EndpointOptions::default() };
    let bound = Endpoint::bind(address, options).and_then(|endpoint| {
        let listener = endpoint.listen(PORT)?;
        Ok((endpoint, listener))
    });
    bound.map_err(|error| {
        let advice = advice::of_listening(address, &error);
        Failure::of(ErrorCode::CannotListen, format!("cannot wait at {address}: {error}{advice}"))
    })
}

/// Address of this machine as the other one may write it.
fn hint(address: SocketAddr) -> String {
    if address.ip().is_unspecified() { format!("ADDRESS:{}", address.port()) } else { address.to_string() }
}

fn too_late(life: Duration) -> Failure {
    let text =
        format!("not paired: nobody typed the code within {} s; start it again for another", life.as_secs());
    Failure::of(ErrorCode::PairingFailed, text)
}

/// Talks to one connection after the other, until one knows the code or the code is void.
async fn invite(
    scene: &Scene<'_>,
    invitation: &mut Invitation,
    listener: &mut Listener,
    kept: &Kept,
) -> Result<KnownPeer, Failure> {
    while let Some(stream) = listener.accept().await {
        let from = stream.peer_addr();
        let Some(session) = invitation.session(&random()?) else { break };
        match talk(scene, (invitation, kept), session, stream).await {
            Ok(paired) => return paired,
            Err(error) if is_final(error) => return Err(failed(error)),
            Err(error) => note(&format!("{from}: {}; still waiting", told(error))),
        }
    }
    let text = format!("not paired: {MAX_SESSIONS} connections came, and none was the other machine");
    Err(Failure::of(ErrorCode::PairingFailed, text))
}

/// Whether an owner has to do something before anybody can be paired. All others may be strangers, or links
/// that were cut.
fn is_final(error: PairingError) -> bool {
    matches!(error, PairingError::WrongCode | PairingError::Mode { .. } | PairingError::Oneself)
}

/// Talks to one connection: who was paired, or could not be kept; an error that concerns the connection.
async fn talk(
    scene: &Scene<'_>,
    (invitation, kept): (&mut Invitation, &Kept),
    mut session: Pairing,
    mut stream: Stream,
) -> Result<Result<KnownPeer, Failure>, PairingError> {
    let event = timeout(PATIENCE, converse(&mut stream, &mut session, SILENCE)).await;
    let done = match event {
        Ok(PairingEvent::Paired(paired)) => Ok(scene.keep(paired, None)),
        Ok(PairingEvent::Failed(error)) => Err(error),
        Ok(PairingEvent::Met(_)) => Err(PairingError::Alien), // openers alone meet
        Err(_) => Err(PairingError::Cut),
    };
    match &done {
        Ok(Ok(peer)) => {
            session.confirm();
            kept.replace(Some(peer.clone()));
        }
        Ok(Err(unable)) => session.decline(unable.there),
        Err(_) => {}
    }
    // Who is gone hears no last words.
    let is_told = !matches!(done, Err(PairingError::Cut)) && part(stream, &mut session).await;
    if !is_told && matches!(done, Ok(Ok(_))) {
        note(MAY_NOT_KNOW);
    }
    invitation.take_back(session);
    done.map(|kept| kept.map_err(|unable| unable.here))
}

#[cfg(test)]
#[path = "listening_tests.rs"]
mod tests;
