#!/usr/bin/env bash
# How fast networks are simulated (`crates/sim/benches/network.rs`):
#
#     contrib/sim-speed.sh [RUNS]     5 unless said
#
# Instructions a packet-hop are counted with valgrind and set beside those in contrib/sim-speed.txt: more than 3 % above
# is a failure. They depend on the compiler and the C library a little; `sim-speed.txt` names those it was written with.
# Where `ns` (ns-2) is installed, both simulate the same networks by turns, (a) with 20 flows of TCP, (b) with 1000, and
# medians of the hops a CPU-second and of their ratios are printed: a busy machine disturbs both alike.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-5}
binary=$(cargo bench -p skyhaul-sim --bench network --no-run --message-format=json 2>/dev/null |
    sed -n 's/.*"executable":"\([^"]*network-[^"]*\)".*/\1/p' | tail -1)
[ -n "$binary" ] || { echo "sim-speed: the benchmark does not build" >&2; exit 1; }

failed=0
if command -v valgrind >/dev/null; then
    while read -r what frozen; do
        case $what in '' | '#'*) continue ;; esac
        out=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" --bench --quick --only "$what" --count 2>&1)
        counted=$(sed -n 's/.*Collected : \([0-9]*\).*/\1/p' <<<"$out")
        hops=$(sed -n 's/.* \([0-9]*\) hops, .*/\1/p' <<<"$out")
        awk -v what="$what" -v n="$counted" -v hops="$hops" -v frozen="$frozen" 'BEGIN {
            printf "%s: %.0f instructions a hop, frozen at %d, ratio %.3f\n", what, n / hops, frozen, n / hops / frozen
            exit n / hops > 1.03 * frozen }' || failed=1
    done <contrib/sim-speed.txt
else
    echo "sim-speed: no valgrind: instructions were not counted" >&2
fi

if ! command -v ns >/dev/null; then
    echo "sim-speed: no ns: nothing to be set beside it" >&2
    exit $failed
fi
TIMEFORMAT='%U %S'
ours() { "$binary" --bench --repeats 1 --only "$1" | sed -n 's/.* \([0-9.]*\) CPU-s, \([0-9]*\) hops.*/\2 \1/p'; }
theirs() {
    local hops seconds
    { seconds=$({ time ns contrib/ns-2/dumbbell.tcl "$@" >"$scratch"; } 2>&1); }
    hops=$(sed -n 's/.* \([0-9]*\) hops.*/\1/p' "$scratch")
    echo "$hops $(awk '{ print $1 + $2 }' <<<"$seconds")"
}
median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT
for network in "tcp-a 20 10 600" "tcp-b 1000 100 60"; do
    read -r what arguments <<<"$network"
    pairs=
    for _ in $(seq "$runs"); do
        # shellcheck disable=SC2086
        pairs+="$(ours "$what") $(theirs $arguments)"$'\n'
    done
    rate() { awk -v hops="$1" 'NF { print $hops / $(hops + 1) / 1e6 }' <<<"$pairs" | median; }
    ratio=$(awk 'NF { print ($1 / $2) / ($3 / $4) }' <<<"$pairs" | median)
    echo "$what: skyhaul $(rate 1), ns-2 $(rate 3) M hops a CPU-second; ratio $ratio (medians of $runs, by turns)"
done
exit $failed
