# One TCP over a geostationary bottleneck: 1.5 Mbit/s, round trip 532 ms, a queue of 19 packets unless said.
# The scenario scenarios/tcp-geo.toml is the same for skyhaul; docs/spec/tcp-cross-check.md compares them.
#
#   ns geo.tcl KIND [WINDOW] [SECONDS] [QUEUE]        KIND: reno, newreno or sack; WINDOW and QUEUE in packets
#
# In the environment: TRACE=FILE takes every packet at the senders and at the bottleneck, in ns-2's format; BACK=SECONDS
# starts a second flow, the other way, then, over a queue as long; TICK=SECONDS is the clock's instead of 0.5.
# Packets have 1000 bytes, 40 of them header. Acknowledgements are delayed by 100 ms; the window begins with one
# packet; timers have 500 ms and wait at least 1 s. ns-2 begins slow start with a threshold of WINDOW.
set kind [expr {$argc > 0 ? [lindex $argv 0] : "sack"}]
set window [expr {$argc > 1 ? [lindex $argv 1] : 1000}]
set seconds [expr {$argc > 2 ? [lindex $argv 2] : 60}]
set queue [expr {$argc > 3 ? [lindex $argv 3] : 19}]
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
$ns queue-limit $node(west) $node(east) $queue
$ns queue-limit $node(a) $node(west) 10000
$ns queue-limit $node(b) $node(east) 10000
# What the other way has no data on has room for all acknowledgements, as without a second flow nothing else waits there.
$ns queue-limit $node(east) $node(west) [expr {[info exists env(BACK)] ? $queue : 10000}]
Agent/TCP set packetSize_ 960
Agent/TCP set window_ $window
Agent/TCP set windowInit_ 1
Agent/TCP set tcpTick_ [expr {[info exists env(TICK)] ? $env(TICK) : 0.5}]
Agent/TCP set minrto_ 1.0
Agent/TCPSink/DelAck set interval_ 0.1
Agent/TCPSink/Sack1/DelAck set interval_ 0.1
if {[info exists env(TRACE)]} {
    set trace [open $env(TRACE) w]
    foreach {x y} {a west west a west east b east} { $ns trace-queue $node($x) $node($y) $trace }
}
proc transfer {number from to start} {
    global ns node sender receiver tcp
    set tcp($number) [new $sender]
    set sink [new $receiver]
    $ns attach-agent $node($from) $tcp($number)
    $ns attach-agent $node($to) $sink
    $ns connect $tcp($number) $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($number)
    $ns at $start "$ftp start"
}
transfer 0 a b 0.0
if {[info exists env(BACK)]} { transfer 1 b a $env(BACK) }
proc sample {} {
    global ns tcp
    puts [format "%.1f s  cwnd %.1f  ssthresh %d  acked %d" [$ns now] [$tcp(0) set cwnd_] [$tcp(0) set ssthresh_] [expr [$tcp(0) set ack_] + 1]]
    $ns at [expr [$ns now] + 1.0] sample
}
proc finish {} {
    global kind tcp seconds ns
    $ns flush-trace
    foreach number [lsort [array names tcp]] {
        set packets [expr [$tcp($number) set ack_] + 1]
        puts [format "%s: %.1f kbit/s payload, %d packets, %d repeats, %d timeouts" $kind \
            [expr $packets * 960 * 8.0 / $seconds / 1000] $packets \
            [$tcp($number) set nrexmitpack_] [$tcp($number) set nrexmit_]]
    }
    exit 0
}
if {[info exists env(SAMPLES)]} { $ns at 0.0 sample }
$ns at $seconds finish
$ns run
