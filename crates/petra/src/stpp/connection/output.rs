//! PDUs that leave. One place makes them.

use alloc::vec::Vec;

use skyhaul_core::endpoint::Context;
use skyhaul_core::event::Repeat;
use skyhaul_core::{Event, Integrity};

use super::decision::Sending;
use super::{Connection, Names};
use crate::stpp::call::Call;
use crate::stpp::pdu::{Body, HEADER_BYTES, MODULUS, Pdu, SPARE_MASK_BYTES, encode_with, reset};
use crate::stpp::send::{Outgoing, SenderAction};

/// Octets of a solicited status between its header and the rest of its mask.
const ECHO_BYTES: usize = 4;

impl Connection {
    /// Appends what is to be sent.
    pub(super) fn send(&mut self, sending: Sending, context: &mut Context<'_>, out: &mut Vec<u8>) {
        match sending {
            Sending::Reset(reason) => {
                self.life.on_reset_sent();
                // Before the peer has answered nothing is known that it would believe.
                let body = Body::Reset { reason: reset::octet(reason), is_reflected: false };
                self.push(&body, None, context, out);
            }
            Sending::Open => {
                self.life.on_open_sent(context.now.after(self.config.timeout_ns()));
                self.push(&Body::Open(self.opening()), None, context, out);
            }
            Sending::OpenAck => {
                self.life.on_answered();
                self.push(&Body::OpenAck(self.opening()), None, context, out);
            }
            Sending::Status => self.send_status(context, out),
            Sending::Data(SenderAction::Poll) => {
                let clock = self.sender.depart_poll(&mut Call::new(self.id, &mut self.stats, context));
                self.push(&Body::Poll { clock }, None, context, out);
            }
            Sending::Data(action) => self.send_data(action, context, out),
        }
    }

    fn send_status(&mut self, context: &mut Context<'_>, out: &mut Vec<u8>) {
        let room = context.path.max_segment_bytes().saturating_sub(HEADER_BYTES + ECHO_BYTES);
        let status = self.receiver.depart(context.now, SPARE_MASK_BYTES + room);
        let kind = if status.echo.is_some() { &mut self.stats.stats } else { &mut self.stats.ustats };
        *kind += 1;
        self.push(&Body::Status(status), None, context, out);
    }

    fn send_data(&mut self, action: SenderAction, context: &mut Context<'_>, out: &mut Vec<u8>) {
        let mut call = Call::new(self.id, &mut self.stats, context);
        let Some(Outgoing { number, poll, repeat }) = self.sender.depart(action, &mut call) else { return };
        let payload = self.sender.payload(number);
        let body = Body::Data { number: (number % MODULUS) as u32, poll, payload };
        push(self.names, &body, repeat, &mut call, out);
    }

    fn push(
        &mut self,
        body: &Body<'_>,
        repeat: Option<Repeat>,
        context: &mut Context<'_>,
        out: &mut Vec<u8>,
    ) {
        push(self.names, body, repeat, &mut Call::new(self.id, &mut self.stats, context), out);
    }
}

/// Appends a PDU, charges it to the path, counts it and tells of it.
fn push(names: Names, body: &Body<'_>, repeat: Option<Repeat>, call: &mut Call<'_>, out: &mut Vec<u8>) {
    let pdu = Pdu {
        source_port: names.local_port,
        destination_port: names.remote_port,
        tag: names.remote_tag,
        body: body.clone(),
    };
    let start = out.len();
    let integrity: Integrity = call.path.config().integrity();
    encode_with(integrity, &pdu, out);
    let (wire_bytes, payload_bytes) = (call.path.wire_bytes(out.len() - start), pdu.payload_bytes() as u32);
    call.path.charge(call.now, wire_bytes);
    count(wire_bytes, payload_bytes > 0, repeat.is_some(), call);
    let (types, number) = (pdu.types(), u64::from(pdu.number()));
    call.emit(Event::Sent { types, number, payload_bytes, wire_bytes, repeat });
}

fn count(wire_bytes: u32, has_data: bool, is_repeat: bool, call: &mut Call<'_>) {
    let (stats, bytes) = (&mut *call.stats, u64::from(wire_bytes));
    stats.sent_packets += 1;
    stats.sent_bytes += bytes;
    if is_repeat {
        stats.retransmitted_packets += 1;
        stats.retransmitted_bytes += bytes;
    } else if has_data {
        stats.data_packets += 1;
    } else {
        stats.control_bytes += bytes;
    }
}
