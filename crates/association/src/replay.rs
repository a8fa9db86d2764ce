//! Replay window: which numbers arrived, so that none is taken twice [RFC 4303 3.4.3, RFC 6479].

/// Numbers below the highest one that are told apart. What is further behind is refused.
pub const REPLAY_WINDOW: u64 = 4096;

/// Words of the ring: one more than the window needs, so that a word is cleared as a whole.
const WORDS: usize = REPLAY_WINDOW as usize / WORD_BITS as usize + 1;
const WORD_BITS: u64 = u64::BITS as u64;

/// Reason why a number is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    /// It was taken before.
    Copy,
    /// It is so far behind the highest one that nobody knows.
    Old,
}

/// Numbers that were taken: a bitmap as a ring of words, of fixed size.
#[derive(Clone, Debug)]
pub struct ReplayWindow {
    words: [u64; WORDS],
    /// Number above the highest one taken.
    next: u64,
}

impl ReplayWindow {
    /// Window in which nothing was taken.
    pub const fn new() -> Self {
        Self { words: [0; WORDS], next: 0 }
    }

    /// Number above the highest one taken; 0 if none was.
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Refusal of a number that [`Self::take`] would not take.
    pub fn check(&self, number: u64) -> Result<(), Replay> {
        if number >= self.next {
            return Ok(());
        }
        if self.next - number > REPLAY_WINDOW {
            return Err(Replay::Old);
        }
        let (word, bit) = place(number);
        if self.words[word] & bit == 0 { Ok(()) } else { Err(Replay::Copy) }
    }

    /// Takes a number (below 2^63), once. Call it when the datagram is proven to be genuine, not before.
    pub fn take(&mut self, number: u64) -> Result<(), Replay> {
        self.check(number)?;
        if number >= self.next {
            self.clear_up_to(number);
            self.next = number + 1;
        }
        let (word, bit) = place(number);
        self.words[word] |= bit;
        Ok(())
    }

    /// Clears the words that come into the window when `number` becomes the highest.
    fn clear_up_to(&mut self, number: u64) {
        let highest_word = self.next.checked_sub(1).map_or(0, |highest| highest / WORD_BITS + 1);
        let new_words = (number / WORD_BITS + 1).saturating_sub(highest_word);
        for step in 0..new_words.min(WORDS as u64) {
            self.words[((highest_word + step) % WORDS as u64) as usize] = 0;
        }
        if new_words > WORDS as u64 {
            self.words = [0; WORDS];
        }
    }
}

impl Default for ReplayWindow {
    fn default() -> Self {
        Self::new()
    }
}

/// Word and bit of a number.
const fn place(number: u64) -> (usize, u64) {
    ((number / WORD_BITS % WORDS as u64) as usize, 1 << (number % WORD_BITS))
}
