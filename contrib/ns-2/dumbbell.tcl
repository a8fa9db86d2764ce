# Many TCP SACK flows over one bottleneck: the speed of ns-2, beside
# `cargo bench -p skyhaul-sim --bench network`, which has the same network.
#
#   time ns dumbbell.tcl 20 10 600            (a)
#   time ns dumbbell.tcl 1000 100 60          (b)
#
# FLOWS, Mbit/s, seconds. 20 pairs of hosts; edges of 1 Gbit/s and 1 ms; 273 ms in the middle, with a queue of one
# bandwidth-delay product each way. Packets of 1000 bytes, 40 of them header. No more packet headers are switched on
# than TCP needs, which makes ns-2 about a third faster than a script that does not care.
set flows [lindex $argv 0]
set mbit [lindex $argv 1]
set seconds [lindex $argv 2]
set pairs 20
remove-all-packet-headers
add-packet-header IP TCP Flags
set ns [new Simulator]
set bdp [expr int($mbit * 1e6 / 8 * 0.550 / 1000)]
set west [$ns node]
set east [$ns node]
$ns duplex-link $west $east ${mbit}Mb 273ms DropTail
$ns queue-limit $west $east $bdp
$ns queue-limit $east $west $bdp
for {set i 0} {$i < $pairs} {incr i} {
    set a($i) [$ns node]
    set b($i) [$ns node]
    $ns duplex-link $a($i) $west 1Gb 1ms DropTail
    $ns duplex-link $east $b($i) 1Gb 1ms DropTail
    foreach {x y} [list $a($i) $west $west $a($i) $east $b($i) $b($i) $east] { $ns queue-limit $x $y 100000 }
}
Agent/TCP set packetSize_ 960
Agent/TCP set window_ 250
Agent/TCP set windowInit_ 1
Agent/TCP set tcpTick_ 0.5
Agent/TCP set minrto_ 1.0
Agent/TCPSink/Sack1/DelAck set interval_ 0.2
for {set n 0} {$n < $flows} {incr n} {
    set i [expr $n % $pairs]
    set tcp($n) [new Agent/TCP/Sack1]
    set sink($n) [new Agent/TCPSink/Sack1/DelAck]
    $ns attach-agent $a($i) $tcp($n)
    $ns attach-agent $b($i) $sink($n)
    $ns connect $tcp($n) $sink($n)
    set ftp($n) [new Application/FTP]
    $ftp($n) attach-agent $tcp($n)
    $ns at [expr $i * 0.005 + ($n / $pairs) * 0.1] "$ftp($n) start"
}
set forward [$ns monitor-queue $west $east ""]
set reverse [$ns monitor-queue $east $west ""]
proc finish {} {
    global flows mbit seconds tcp forward reverse
    set data 0
    for {set n 0} {$n < $flows} {incr n} { incr data [expr [$tcp($n) set ack_] + 1] }
    set drops [$forward set pdrops_]
    # Every packet that passes the middle makes three hops; one that is dropped there has made one.
    set hops [expr 3 * ([$forward set pdepartures_] + [$reverse set pdepartures_]) + $drops]
    set share [expr [$forward set bdepartures_] * 8.0 / ($mbit * 1e6 * $seconds)]
    puts "$data data packets delivered, $hops hops, $drops drops, utilisation [format %.3f $share]"
    exit 0
}
$ns at $seconds finish
$ns run
