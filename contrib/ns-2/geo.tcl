# One TCP over a geostationary bottleneck: 1.5 Mbit/s, round trip 532 ms, a queue of 19 packets.
# The scenario scenarios/tcp-geo.toml is the same for skyhaul; docs/spec/tcp-cross-check.md compares them.
#
#   ns geo.tcl KIND [WINDOW] [SECONDS]        KIND: reno, newreno or sack; WINDOW in packets
#
# Packets have 1000 bytes, 40 of them header. Acknowledgements are delayed by 100 ms; the window begins with one
# packet; timers have 500 ms and wait at least 1 s. ns-2 begins slow start with a threshold of WINDOW.
set kind [expr {$argc > 0 ? [lindex $argv 0] : "sack"}]
set window [expr {$argc > 1 ? [lindex $argv 1] : 1000}]
set seconds [expr {$argc > 2 ? [lindex $argv 2] : 60}]
switch $kind {
    reno    { set sender Agent/TCP/Reno;    set receiver Agent/TCPSink/DelAck }
    newreno { set sender Agent/TCP/Newreno; set receiver Agent/TCPSink/DelAck }
    sack    { set sender Agent/TCP/Sack1;   set receiver Agent/TCPSink/Sack1/DelAck }
    default { puts stderr "geo.tcl: $kind is neither reno, newreno nor sack"; exit 2 }
}
set ns [new Simulator]
foreach name {a west east b} { set node($name) [$ns node] }
$ns duplex-link $node(a) $node(west) 100Mb 1ms DropTail
$ns duplex-link $node(west) $node(east) 1.5Mb 264ms DropTail
$ns duplex-link $node(east) $node(b) 100Mb 1ms DropTail
$ns queue-limit $node(west) $node(east) 19
$ns queue-limit $node(a) $node(west) 10000
Agent/TCP set packetSize_ 960
Agent/TCP set window_ $window
Agent/TCP set windowInit_ 1
Agent/TCP set tcpTick_ 0.5
Agent/TCP set minrto_ 1.0
Agent/TCPSink/DelAck set interval_ 0.1
Agent/TCPSink/Sack1/DelAck set interval_ 0.1
set tcp [new $sender]
set sink [new $receiver]
$ns attach-agent $node(a) $tcp
$ns attach-agent $node(b) $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
proc sample {} {
    global ns tcp
    puts [format "%.1f s  cwnd %.1f  ssthresh %d  acked %d" [$ns now] [$tcp set cwnd_] [$tcp set ssthresh_] [expr [$tcp set ack_] + 1]]
    $ns at [expr [$ns now] + 1.0] sample
}
proc finish {} {
    global kind tcp seconds
    set packets [expr [$tcp set ack_] + 1]
    puts [format "%s: %.1f kbit/s payload, %d packets, %d repeats, %d timeouts" $kind \
        [expr $packets * 960 * 8.0 / $seconds / 1000] $packets [$tcp set nrexmitpack_] [$tcp set nrexmit_]]
    exit 0
}
$ns at 0.0 "$ftp start"
if {[info exists env(SAMPLES)]} { $ns at 0.0 sample }
$ns at $seconds finish
$ns run
