//! Relay of datagrams that takes its time, or lets none pass.
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::collections::VecDeque;
use std::net::{SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two looks at what is due.
const LOOK: Duration = Duration::from_millis(5);

/// Which way a datagram goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum To {
    Receiver,
    Sender,
}

/// Address at which datagrams of one sender go on to `address`, and back, `delay` later. Those that do not
/// pass when they come are dropped.
pub fn relay(address: &str, delay: Duration, passes: impl Fn(To) -> bool + Send + Sync + 'static) -> String {
    let [front, back] = [0; 2].map(|_| Arc::new(UdpSocket::bind("127.0.0.1:0").unwrap()));
    back.connect(address).unwrap();
    front.set_read_timeout(Some(LOOK)).unwrap();
    back.set_read_timeout(Some(LOOK)).unwrap();
    let place = front.local_addr().unwrap().to_string();
    let (passes, sender) = (Arc::new(passes), Arc::new(Mutex::new(None::<SocketAddr>)));
    for to in [To::Receiver, To::Sender] {
        let (front, back, passes, sender) = (front.clone(), back.clone(), passes.clone(), sender.clone());
        std::thread::spawn(move || {
            let (mut queue, mut buffer) = (VecDeque::new(), [0; 2000]);
            loop {
                let from = if to == To::Receiver { &front } else { &back };
                let came = from.recv_from(&mut buffer).ok().filter(|_| passes(to));
                if let Some((length, at)) = came {
                    queue.push_back((Instant::now() + delay, buffer[..length].to_vec()));
                    if to == To::Receiver {
                        *sender.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
                    }
                }
                while queue.front().is_some_and(|(due, _)| *due <= Instant::now()) {
                    let Some((_, datagram)) = queue.pop_front() else { break };
                    let at = *sender.lock().unwrap_or_else(PoisonError::into_inner);
                    let _ = match at.filter(|_| to == To::Sender) {
                        Some(at) => front.send_to(&datagram, at),
                        None => back.send(&datagram),
                    };
                }
            }
        });
    }
    place
}
