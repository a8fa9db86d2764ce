//! Time in which this process was ready to run and had no processor, as the system counts it.

/// Time in ns for which the thread that drives transfers, this process's first, has waited for a processor
/// since it began; `None`: the system does not tell.
pub(crate) fn waited_ns() -> Option<u64> {
    parse(&std::fs::read_to_string("/proc/self/schedstat").ok()?)
}

/// Waiting out of the line of that file: time on a processor, time ready without one, both in ns, and turns.
/// A system that does not count says that there was no turn.
fn parse(line: &str) -> Option<u64> {
    let mut numbers = line.split_ascii_whitespace().map(|word| word.parse::<u64>().ok());
    let [_ran, waited, turns] = [numbers.next()??, numbers.next()??, numbers.next()??];
    (turns > 0).then_some(waited)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_number_is_the_waiting_where_the_system_counts() {
        assert_eq!(parse("844340252 1959876682 6821\n"), Some(1_959_876_682));
        for line in ["", "0 0 0", "1 2", "1 x 3"] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
