#!/usr/bin/env bash
# The results that a change of the code's shape must not change, written to a folder:
#
#     contrib/baseline.sh DIR [BINARY]          all of it: minutes on two cores
#     contrib/baseline.sh --quick DIR [BINARY]  scenarios with one seed each: a minute
#
# BINARY is target/release/skyhaul unless named. Two folders are compared by contrib/compare.sh.
# With valgrind, the instructions of two transfers are counted, too.
set -euo pipefail
quick=
if [ "${1-}" = --quick ]; then quick=yes; shift; fi
out=${1:?usage: contrib/baseline.sh [--quick] DIR [BINARY]}
binary=$(realpath "${2:-target/release/skyhaul}")
mkdir -p "$out"
out=$(realpath "$out")
cd "$(dirname "$0")/.."

seeds=5
[ -n "$quick" ] && seeds=1
for file in scenarios/*.toml; do
    name=$(basename "$file" .toml)
    "$binary" simulate "$file" --replications "$seeds" --out "$out/scenarios/$name" --quiet --csv >"$out/$name.csv"
done
[ -n "$quick" ] && exit 0

for paper in xstp stp; do
    "$binary" reproduce "$paper" --quick --out "$out/$paper" --json >"$out/$paper.json"
done
"$binary" scoreboard --simulated --runs 3 --out "$out/scoreboard" --csv >"$out/scoreboard.csv"

if command -v valgrind >/dev/null; then
    count() { # label, scenario settings...
        local label=$1
        shift
        valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" simulate scenarios/geo.toml \
            --jobs 1 --quiet --csv "$@" 2>&1 >/dev/null | sed -n "s/.*Collected : \([0-9]*\).*/$label \1/p"
    }
    {
        count "geo 20 MB, rate declared" --set flows.file.workload.size=20MB
        count "geo 100 MB, bit errors 1e-6, rate declared" --set flows.file.workload.size=100MB \
            --set links.geo.forward.bit_error_rate=1e-6
    } >"$out/instructions.txt"
else
    echo "baseline: no valgrind: instructions were not counted" >&2
fi
