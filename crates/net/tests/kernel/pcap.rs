//! A capture file of IP packets (`LINKTYPE_RAW`), as tshark reads it.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

pub(crate) struct Pcap {
    file: BufWriter<File>,
    packets: u32,
}

impl Pcap {
    pub(crate) fn new(path: &Path) -> Self {
        let mut file = BufWriter::new(File::create(path).unwrap());
        let header: [u32; 6] = [0xa1b2_c3d4, 2 | 4 << 16, 0, 0, 65_535, 101];
        file.write_all(&words(&header)).unwrap();
        Self { file, packets: 0 }
    }

    /// Packets are stamped by their place, a millisecond apart.
    pub(crate) fn write(&mut self, packet: &[u8]) {
        let length = packet.len() as u32;
        let record = [self.packets / 1000, self.packets % 1000 * 1000, length, length];
        self.file.write_all(&words(&record)).unwrap();
        self.file.write_all(packet).unwrap();
        self.packets += 1;
    }
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}
