//! Codes of errors. They are stable: a later version may add some, and changes none.

/// The enum out of its table: variant, name for programs, meaning, what to do.
macro_rules! codes {
    ($($variant:ident = $name:literal, $meaning:literal, $advice:literal;)*) => {
        /// Kind of a failure.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum ErrorCode {
            $($variant,)*
        }

        /// Name, meaning and advice of each, in the order of the guide's table.
        const TABLE: &[(&str, &str, &str)] = &[$(($name, $meaning, $advice),)*];

        impl ErrorCode {
            /// Every code.
            #[cfg(test)]
            pub(crate) const ALL: &[Self] = &[$(Self::$variant,)*];
        }
    };
}

codes! {
    Usage = "usage",
        "the command makes no sense as given",
        "correct the arguments: --help says what there is";
    SourceMissing = "source-missing",
        "there is no such file to send",
        "correct the file's name";
    SourceUnreadable = "source-unreadable",
        "a file cannot be read",
        "allow this user to read it";
    SourceNotAFile = "source-not-a-file",
        "only regular files can be sent: a folder, a pipe or a device cannot",
        "pack a folder, and send a stream as `-`";
    SourceChanged = "source-changed",
        "a file vanished or changed while it was sent",
        "send it again when nobody writes to it";
    StdinFailed = "stdin-failed",
        "the standard input is closed or a terminal, could not be read to its end, or not be kept until then",
        "pipe something into the command, mend what is before the pipe, or let TMPDIR name a folder with room";
    CaptureFailed = "capture-failed",
        "the file of `--capture` is there already, or cannot be made",
        "remove it, or name another";
    TooManyFiles = "too-many-files",
        "more files than one transfer can have",
        "pack them, or send them in parts";
    DestinationUnusable = "destination-unusable",
        "the folder of `--dir` is missing or cannot be written to",
        "make it, or name another";
    CannotListen = "cannot-listen",
        "the address of `--listen` cannot be used: another program has it, or it is not of this machine",
        "end the other program, or choose another address or port";
    SocketFailed = "socket-failed",
        "the system refused the socket",
        "look at this machine's network";
    DeviceFailed = "device-failed",
        "the TUN device of `--transport tcp` or `scps-tp` cannot be used, is gone, or is not where the \
         kernel sends what is for the address",
        "make it as docs/guide/tcp.md says";
    AddressUnknown = "address-unknown",
        "the receiver's name has no address",
        "correct the name";
    PeerAbsent = "peer-absent",
        "the machine is there, and nothing receives at that port",
        "start `skyhaul receive` there, or correct the address";
    PeerGone = "peer-gone",
        "the other end was there, and is no more: it ended or started anew",
        "start it again, then send again";
    NoAnswer = "no-answer",
        "the receiver never answered",
        "check the address, that `skyhaul receive` waits there, and firewalls";
    GaveUp = "gave-up",
        "the other end gave no sign of life, or answered nothing that was sent, for as long as `--give-up` says",
        "send again when the link is back, or wait longer by --give-up";
    Stalled = "stalled",
        "the other end was there, and took or brought nothing, or told no result, or the files here could not be read on, for as long as `--give-up` says",
        "look at the other end and its disk, or the one here, then send again";
    GaveWay = "gave-way",
        "the receiver ended a transfer that had brought nothing for some seconds, as others wanted its place",
        "send again when the link is back";
    PeerBusy = "peer-busy",
        "the receiver has no room for one more transfer, and had none for as long as `--give-up` says",
        "send again later";
    PeerAborted = "peer-aborted",
        "the other end broke the transfer off",
        "ask there why, then send again";
    StreamEnded = "stream-ended",
        "the connection ended before the transfer did",
        "send again";
    Version = "version",
        "the two ends speak no common version",
        "install a skyhaul of a fitting version at both ends";
    Protocol = "protocol",
        "what came is no file transfer of skyhaul, or is damaged; or the receiver confirmed what was never sent",
        "check that skyhaul is at both ends, and send again";
    Exists = "exists",
        "the receiver has a file of this name",
        "rename it, or start the receiver with --overwrite";
    Name = "name",
        "the name cannot be that of a file there",
        "rename the file";
    TooLarge = "too-large",
        "the file is larger than the receiver takes (`--max-size`), or than any can be",
        "split the file, or ask for a larger --max-size";
    NoSpace = "no-space",
        "the receiver's disk has no room for it",
        "make room there, then send again";
    Storage = "storage",
        "the receiver could not write the file",
        "look at the receiver's disk";
    Damaged = "damaged",
        "the file stayed damaged however often it was sent",
        "check the memory and disks of both machines";
    Refused = "refused",
        "the file was stopped since the receiver refused it",
        "ask there why";
    Unfinished = "unfinished",
        "the session ended before the file's result was known",
        "see the error of the session, then send it again";
    FilesFailed = "files-failed",
        "several files failed, for different reasons",
        "see the errors of `files`";
    KeysUnusable = "keys-unusable",
        "this machine's identity, its peers or their counters cannot be read, trusted or written",
        "do what the message says: mend the file's permissions, put it back from a copy, or make room";
    PairingFailed = "pairing-failed",
        "the machines were not paired: wrong code, different modes, another version, or nobody came",
        "do what the message says, with a new code";
    PeerKnown = "peer-known",
        "a machine of this name or with this key is known already, or the name or key is this machine's own",
        "choose another name, or remove the one that is known";
    PeerUnknown = "peer-unknown",
        "no machine of this name, or at this address, is known, or has leave to send files here",
        "see `skyhaul peers list`; pair with it (docs/guide/protection.md), or add `--plain` at both ends";
    Interrupted = "interrupted",
        "a signal ended this command",
        "start it again to send what is missing";
    OutputFailed = "output-failed",
        "the result could not be written to standard output",
        "make room where that goes";
    Other = "other",
        "none of these",
        "read the message";
}

impl ErrorCode {
    /// Name for programs.
    pub(crate) fn name(self) -> &'static str {
        self.row().0
    }

    /// Meaning, for the guide.
    #[cfg(test)]
    pub(crate) fn meaning(self) -> &'static str {
        self.row().1
    }

    /// Advice to whoever meets it.
    pub(crate) fn advice(self) -> &'static str {
        self.row().2
    }

    /// Exit code of a command that ends by it.
    pub(crate) fn exit_code(self) -> u8 {
        if self == Self::Usage { 2 } else { 1 }
    }

    fn row(self) -> (&'static str, &'static str, &'static str) {
        TABLE[self as usize] // made of the same list as the enum
    }
}

#[cfg(test)]
#[path = "code_tests.rs"]
mod tests;
