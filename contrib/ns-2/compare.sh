#!/usr/bin/env bash
# skyhaul's TCP beside that of ns-2 on the network of geo.tcl and scenarios/tcp-geo.toml (docs/spec/tcp-cross-check.md):
#
#     contrib/ns-2/compare.sh queues KIND TICK [QUEUE...]       one flow, 60 s; 10 to 40 packets unless said; TICK: the
#                                                               clock of timers in ms, 500 in geo.tcl
#     contrib/ns-2/compare.sh two-way KIND TICK [QUEUE...]      two flows, one each way, eight starts of the second
#     contrib/ns-2/compare.sh trace QUEUE FROM TO               SACK, 60 s: what left the sender and what the
#                                                               bottleneck dropped in each tenth of a second
#     contrib/ns-2/compare.sh silences KIND QUEUE START         two flows, the second from START s on, 60 s: silences of
#                                                               its sender of 0.9 s and more, which timers end
#
# KIND is reno, newreno or sack. `ns` must be installed; SKYHAUL names the binary, `skyhaul` unless said.
set -euo pipefail
cd "$(dirname "$0")/../.."
skyhaul=${SKYHAUL:-skyhaul}
for program in ns "$skyhaul"; do
    command -v "$program" >/dev/null || { echo "compare.sh: no $program" >&2; exit 1; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mode=${1:?queues, two-way, trace or silences}
shift

# kbit/s of payload, repeats, timeouts: of both flows together where there are two.
theirs() { # KIND QUEUE TICK
    TICK=$(awk "BEGIN { print $3 / 1000 }") ns contrib/ns-2/geo.tcl "$1" 1000 60 "$2" | awk '{
        for (i = 2; i <= NF; i++) { if ($i == "kbit/s") kbits += $(i - 1)
            if ($i ~ /^repeats/) repeats += $(i - 1); if ($i == "timeouts") timeouts += $(i - 1) } }
        END { printf "%.1f %d %d\n", kbits, repeats, timeouts }'
}
# kbit/s of payload and repeats, of all flows of a file; further arguments are those of `skyhaul simulate`.
ours() { # FILE KIND QUEUE TICK ...
    local file=$1 kind=$2 queue=$3 tick=$4
    shift 4
    "$skyhaul" simulate "$file" --csv --quiet --set "sweep.\"transports.tcp.recovery\"=[\"$kind\"]" \
        --set "links.space.forward.queue=\"${queue}packets\"" \
        --set "transports.tcp.timer_granularity=\"${tick}ms\"" \
        --set 'metrics.wanted=["payload_bytes", "retransmitted_packets"]' "$@" |
        awk -F, '$3 == "payload_bytes" { bits = 8 * $5 } $3 == "retransmitted_packets" { repeats = $5 }
            END { printf "%.1f %d\n", bits / 60 / 1000, repeats }'
}

# The scenario with a second flow, the other way.
write_two_way() {
    sed 's/^\[metrics\]/[flows.back]\nfrom = "receiver"\nto = "sender"\ntransport = "tcp"\nworkload = { kind = "bulk" }\n\n&/' \
        scenarios/tcp-geo.toml >"$scratch/two-way.toml"
}

case $mode in
queues)
    kind=$1 tick=$2
    shift 2
    [ $# -gt 0 ] || set -- $(seq 10 40)
    echo "queue  ns-2 kbit/s  repeats  ours kbit/s  repeats  ours/ns-2"
    for queue; do
        echo "$queue $(theirs "$kind" "$queue" "$tick") $(ours scenarios/tcp-geo.toml "$kind" "$queue" "$tick")"
    done | awk '{ printf "%5d  %11.1f  %7d  %11.1f  %7d  %9.3f\n", $1, $2, $3, $5, $6, $5 / $2 }'
    ;;
two-way)
    kind=$1 tick=$2
    shift 2
    [ $# -gt 0 ] || set -- 10 15 19 25 30 40 60 100
    write_two_way
    echo "queue  ns-2 kbit/s  repeats  timeouts  ours kbit/s  repeats  ours/ns-2    (means of 8 starts, both flows together)"
    for queue; do
        for start in 0.1 0.7 1.3 1.9 2.7 3.3 4.1 5.0; do
            echo "$queue $(BACK=$start theirs "$kind" "$queue" "$tick")" \
                "$(ours "$scratch/two-way.toml" "$kind" "$queue" "$tick" --set "flows.back.start=\"${start}s\"" \
                    --set "links.space.reverse.queue=\"${queue}packets\"")"
        done
    done | awk '{ n[$1]++; a[$1] += $2; b[$1] += $3; c[$1] += $4; d[$1] += $5; e[$1] += $6; if (n[$1] == 1) order[++m] = $1
            all_theirs += $2; all_ours += $5 }
        END { for (i = 1; i <= m; i++) { q = order[i]
            printf "%5d  %11.1f  %7.1f  %8.1f  %11.1f  %7.1f  %9.3f\n", q, a[q] / n[q], b[q] / n[q], c[q] / n[q], d[q] / n[q], e[q] / n[q], d[q] / a[q] }
            printf "all: %.3f\n", all_ours / all_theirs }'
    ;;
trace)
    queue=$1 from=$2 to=$3
    TRACE=$scratch/ns.tr ns contrib/ns-2/geo.tcl sack 1000 60 "$queue" >/dev/null
    "$skyhaul" simulate scenarios/tcp-geo.toml --quiet --set 'sweep."transports.tcp.recovery"=["sack"]' \
        --set "links.space.forward.queue=\"${queue}packets\"" --capture "$scratch/ours.pcapng" --capture-at sender >/dev/null
    {
        awk '$3 == 0 && $5 == "tcp" && $1 == "+" { print "theirs", "data", $2 }
             $4 == 0 && $5 == "ack" && $1 == "r" { print "theirs", ($11 > last ? "new" : "same"), $2; last = $11 }
             $1 == "d" { print "theirs", "drop", $2 }' "$scratch/ns.tr"
        python3 contrib/ns-2/packets.py "$scratch/ours.pcapng" | sed 's/^/ours /'
    } | awk -v from="$from" -v to="$to" '$3 >= from && $3 < to { n[$1, $2, int($3 * 10 + 1e-6)]++ }
        END { print "           ns-2: sent  new ACKs  duplicates  dropped    ours: sent  new ACKs  duplicates"
            for (t = int(from * 10 + 1e-6); t < int(to * 10 + 1e-6); t++)
                printf "%6.1f s  %10d  %8d  %10d  %7d    %10d  %8d  %10d\n", t / 10, n["theirs", "data", t], n["theirs", "new", t],
                    n["theirs", "same", t], n["theirs", "drop", t], n["ours", "data", t], n["ours", "new", t], n["ours", "same", t] }'
    ;;
silences)
    kind=$1 queue=$2 start=$3
    write_two_way
    TRACE=$scratch/ns.tr BACK=$start ns contrib/ns-2/geo.tcl "$kind" 1000 60 "$queue" >/dev/null
    "$skyhaul" simulate "$scratch/two-way.toml" --quiet --set "sweep.\"transports.tcp.recovery\"=[\"$kind\"]" \
        --set "links.space.forward.queue=\"${queue}packets\"" --set "links.space.reverse.queue=\"${queue}packets\"" \
        --set "flows.back.start=\"${start}s\"" --capture "$scratch/ours.pcapng" --capture-at receiver >/dev/null
    {
        awk '$3 == 3 && $5 == "tcp" && $1 == "+" { print "ns-2", $2 }' "$scratch/ns.tr"
        python3 contrib/ns-2/packets.py "$scratch/ours.pcapng" 10.0.0.4 | awk '$1 == "data" { print "ours", $2 }'
    } | awk '$1 == was && $2 - last >= 0.9 { printf "%s: silent from %.3f s to %.3f s, %.3f s\n", $1, last, $2, $2 - last }
        { was = $1; last = $2 }'
    ;;
*)
    echo "compare.sh: $mode is neither queues, two-way, trace nor silences" >&2
    exit 2
    ;;
esac
