//! What arrives: validated, then applied.

use skyhaul_core::endpoint::Context;
use skyhaul_core::event::Refusal;
use skyhaul_core::{CloseReason, Event, ResetReason, StreamEvent};

use super::Connection;
use super::life::Life;
use crate::stpp::call::Call;
use crate::stpp::pdu::{Body, Opening, Pdu, Status, reset};
use crate::stpp::receive::{Data, Taken};

impl Connection {
    /// Takes a PDU of `wire_bytes` whose ports are those of this connection. False: its tag is of another
    /// connection, which was between these ports before.
    pub(in crate::stpp) fn handle(
        &mut self,
        pdu: &Pdu<'_>,
        wire_bytes: u32,
        context: &mut Context<'_>,
    ) -> bool {
        if !self.may_take(pdu) {
            self.refuse(Refusal::WrongInstance, context);
            return pdu.tag == self.names.local_tag;
        }
        self.hear(pdu, wire_bytes, context);
        match &pdu.body {
            Body::Open(_) => self.on_open(),
            Body::OpenAck(opening) => self.on_open_ack(*opening),
            Body::Data { number, poll, payload } => {
                self.on_data(Data { number: *number, poll: *poll, payload }, context);
            }
            Body::Poll { clock } => self.receiver.on_poll(*clock),
            Body::Status(status) => self.on_status(status, context),
            Body::Reset { reason, .. } => {
                self.close(Some(CloseReason::Reset(Some(reset::reason(*reason)))), None);
            }
        }
        self.linger_if_over(context.now);
        true
    }

    /// True if a PDU carries the tag that its kind must, and this end knows enough of the peer for it.
    fn may_take(&self, pdu: &Pdu<'_>) -> bool {
        match &pdu.body {
            Body::Open(opening) => self.is_accepted && opening.tag == self.names.remote_tag,
            Body::Reset { is_reflected: true, .. } => {
                pdu.tag == self.names.remote_tag && self.names.remote_tag != 0
            }
            Body::OpenAck(_) => !self.is_accepted && pdu.tag == self.names.local_tag,
            Body::Reset { .. } => pdu.tag == self.names.local_tag,
            _ => pdu.tag == self.names.local_tag && self.names.remote_tag != 0,
        }
    }

    fn hear(&mut self, pdu: &Pdu<'_>, wire_bytes: u32, context: &mut Context<'_>) {
        self.last_heard = context.now;
        self.is_proven |= pdu.tag == self.names.local_tag;
        self.stats.last_heard = context.now;
        self.stats.received_packets += 1;
        self.stats.received_bytes += u64::from(wire_bytes);
        let (types, number) = (pdu.types(), u64::from(pdu.number()));
        let received = Event::Received { types, number, payload_bytes: pdu.payload_bytes() as u32 };
        Call::new(self.id, &mut self.stats, context).emit(received);
    }

    fn refuse(&mut self, why: Refusal, context: &mut Context<'_>) {
        self.stats.count_refusal(why);
        Call::new(self.id, &mut self.stats, context).emit(Event::Refused { why });
    }

    /// Answers an OPEN that came again.
    fn on_open(&mut self) {
        self.life.on_opened_again();
    }

    fn on_open_ack(&mut self, opening: Opening) {
        if matches!(self.life, Life::Opening { .. }) {
            self.meet(opening);
            self.life.on_accepted();
            self.tell(StreamEvent::Connected);
            self.tell(StreamEvent::Writable);
        }
    }

    fn on_data(&mut self, data: Data<'_>, context: &mut Context<'_>) {
        if self.life.is_closed() {
            return;
        }
        let was_over = self.receiver.is_over();
        match self.receiver.on_data(data, self.room_bytes) {
            Taken::InOrder(octets) => {
                self.stats.delivered_bytes += octets as u64;
                if self.is_released {
                    self.receiver.discard();
                } else if octets > 0 || self.receiver.is_over() && !was_over {
                    self.tell(StreamEvent::Readable);
                }
            }
            Taken::Waits => {}
            Taken::Refused(why) => self.refuse(why, context),
            Taken::Broken => self.close(Some(CloseReason::AbortedHere), Some(ResetReason::Protocol)),
        }
    }

    fn on_status(&mut self, status: &Status, context: &mut Context<'_>) {
        let mut call = Call::new(self.id, &mut self.stats, context);
        let Some(progress) = self.sender.on_status(status, &mut call) else {
            return self.refuse(Refusal::Absurd, context);
        };
        if progress.has_finished {
            self.tell(StreamEvent::Finished);
        } else if progress.has_room {
            self.tell(StreamEvent::Writable);
        }
    }
}
