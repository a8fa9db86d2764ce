#!/usr/bin/env python3
"""Packets of one TCP connection at its sender, out of a capture by `skyhaul simulate --capture`, a line each:
data, new (an acknowledgement of more) or same (a duplicate), and the time in seconds.

    packets.py FILE [ADDRESS]      ADDRESS of the sender; the source of the first packet unless said
"""
import struct
import sys

INTERFACE, PACKET, RESOLUTION = 1, 6, 9


def packets(data):
    """(seconds, octets of IP, length on the wire) of each packet, in the order of the file."""
    at, ticks = 0, []
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == INTERFACE:
            power, option = 6, at + 16
            while option < at + length - 4:
                code, size = struct.unpack_from("<HH", data, option)
                if code == 0:
                    break
                if code == RESOLUTION:
                    power = data[option + 4]
                option += 4 + (size + 3) // 4 * 4
            ticks.append(10**power)
        if kind == PACKET:
            interface, high, low, there, length_on_wire = struct.unpack_from("<IIIII", data, at + 8)
            yield (high << 32 | low) / ticks[interface], data[at + 28 : at + 28 + there], length_on_wire
        at += length


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    sender = bytes(int(part) for part in sys.argv[2].split(".")) if len(sys.argv) > 2 else None
    last = None
    for seconds, octets, length in packets(data):
        source, headers = octets[12:16], 4 * (octets[0] & 15) + 4 * (octets[32] >> 4)
        sender = sender or source
        if source == sender:
            if length > headers:
                print(f"data {seconds:.6f}")
            continue
        acknowledged = struct.unpack_from(">I", octets, 28)[0]
        is_new = last is not None and 0 < (acknowledged - last) % 2**32 < 2**31
        print(f"{'new' if last is None or is_new else 'same'} {seconds:.6f}")
        last = acknowledged if last is None or is_new else last


if __name__ == "__main__":
    main()
