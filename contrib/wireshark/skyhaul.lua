-- Dissector of skyhaul for Wireshark and tshark: the envelope of datagrams over UDP (docs/spec/envelope.md),
-- STP (docs/spec/stp.md), and the records of the file protocol (docs/spec/files.md) in STP and in TCP.
-- README.md beside this file says how to use it. Paragraphs named below are those of the specifications.

local bxor = (bit32 or bit or {}).bxor or load("return function(a, b) return a ~ b end")()

local envelope = Proto("skyhaul", "skyhaul's envelope")
local stp = Proto("skystp", "Satellite Transport Protocol")
local files = Proto("skyfiles", "skyhaul's file protocol")

-- Ports of UDP that are skyhaul's whatever Wireshark knows them for: that of `receive`, that of simulated
-- hosts. On others it is known by its checksum.
envelope.prefs.ports = Pref.range("UDP ports", "4000,4700", "UDP ports of skyhaul", 65535)
stp.prefs.check = Pref.bool("Check the checksum", true, "Checks the CRC of each segment")
-- Ports of STP at which files are received.
stp.prefs.files = Pref.bool("Read the file protocol", true, "Reads the records at STP ports 1, 2 and 4")

local function bit_of(value, mask)
    return math.floor(value / mask) % 2 == 1
end

---------------------------------------------------------------------------------------------------------------
-- Fields
---------------------------------------------------------------------------------------------------------------

local TYPES = {
    { 0x01, "SD", "sd" },
    { 0x02, "POLL", "poll" },
    { 0x04, "STAT", "stat" },
    { 0x08, "USTAT", "ustat" },
    { 0x10, "BGN", "bgn" },
    { 0x20, "BGNAK", "bgnak" },
    { 0x40, "END", "end" },
    { 0x80, "ENDAK", "endak" },
}
local RST, BLOCK, REPAIR, PIECE = 0xF0, 0x14, 0x18, 0x1C
-- Least octets of a piece that is not the last one of its packet.
local MIN_PIECE = 128
local REASONS = { [1] = "refused", [2] = "unknown connection", [3] = "aborted", [4] = "protocol", [5] = "busy" }
local OPTIONS = { [1] = "timing", [2] = "repairs", [3] = "increments", [4] = "padding", [5] = "pieces",
    [6] = "feedback" }
local CODINGS = { [0] = "no gap list", [1] = "varint", [2] = "Rice", [3] = "malformed" }

local e = {
    version = ProtoField.uint8("skyhaul.version", "Version", base.DEC, nil, 0xE0),
    mode = ProtoField.uint8("skyhaul.mode", "Mode", base.DEC, { [0] = "plain" }, 0x1C),
    path_header = ProtoField.bool("skyhaul.path_header", "Path header", 8, nil, 0x02),
    reserved = ProtoField.bool("skyhaul.reserved", "Reserved", 8, nil, 0x01),
    routers = ProtoField.uint8("skyhaul.path.routers", "Routers passed", base.DEC, nil, 0x0F),
    inter_packet = ProtoField.uint32("skyhaul.path.x", "X (2^-28 s)"),
    rtt = ProtoField.uint32("skyhaul.path.rtt", "RTT (2^-28 s)"),
    reverse = ProtoField.int32("skyhaul.path.reverse", "Reverse feedback (octets/s)"),
    delta = ProtoField.int32("skyhaul.path.delta", "Delta throughput (octets/s)"),
}
envelope.fields = e

local s = {
    source_port = ProtoField.uint16("skystp.srcport", "Source port"),
    destination_port = ProtoField.uint16("skystp.dstport", "Destination port"),
    types = ProtoField.uint8("skystp.type", "Type", base.HEX),
    names = ProtoField.string("skystp.types", "Types"),
    number = ProtoField.uint24("skystp.number", "Packet number"),
    checksum = ProtoField.uint16("skystp.checksum", "Checksum", base.HEX),
    checksum_ok = ProtoField.bool("skystp.checksum.good", "Checksum is right"),
    instance = ProtoField.uint16("skystp.instance", "Instance", base.HEX),
    opening_version = ProtoField.uint8("skystp.opening.version", "Version"),
    opening_flags = ProtoField.uint8("skystp.opening.flags", "Flags", base.HEX),
    max_payload = ProtoField.uint16("skystp.opening.max_payload", "Largest payload"),
    initial = ProtoField.uint24("skystp.opening.initial", "Initial number"),
    option_octets = ProtoField.uint8("skystp.opening.option_octets", "Option octets"),
    opening_window = ProtoField.uint32("skystp.opening.window", "Window"),
    nonce = ProtoField.uint64("skystp.opening.nonce", "Nonce", base.HEX),
    option_kind = ProtoField.uint8("skystp.option.kind", "Kind", base.DEC, OPTIONS),
    option_length = ProtoField.uint8("skystp.option.length", "Length"),
    option_value = ProtoField.bytes("skystp.option.value", "Value"),
    timestamp = ProtoField.uint32("skystp.poll.timestamp", "Timestamp", base.HEX),
    next = ProtoField.uint24("skystp.poll.next", "Next number"),
    pads = ProtoField.bool("skystp.poll.padding", "P: the data is padding", 8, nil, 0x04),
    spares = ProtoField.bool("skystp.poll.no_ustat", "N: no USTATs", 8, nil, 0x02),
    settles = ProtoField.bool("skystp.poll.has_settled", "S: settled number", 8, nil, 0x01),
    settled = ProtoField.uint24("skystp.poll.settled", "Settled number"),
    echo = ProtoField.uint32("skystp.stat.echo", "Echo", base.HEX),
    report_next = ProtoField.uint24("skystp.report.next", "Next expected"),
    has_feedback = ProtoField.bool("skystp.report.has_feedback", "F: feedback", 8, nil, 0x40),
    is_increment = ProtoField.bool("skystp.report.increment", "I: increment", 8, nil, 0x20),
    has_repairs = ProtoField.bool("skystp.report.repairs", "R: repairs", 8, nil, 0x10),
    has_timing = ProtoField.bool("skystp.report.timing", "T: timing", 8, nil, 0x08),
    more = ProtoField.bool("skystp.report.more", "M: more parts follow", 8, nil, 0x04),
    coding = ProtoField.uint8("skystp.report.coding", "C: coding", base.DEC, CODINGS, 0x03),
    window = ProtoField.uint32("skystp.report.window", "Window"),
    clock = ProtoField.uint32("skystp.report.clock", "Clock"),
    octets = ProtoField.uint32("skystp.report.octets", "Octets"),
    feedback = ProtoField.int32("skystp.report.feedback", "Feedback (octets/s)"),
    routers = ProtoField.uint8("skystp.report.routers", "Routers"),
    wanting_block = ProtoField.uint8("skystp.report.block", "Block"),
    wanting = ProtoField.uint32("skystp.report.wanting", "Wanting"),
    silent_start = ProtoField.uint32("skystp.report.silent_start", "Silent start"),
    silent_count = ProtoField.uint32("skystp.report.silent_count", "Silent count"),
    start = ProtoField.uint32("skystp.report.start", "Start"),
    count = ProtoField.uint32("skystp.report.count", "Count"),
    run = ProtoField.uint32("skystp.report.run", "Run"),
    missing = ProtoField.string("skystp.report.missing", "Missing"),
    missing_packets = ProtoField.uint32("skystp.report.missing_packets", "Missing packets"),
    end_number = ProtoField.uint24("skystp.end.number", "End number"),
    reason = ProtoField.uint8("skystp.rst.reason", "Reason", base.DEC, REASONS),
    block = ProtoField.uint8("skystp.block.block", "Block"),
    block_coding = ProtoField.uint8("skystp.block.coding", "Coding", base.DEC, CODINGS, 0x03),
    block_count = ProtoField.uint32("skystp.block.count", "Count"),
    block_run = ProtoField.uint32("skystp.block.run", "Run"),
    block_packets = ProtoField.uint32("skystp.block.packets", "Packets of a size"),
    block_bytes = ProtoField.uint32("skystp.block.bytes", "Their payload"),
    repair_block = ProtoField.uint8("skystp.repair.block", "Block"),
    symbol = ProtoField.uint16("skystp.repair.symbol", "Symbol"),
    repair = ProtoField.bytes("skystp.repair.data", "Repair symbol"),
    piece_offset = ProtoField.uint16("skystp.piece.offset", "Offset"),
    piece_total = ProtoField.uint16("skystp.piece.total", "Total"),
    piece = ProtoField.bytes("skystp.piece.data", "Piece of a packet"),
    padding = ProtoField.bytes("skystp.padding", "Padding"),
    data = ProtoField.bytes("skystp.data", "Data"),
    data_length = ProtoField.uint32("skystp.len", "Octets of data"),
}
for _, type in ipairs(TYPES) do
    s["is_" .. type[3]] = ProtoField.bool("skystp.type." .. type[3], type[2], 8, nil, type[1])
end
stp.fields = s

local KINDS = {
    [0x01] = "FILE", [0x02] = "CHUNK", [0x03] = "END", [0x04] = "ABORT",
    [0x81] = "DELIVERED", [0x82] = "FAILED", [0x83] = "AGAIN", [0x84] = "STOP",
}
local WHY = {
    [0] = "other", [1] = "a file of this name exists", [2] = "the name cannot be used", [3] = "the file is too large",
    [4] = "not enough space", [5] = "the destination cannot be written", [6] = "chunks stayed damaged",
    [7] = "the chunks do not make up the file digest", [8] = "the file changed, vanished, shrank or grew",
    [9] = "the file cannot be read", [10] = "stopped, because the receiver gave it up",
    [11] = "the protocol was broken", [12] = "the version is not known", [13] = "the session ended first",
}
local f = {
    version = ProtoField.uint8("skyfiles.version", "Version"),
    files = ProtoField.uint32("skyfiles.files", "Files"),
    payload = ProtoField.uint64("skyfiles.payload", "Payload octets"),
    check = ProtoField.uint32("skyfiles.check", "Check", base.HEX),
    kind = ProtoField.uint8("skyfiles.kind", "Kind", base.HEX, KINDS),
    flags = ProtoField.uint8("skyfiles.flags", "Flags", base.HEX),
    length = ProtoField.uint16("skyfiles.length", "Length of body"),
    file = ProtoField.uint32("skyfiles.file", "File number"),
    size = ProtoField.uint64("skyfiles.size", "Size"),
    modified = ProtoField.int64("skyfiles.modified", "Modified, s since 1970"),
    modified_ns = ProtoField.uint32("skyfiles.modified_ns", "and ns"),
    name = ProtoField.string("skyfiles.name", "Name"),
    chunk = ProtoField.uint32("skyfiles.chunk", "Chunk number"),
    chunk_length = ProtoField.uint32("skyfiles.chunk_length", "Length of data"),
    digest = ProtoField.bytes("skyfiles.digest", "Digest"),
    cut = ProtoField.uint8("skyfiles.cut", "Behind a portion of a chunk, which ends early", base.HEX),
    reason = ProtoField.uint8("skyfiles.reason", "Reason", base.DEC, WHY),
    text = ProtoField.string("skyfiles.text", "Text"),
    count = ProtoField.uint32("skyfiles.count", "Count"),
    receipt = ProtoField.bytes("skyfiles.receipt", "Receipt"),
    first = ProtoField.uint32("skyfiles.first", "First chunk"),
    chunks = ProtoField.uint16("skyfiles.chunks", "Chunks"),
}
files.fields = f

local malformed = ProtoExpert.new("skystp.malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR)
local damaged = ProtoExpert.new("skystp.damaged", "The checksum is wrong", expert.group.CHECKSUM, expert.severity.WARN)
stp.experts = { malformed, damaged }
local broken = ProtoExpert.new("skyfiles.broken", "No record of the file protocol", expert.group.MALFORMED,
    expert.severity.WARN)
files.experts = { broken }

---------------------------------------------------------------------------------------------------------------
-- Checksum [stp 3.8]
---------------------------------------------------------------------------------------------------------------

local CRC = {}
for n = 0, 255 do
    local crc = n * 256
    for _ = 1, 8 do
        crc = crc >= 0x8000 and bxor(crc * 2 % 0x10000, 0x1021) or crc * 2
    end
    CRC[n] = crc
end

-- True if the segment, its octets as a string, carries its checksum.
local function is_sound(segment)
    if #segment < 12 then
        return false
    end
    local crc, at = 0xFFFF, 1
    while at <= #segment do
        local octets = { segment:byte(at, at + 255) }
        for i = 1, #octets do
            local place = at + i - 1
            local octet = (place == 9 or place == 10) and 0 or octets[i]
            crc = bxor(crc % 256 * 256, CRC[bxor(math.floor(crc / 256), octet)])
        end
        at = at + 256
    end
    local high, low = segment:byte(9, 10)
    return crc == high * 256 + low
end

---------------------------------------------------------------------------------------------------------------
-- Reading: a cursor, which fails with an error where the octets end
---------------------------------------------------------------------------------------------------------------

local function fail(why)
    error({ malformed = why }, 0)
end

local function take(at, octets)
    if at.place + octets > at.tvb:len() then
        fail("the segment ends within a body")
    end
    local range = at.tvb(at.place, octets)
    at.place = at.place + octets
    return range
end

-- A varint [stp 3.6]: its value and its range.
local function varint(at)
    local value, scale, begin = 0, 1, at.place
    for octets = 1, 4 do
        local octet = take(at, 1):uint()
        value, scale = value + octet % 128 * scale, scale * 128
        if octet < 128 then
            if octet == 0 and octets > 1 then
                fail("a varint that is not in its shortest form")
            end
            return value, at.tvb(begin, octets)
        end
    end
    fail("a varint of more than 4 octets")
end

-- Rice's codes [stp 3.6]: `count` runs.
local function rice(at, count)
    local parameters = take(at, 1):uint()
    local k_of = { [1] = math.floor(parameters / 16), [0] = parameters % 16 }
    local octet, left = 0, 0
    local function bit_next()
        if left == 0 then
            octet, left = take(at, 1):uint(), 8
        end
        left = left - 1
        return bit_of(octet, 2 ^ left) and 1 or 0
    end
    local function bits(number)
        local value = 0
        for _ = 1, number do
            value = value * 2 + bit_next()
        end
        return value
    end
    local runs = {}
    for i = 1, count do
        local k, quotient = k_of[i % 2], 0
        while quotient < 24 and bit_next() == 1 do
            quotient = quotient + 1
        end
        runs[i] = (quotient == 24 and bits(24) or quotient * 2 ^ k + bits(k)) + 1
    end
    return runs
end

-- Runs of a gap list or a block. `field`: of each.
local function runs_of(at, tree, coding, count, field)
    if count == 0 or count > 16384 then
        fail("a list of " .. count .. " runs")
    end
    local runs = {}
    if coding == 1 then
        for i = 1, count do
            local v, range = varint(at)
            runs[i] = v + 1
            tree:add(field, range, runs[i])
        end
    elseif coding == 2 then
        local begin = at.place
        runs = rice(at, count)
        for i = 1, count do
            tree:add(field, at.tvb(begin, at.place - begin), runs[i])
        end
    else
        fail("coding " .. coding)
    end
    return runs
end

---------------------------------------------------------------------------------------------------------------
-- Bodies of STP [stp 3.4, 3.5]
---------------------------------------------------------------------------------------------------------------

local function opening(at, tree, name, found)
    local begin = at.place
    local body = tree:add(stp, at.tvb(begin), name)
    local version = take(at, 1)
    body:add(s.opening_version, version)
    body:add(s.opening_flags, take(at, 1))
    body:add(s.max_payload, take(at, 2))
    local initial = take(at, 3)
    body:add(s.initial, initial)
    local octets = take(at, 1)
    body:add(s.option_octets, octets)
    body:add(s.opening_window, take(at, 4))
    body:add(s.nonce, take(at, 8))
    if version:uint() ~= 1 then
        fail("version " .. version:uint())
    end
    local stop = at.place + octets:uint()
    while at.place < stop do
        local head = take(at, 2)
        local kind, length = head(0, 1):uint(), head(1, 1):uint()
        if at.place + length > stop then
            fail("an option ends beyond the options")
        end
        local option = body:add(stp, at.tvb(at.place - 2, 2 + length), "Option " .. (OPTIONS[kind] or kind))
        option:add(s.option_kind, head(0, 1))
        option:add(s.option_length, head(1, 1))
        if length > 0 then
            option:add(s.option_value, take(at, length))
        end
    end
    body:set_len(at.place - begin)
    found.initial = initial:uint()
end

local function poll(at, tree, found)
    local begin = at.place
    local body = tree:add(stp, at.tvb(begin), "POLL")
    body:add(s.timestamp, take(at, 4))
    body:add(s.next, take(at, 3))
    local flags = take(at, 1)
    body:add(s.pads, flags)
    body:add(s.spares, flags)
    body:add(s.settles, flags)
    if bit_of(flags:uint(), 0x01) then
        body:add(s.settled, take(at, 3))
        take(at, 1)
    end
    found.pads = bit_of(flags:uint(), 0x04)
    body:set_len(at.place - begin)
end

-- Numbers of the packets that a list calls missing, as text, and how many they are. What is silent is taken out
-- of the sequence that start and runs count in.
local function missing_of(next, start, runs, silent_start, silent_count)
    local texts, total, place = {}, 0, start
    local function real(n) -- distance from `next` of the n-th packet that is not silent
        return (silent_count > 0 and n >= silent_start) and n + silent_count or n
    end
    local function add(first, last)
        local from, to = (next + first) % 2 ^ 24, (next + last) % 2 ^ 24
        texts[#texts + 1] = from == to and string.format("%d", from) or string.format("%d-%d", from, to)
    end
    for i, run in ipairs(runs) do
        if i % 2 == 1 then
            total = total + run
            local first, last = place, place + run - 1
            if silent_count > 0 and first < silent_start and last >= silent_start then
                add(first, silent_start - 1)
                add(real(silent_start), real(last))
            else
                add(real(first), real(last))
            end
        end
        place = place + run
    end
    return table.concat(texts, ","), total
end

local function report(at, body)
    local next = take(at, 3)
    body:add(s.report_next, next)
    local flags = take(at, 1)
    for _, field in ipairs({ s.has_feedback, s.is_increment, s.has_repairs, s.has_timing, s.more, s.coding }) do
        body:add(field, flags)
    end
    body:add(s.window, take(at, 4))
    local value, coding = flags:uint(), flags:uint() % 4
    if bit_of(value, 0x08) then
        body:add(s.clock, take(at, 4))
        body:add(s.octets, take(at, 4))
    end
    if bit_of(value, 0x40) then
        body:add(s.feedback, take(at, 4))
        body:add(s.routers, take(at, 1))
    end
    local function add(field)
        local number, range = varint(at)
        body:add(field, range, number)
        return number
    end
    if bit_of(value, 0x10) then
        body:add(s.wanting_block, take(at, 1))
        add(s.wanting)
    end
    local silent_start, silent_count = 0, 0
    if bit_of(value, 0x20) then
        silent_start, silent_count = add(s.silent_start), add(s.silent_count)
        if silent_count == 0 then
            fail("a silent count of 0")
        end
    end
    local told = "next " .. next:uint()
    if coding ~= 0 then
        local start, begin = add(s.start), at.place
        local count = add(s.count)
        local runs = runs_of(at, body, coding, count, s.run)
        local text, packets = missing_of(next:uint(), start, runs, silent_start, silent_count)
        local range = at.tvb(begin, at.place - begin)
        body:add(s.missing, range, text):set_generated()
        body:add(s.missing_packets, range, packets):set_generated()
        told = told .. ", " .. packets .. " missing"
    end
    body:append_text(", " .. told)
    return told
end

local function stat(at, tree, found)
    local begin = at.place
    local body = tree:add(stp, at.tvb(begin), "STAT")
    body:add(s.echo, take(at, 4))
    found.told = report(at, body)
    body:set_len(at.place - begin)
end

local function ustat(at, tree, found)
    local begin = at.place
    local body = tree:add(stp, at.tvb(begin), "USTAT")
    found.told = report(at, body)
    body:set_len(at.place - begin)
end

local function block(at, tree)
    local begin = at.place
    local body = tree:add(stp, at.tvb(begin), "BLOCK")
    body:add(s.block, take(at, 1))
    local coding = take(at, 1)
    body:add(s.block_coding, coding)
    local count, range = varint(at)
    body:add(s.block_count, range, count)
    if count % 2 == 0 then
        fail("an even count")
    end
    local packets = 0
    for i, run in ipairs(runs_of(at, body, coding:uint() % 4, count, s.block_run)) do
        packets = packets + (i % 2 == 1 and run or 0)
    end
    while packets > 0 do
        local number, of_number = varint(at)
        local bytes, of_bytes = varint(at)
        body:add(s.block_packets, of_number, number + 1)
        body:add(s.block_bytes, of_bytes, bytes + 1)
        packets = packets - (number + 1)
    end
    if packets < 0 then
        fail("sizes for more packets than the block has")
    end
    body:set_len(at.place - begin)
end

local function piece(at, tree, found)
    local body = tree:add(stp, at.tvb(at.place), "PIECE")
    local offset, total = take(at, 2), take(at, 2)
    body:add(s.piece_offset, offset)
    body:add(s.piece_total, total)
    local data = take(at, math.max(1, at.tvb:len() - at.place))
    body:add(s.piece, data)
    local stop = offset:uint() + data:len()
    if stop > total:uint() or data:len() == total:uint() then
        fail("a piece that is no part of its packet")
    elseif stop < total:uint() and data:len() < MIN_PIECE then
        fail("a tiny piece in the middle of a packet")
    end
    found.piece = { offset = offset:uint(), total = total:uint(), data = data:raw() }
end

---------------------------------------------------------------------------------------------------------------
-- The file protocol
---------------------------------------------------------------------------------------------------------------

local MAGIC, OPENING_OCTETS, HEAD_OCTETS = "SKYHAULF", 28, 12
local CHUNK = 0x02
-- Octets of a portion of a chunk's data, from version 3 on, and what may stand behind it [files 3.3].
local PORTION_OCTETS, PORTIONED_SINCE, MORE, CUT = 4096, 3, 0x00, 0xff

local function show_opening(tvb, tree)
    local root = tree:add(files, tvb, "skyhaul's file protocol, opening")
    root:add(f.version, tvb(8, 1))
    root:add(f.files, tvb(12, 4))
    root:add(f.payload, tvb(16, 8))
    root:add(f.check, tvb(24, 4))
    return "files: " .. tvb(12, 4):uint()
end

local function show_body(kind, flags, tvb, root)
    if kind == "FILE" then
        root:add(f.size, tvb(0, 8))
        local name = 8
        if bit_of(flags, 0x02) then
            root:add(f.modified, tvb(8, 8))
            root:add(f.modified_ns, tvb(16, 4))
            name = 20
        end
        root:add(f.name, tvb(name))
        return " " .. tvb(name):string()
    elseif kind == "CHUNK" then
        root:add(f.chunk, tvb(0, 4))
        root:add(f.chunk_length, tvb(4, 4))
        root:add(f.digest, tvb(8, 32))
        return " " .. tvb(0, 4):uint()
    elseif kind == "END" then
        root:add(f.digest, tvb(0, 32))
    elseif kind == "DELIVERED" then
        root:add(f.count, tvb(0, 4))
        root:add(f.receipt, tvb(4, 16))
        return " " .. tvb(0, 4):uint()
    elseif kind == "AGAIN" then
        for at = 0, tvb:len() - 6, 6 do
            root:add(f.first, tvb(at, 4))
            root:add(f.chunks, tvb(at + 4, 2))
        end
    elseif kind then
        root:add(f.reason, tvb(0, 1))
        if tvb:len() > 1 then
            root:add(f.text, tvb(1))
        end
    end
    return ""
end

-- The octet with which a chunk ends early.
local function show_cut(tvb, tree)
    tree:add(files, tvb, "skyhaul's file protocol, a chunk ends early"):add(f.cut, tvb(0, 1))
    return "CUT"
end

-- A record without the data of a chunk.
local function show_record(tvb, tree)
    local kind, flags, length = tvb(0, 1):uint(), tvb(1, 1):uint(), tvb(2, 2):uint()
    local name = KINDS[kind]
    local root = tree:add(files, tvb, "skyhaul's file protocol, " .. (name or "unknown"))
    root:add(f.kind, tvb(0, 1))
    root:add(f.flags, tvb(1, 1))
    root:add(f.length, tvb(2, 2))
    root:add(f.file, tvb(4, 4))
    root:add(f.check, tvb(8, 4))
    local ok, told = pcall(show_body, name, flags, tvb(HEAD_OCTETS, length):tvb(), root)
    if not ok or not name then
        root:add_proto_expert_info(broken)
        told = ""
    end
    root:add(f.check, tvb(HEAD_OCTETS + length, 4))
    return (name or "?") .. told
end

-- Octets of the record at the beginning of a string, data of a chunk left out, and how many such data follow;
-- nothing while it is not complete.
local function record_octets(octets)
    if #octets < HEAD_OCTETS then
        return nil
    end
    local kind, _, high, low = octets:byte(1, 4)
    local whole = HEAD_OCTETS + high * 256 + low + 4
    if #octets < whole then
        return nil
    end
    if kind ~= CHUNK or whole < HEAD_OCTETS + 12 then
        return whole, 0
    end
    local a, b, c, d = octets:byte(HEAD_OCTETS + 5, HEAD_OCTETS + 8)
    return whole, ((a * 256 + b) * 256 + c) * 256 + d
end

-- Longest body [files 3.2]; an unread record is no longer than it and the head.
local MAX_BODY_OCTETS = 6144
-- Packets that wait for an earlier one.
local MAX_WAITING = 65536

-- Directions of connections: by interface, addresses, ports and instance.
local streams

-- Keeps something for the frame that completes it, and how it is shown.
local function keep(stream, frame, show, octets)
    stream.frames[frame] = stream.frames[frame] or {}
    table.insert(stream.frames[frame], { show, octets })
end

-- So many octets of a chunk's data follow: the first portion of them, and the rest.
local function await_data(stream, data)
    stream.skips = stream.has_portions and math.min(data, PORTION_OCTETS) or data
    stream.remains = data - stream.skips
end

-- The stream's next octets; what they complete is kept for the frame.
local function feed(stream, octets, frame)
    while #octets > 0 and not stream.is_broken do
        if stream.skips > 0 then
            local skipped = math.min(stream.skips, #octets)
            stream.skips, octets = stream.skips - skipped, octets:sub(skipped + 1)
        elseif stream.remains > 0 then
            local behind = octets:byte(1)
            if behind == CUT then
                keep(stream, frame, show_cut, octets:sub(1, 1))
            end
            stream.is_broken = behind ~= MORE and behind ~= CUT
            await_data(stream, behind == MORE and stream.remains or 0)
            octets = octets:sub(2)
        else
            stream.unread, octets = stream.unread .. octets, ""
            local whole, data
            if stream.has_opening then
                whole, data = record_octets(stream.unread)
            elseif #stream.unread >= OPENING_OCTETS then
                whole, data = OPENING_OCTETS, 0
                stream.is_broken = stream.unread:sub(1, #MAGIC) ~= MAGIC
            end
            if whole and not stream.is_broken then
                keep(stream, frame, stream.has_opening and show_record or show_opening, stream.unread:sub(1, whole))
                if not stream.has_opening then
                    stream.has_portions = stream.unread:byte(#MAGIC + 1) >= PORTIONED_SINCE
                end
                octets, stream.unread = stream.unread:sub(whole + 1), ""
                stream.has_opening = true
                await_data(stream, data)
            end
            stream.is_broken = stream.is_broken or #stream.unread > MAX_BODY_OCTETS + HEAD_OCTETS + 4
        end
    end
end

-- Takes a packet of the stream, and those that waited for it.
local function arrive(stream, number, octets, frame)
    if not stream.next then
        return -- the capture begins in the middle
    end
    local ahead = (number - stream.next) % 2 ^ 24
    if ahead >= 2 ^ 23 or stream.waiting[number] then
        return -- a repeat
    elseif ahead > 0 then
        if stream.waits < MAX_WAITING then
            stream.waiting[number], stream.waits = octets, stream.waits + 1
        end
        return
    end
    while octets do
        feed(stream, octets, frame)
        stream.next = (stream.next + 1) % 2 ^ 24
        octets = stream.waiting[stream.next]
        if octets then
            stream.waiting[stream.next], stream.waits = nil, stream.waits - 1
        end
    end
end

-- Takes a piece of a packet; gives the packet once its pieces stand one behind the other.
local function join(stream, number, piece)
    local parts = stream.pieces[number]
    if not parts or parts.total ~= piece.total then
        if stream.joins >= MAX_WAITING then
            return nil
        end
        parts = { total = piece.total }
        stream.pieces[number], stream.joins = parts, stream.joins + 1
    end
    parts[piece.offset] = piece.data
    local octets = ""
    while #octets < parts.total do
        local following = parts[#octets]
        if not following then
            return nil
        end
        octets = octets .. following
    end
    stream.pieces[number] = nil
    return octets
end

local interface_field = Field.new("frame.interface_id")

local function stream_of(pinfo, segment)
    local interface = interface_field()
    local key = table.concat({
        interface and interface.value or 0, tostring(pinfo.net_src), tostring(pinfo.net_dst), pinfo.src_port,
        pinfo.dst_port, segment.source_port, segment.destination_port, segment.instance,
    }, " ")
    if not streams[key] then
        streams[key] = {
            skips = 0, remains = 0, unread = "", frames = {}, waiting = {}, waits = 0, pieces = {}, joins = 0,
        }
    end
    return streams[key]
end

local function is_of_files(port)
    return port == 1 or port == 2 or port == 4
end

-- Reads the file protocol of a segment; gives what to say of it.
local function read_files(segment, pinfo, tree)
    local towards = is_of_files(segment.destination_port)
    if not towards and not is_of_files(segment.source_port) then
        return ""
    end
    local stream = stream_of(pinfo, segment)
    if not pinfo.visited then
        if segment.initial and not stream.next then
            stream.next = segment.initial
            stream.has_opening = not towards -- the receiver's stream has none
        end
        if segment.data and not segment.pads then
            arrive(stream, segment.number, segment.data, pinfo.number)
        elseif segment.piece then
            local octets = join(stream, segment.number, segment.piece)
            if octets then
                arrive(stream, segment.number, octets, pinfo.number)
            end
        end
    end
    local told = {}
    for _, record in ipairs(stream.frames[pinfo.number] or {}) do
        local show, octets = record[1], record[2]
        told[#told + 1] = show(ByteArray.new(octets, true):tvb("Record of the file protocol"), tree)
    end
    return #told > 0 and " [" .. table.concat(told, ", ") .. "]" or ""
end

---------------------------------------------------------------------------------------------------------------
-- Segments
---------------------------------------------------------------------------------------------------------------

local function type_names(types)
    if types == RST then
        return "RST"
    elseif types == BLOCK then
        return "BLOCK"
    elseif types == REPAIR then
        return "REPAIR"
    elseif types == PIECE then
        return "PIECE"
    end
    local names = {}
    for _, type in ipairs(TYPES) do
        if bit_of(types, type[1]) then
            names[#names + 1] = type[2]
        end
    end
    return table.concat(names, "+")
end

-- Valid values of the type field [stp 3.3].
local function is_type(types)
    if types == RST or types == BLOCK or types == REPAIR or types == PIECE then
        return true
    end
    local beside_bgn = bit_of(types, 0x04) or bit_of(types, 0x08) or bit_of(types, 0x20) or bit_of(types, 0x80)
    return types ~= 0 and not (bit_of(types, 0x10) and beside_bgn)
end

local function bodies(at, root, segment)
    local types = segment.types
    if types == RST then
        local body = root:add(stp, at.tvb(at.place), "RST")
        body:add(s.reason, take(at, 1))
        take(at, 3)
    elseif types == BLOCK then
        block(at, root)
    elseif types == REPAIR then
        local body = root:add(stp, at.tvb(at.place), "REPAIR")
        body:add(s.repair_block, at.tvb(5, 1))
        body:add(s.symbol, at.tvb(6, 2))
        body:add(s.repair, take(at, math.max(1, at.tvb:len() - at.place)))
    elseif types == PIECE then
        piece(at, root, segment)
    else
        if bit_of(types, 0x10) then
            opening(at, root, "BGN", segment)
        end
        if bit_of(types, 0x20) then
            opening(at, root, "BGNAK", segment)
        end
        if bit_of(types, 0x02) then
            poll(at, root, segment)
        end
        if bit_of(types, 0x04) then
            stat(at, root, segment)
        end
        if bit_of(types, 0x08) then
            ustat(at, root, segment)
        end
        if bit_of(types, 0x40) then
            local body = root:add(stp, at.tvb(at.place, 4), "END")
            body:add(s.end_number, take(at, 3))
            take(at, 1)
        end
        if bit_of(types, 0x01) then
            local padding = -at.place % 4
            if padding > 0 then
                local zeros = take(at, padding)
                root:add(s.padding, zeros)
                if zeros:uint() ~= 0 then
                    fail("padding that is not zero")
                end
            end
            local data = take(at, math.max(1, at.tvb:len() - at.place))
            root:add(s.data, data)
            root:add(s.data_length, data, data:len()):set_generated()
            segment.data = data:raw()
        end
    end
    if at.place < at.tvb:len() then
        fail("octets behind the last body")
    end
end

function stp.dissector(tvb, pinfo, tree)
    if tvb:len() < 12 then
        return 0
    end
    pinfo.cols.protocol = "STP"
    local root = tree:add(stp, tvb())
    local segment = {
        source_port = tvb(0, 2):uint(), destination_port = tvb(2, 2):uint(), types = tvb(4, 1):uint(),
        number = tvb(5, 3):uint(), instance = tvb(10, 2):uint(),
    }
    root:add(s.source_port, tvb(0, 2))
    root:add(s.destination_port, tvb(2, 2))
    local types = root:add(s.types, tvb(4, 1))
    local names = type_names(segment.types)
    local alone = { [RST] = true, [BLOCK] = true, [REPAIR] = true, [PIECE] = true }
    if not alone[segment.types] then
        for _, type in ipairs(TYPES) do
            types:add(s["is_" .. type[3]], tvb(4, 1))
        end
    end
    types:add(s.names, tvb(4, 1), names):set_generated()
    root:add(s.number, tvb(5, 3))
    local checksum = root:add(s.checksum, tvb(8, 2))
    root:add(s.instance, tvb(10, 2))
    local is_good = true
    if stp.prefs.check and tvb:len() == tvb:reported_len() then
        is_good = is_sound(tvb:raw())
        checksum:add(s.checksum_ok, tvb(8, 2), is_good):set_generated()
    end
    local ok, why = false, "a type that is not valid"
    if not is_good then
        checksum:add_proto_expert_info(damaged)
        why = "damaged"
    elseif is_type(segment.types) then
        local at = { tvb = tvb, place = 12 }
        ok, why = pcall(bodies, at, root, segment)
        why = type(why) == "table" and why.malformed or why
    end
    if not ok and is_good then
        root:add_proto_expert_info(malformed, tostring(why))
    end
    local told = ok and stp.prefs.files and read_files(segment, pinfo, tree) or ""
    local text = string.format("%s %d", names, segment.number)
    text = text .. (segment.data and string.format(" %d octets", #segment.data) or "")
    text = text .. (segment.told and ", " .. segment.told or "") .. (ok and "" or ", " .. tostring(why)) .. told
    root:append_text(", " .. text)
    pinfo.cols.info = string.format("%d > %d %s", segment.source_port, segment.destination_port, text)
    return tvb:len()
end

function stp.init()
    streams = {}
end

---------------------------------------------------------------------------------------------------------------
-- Envelope
---------------------------------------------------------------------------------------------------------------

local PLAIN, PLAIN_WITH_HEADER = 0x20, 0x22
local PATH_HEADER_OCTETS = 20

-- Where the segment begins behind the octet, and behind a path header [envelope 5].
local function segment_at(tvb)
    if tvb:len() < 1 then
        return nil
    end
    local first = tvb(0, 1):uint()
    if first == PLAIN then
        return 1
    end
    if first ~= PLAIN_WITH_HEADER or tvb:len() < 1 + PATH_HEADER_OCTETS then
        return nil
    end
    local version, format = tvb(3, 1):bitfield(0, 4), tvb(3, 1):bitfield(4, 4)
    local is_header = tvb(2, 1):uint() == PATH_HEADER_OCTETS and version == 3 and (format == 1 or format == 2)
    return is_header and 1 + PATH_HEADER_OCTETS or nil
end

function envelope.dissector(tvb, pinfo, tree)
    -- No other value is accepted today [envelope 3].
    local at = segment_at(tvb)
    if not at then
        return 0
    end
    pinfo.cols.protocol = "skyhaul"
    local root = tree:add(envelope, tvb(0, at))
    for _, field in ipairs({ e.version, e.mode, e.path_header, e.reserved }) do
        root:add(field, tvb(0, 1))
    end
    if at > 1 then
        root:add(e.routers, tvb(4, 1))
        for number, field in ipairs({ e.inter_packet, e.rtt, e.reverse, e.delta }) do
            root:add(field, tvb(1 + 4 * number, 4))
        end
    end
    if tvb:len() > at then
        stp.dissector(tvb(at):tvb(), pinfo, tree)
    end
    return tvb:len()
end

-- A datagram of skyhaul is known by its octet and the checksum of its segment; the rest of its conversation by
-- that.
envelope:register_heuristic("udp", function(tvb, pinfo, tree)
    local at = segment_at(tvb)
    if not at or tvb:len() < at + 12 or not is_type(tvb(at + 4, 1):uint()) then
        return false
    end
    if tvb:len() ~= tvb:reported_len() or not is_sound(tvb:raw(at)) then
        return false
    end
    pinfo.conversation = envelope
    envelope.dissector(tvb, pinfo, tree)
    return true
end)

local udp_ports = DissectorTable.get("udp.port")
local registered
local function register()
    if registered then
        udp_ports:remove(registered, envelope)
    end
    registered = envelope.prefs.ports
    udp_ports:add(registered, envelope)
end
register()
function envelope.prefs_changed()
    register()
end

-- Without UDP there is no envelope; the number is one for experiments.
DissectorTable.get("ip.proto"):add(253, stp)

---------------------------------------------------------------------------------------------------------------
-- The file protocol in TCP
---------------------------------------------------------------------------------------------------------------

function files.dissector(tvb, pinfo, tree)
    local place, told = 0, {}
    while place < tvb:len() do
        local rest = tvb(place):tvb()
        local octets = rest:raw(0, math.min(rest:len(), MAX_BODY_OCTETS + HEAD_OCTETS + 4))
        local is_opening = octets:sub(1, #MAGIC) == MAGIC:sub(1, #octets)
        local whole, data
        if not is_opening then
            whole, data = record_octets(octets)
        elseif #octets >= OPENING_OCTETS then
            whole, data = OPENING_OCTETS, 0
        end
        if not whole or rest:len() < whole + data then
            pinfo.desegment_offset = place
            pinfo.desegment_len = whole and whole + data - rest:len() or DESEGMENT_ONE_MORE_SEGMENT
            break
        end
        told[#told + 1] = (is_opening and show_opening or show_record)(rest(0, whole):tvb(), tree)
        place = place + whole + data
    end
    pinfo.cols.protocol = "skyfiles"
    if #told > 0 then
        pinfo.cols.info = table.concat(told, ", ")
    end
    return tvb:len()
end

files:register_heuristic("tcp", function(tvb, pinfo, tree)
    if tvb:len() < #MAGIC or tvb:raw(0, #MAGIC) ~= MAGIC then
        return false
    end
    pinfo.conversation = files
    files.dissector(tvb, pinfo, tree)
    return true
end)
