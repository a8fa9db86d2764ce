-- Dissector of SCPS-TP's compressed headers, IP protocol 105, for Wireshark and tshark
-- (docs/spec/scps-tp.md, "Compressed headers"). Segments with plain headers, options 20 to 23 among them, are
-- Wireshark's own matter. README.md beside this file says how to use it.

local scps = Proto("scpstp", "SCPS-TP, compressed header")

-- Octets of options that a header of TCP has room for.
local MAX_OPTIONS = 40
local END, NOP, SACK, SNACK, RECORD, CORRUPTION = 0, 1, 5, 21, 22, 23
-- Those that stand in a SYN, have bits in the header, or both.
local OUT_OF_PLACE = { [2] = true, [3] = true, [4] = true, [8] = true, [RECORD] = true }
local KINDS = { [SACK] = "SACK", [SNACK] = "SNACK", [CORRUPTION] = "corruption experienced" }

local f = {
    id = ProtoField.uint8("scpstp.id", "Connection id"),
    one = ProtoField.uint8("scpstp.flags", "Flags", base.HEX),
    more = ProtoField.bool("scpstp.flags.more", "A second octet follows", 8, nil, 0x80),
    ts1 = ProtoField.bool("scpstp.flags.ts1", "Timestamp value", 8, nil, 0x40),
    ts2 = ProtoField.bool("scpstp.flags.ts2", "Timestamp echo", 8, nil, 0x20),
    record = ProtoField.bool("scpstp.flags.record", "Record ends", 8, nil, 0x10),
    snack_bit = ProtoField.bool("scpstp.flags.snack", "SNACK (never set)", 8, nil, 0x08),
    push = ProtoField.bool("scpstp.flags.push", "Push", 8, nil, 0x04),
    has_sequence = ProtoField.bool("scpstp.flags.seq", "Sequence number", 8, nil, 0x02),
    has_ack = ProtoField.bool("scpstp.flags.ack", "Window and acknowledgement", 8, nil, 0x01),
    two = ProtoField.uint8("scpstp.flags2", "Further flags", base.HEX),
    has_options = ProtoField.bool("scpstp.flags2.options", "Options", 8, nil, 0x80),
    has_pad = ProtoField.bool("scpstp.flags2.pad", "Padding", 8, nil, 0x40),
    has_urgent = ProtoField.bool("scpstp.flags2.urgent", "Urgent", 8, nil, 0x20),
    ackr = ProtoField.bool("scpstp.flags2.ackr", "ACKR", 8, nil, 0x10),
    reset = ProtoField.bool("scpstp.flags2.rst", "Reset", 8, nil, 0x04),
    fin = ProtoField.bool("scpstp.flags2.fin", "Fin", 8, nil, 0x01),
    urgent = ProtoField.uint16("scpstp.urgent", "Urgent pointer"),
    window = ProtoField.uint16("scpstp.window", "Window, as it stands"),
    ack = ProtoField.uint32("scpstp.ack", "Acknowledgement number"),
    sequence = ProtoField.uint32("scpstp.seq", "Sequence number"),
    value = ProtoField.uint32("scpstp.tsval", "Timestamp value"),
    echo = ProtoField.uint32("scpstp.tsecr", "Timestamp echo"),
    options = ProtoField.uint8("scpstp.options", "Octets of options"),
    kind = ProtoField.uint8("scpstp.option.kind", "Kind", base.DEC, KINDS),
    length = ProtoField.uint8("scpstp.option.length", "Length"),
    option = ProtoField.bytes("scpstp.option.value", "Value"),
    offset = ProtoField.uint16("scpstp.snack.offset", "Blocks before the hole"),
    size = ProtoField.uint16("scpstp.snack.size", "Blocks of the hole"),
    vector = ProtoField.bytes("scpstp.snack.vector", "Blocks behind it"),
    pad = ProtoField.uint8("scpstp.pad", "Padding"),
    checksum = ProtoField.uint16("scpstp.checksum", "Checksum", base.HEX),
    is_good = ProtoField.bool("scpstp.checksum.good", "Checksum is right"),
    over = ProtoField.uint8("scpstp.checksum.protocol", "Over a pseudo-header of protocol"),
    data_length = ProtoField.uint32("scpstp.len", "Octets of data"),
    data = ProtoField.bytes("scpstp.data", "Data"),
}
scps.fields = f

local malformed = ProtoExpert.new("scpstp.malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR)
local damaged = ProtoExpert.new("scpstp.damaged", "The checksum is wrong", expert.group.CHECKSUM, expert.severity.WARN)
scps.experts = { malformed, damaged }

local ADDRESSES = {
    source = { Field.new("ip.src"), Field.new("ipv6.src") },
    destination = { Field.new("ip.dst"), Field.new("ipv6.dst") },
}

local function bit_of(value, mask)
    return math.floor(value / mask) % 2 == 1
end

local function fail(why)
    error({ malformed = why }, 0)
end

-- Octets that are read from the front; `at.place` is the next one.
local function take(at, count)
    if at.place + count > at.tvb:len() then
        fail("it ends too early")
    end
    at.place = at.place + count
    return at.tvb(at.place - count, count)
end

-- Sum of octets by 16 bits, an odd one behind completed by a zero.
local function sum_of(octets)
    local sum = 0
    for place = 1, #octets - 1, 2 do
        local high, low = octets:byte(place, place + 1)
        sum = sum + high * 256 + low
    end
    return #octets % 2 == 1 and sum + octets:byte(#octets) * 256 or sum
end

-- Octets of the address that the packet has; nil if the headers in front were not read.
local function address_of(fields, address)
    for _, field in ipairs(fields) do
        local all = { field() }
        for place = #all, 1, -1 do
            if tostring(all[place].value) == tostring(address) then
                return all[place].range:raw()
            end
        end
    end
end

-- Protocol over whose pseudo-header the checksum is right: 6 as the reference implementation has it, or 105;
-- false: neither. nil: nobody knows.
local function protocol_of(tvb, pinfo)
    local source = address_of(ADDRESSES.source, pinfo.net_src)
    local destination = address_of(ADDRESSES.destination, pinfo.net_dst)
    if not source or not destination or tvb:len() ~= tvb:reported_len() then
        return nil
    end
    local sum = sum_of(source) + sum_of(destination) + tvb:len() + sum_of(tvb:raw())
    for _, protocol in ipairs({ 6, 105 }) do
        local whole = sum + protocol
        while whole > 0xFFFF do
            whole = whole % 0x10000 + math.floor(whole / 0x10000)
        end
        if whole == 0xFFFF then
            return protocol
        end
    end
    return false
end

local function snack(value, tree)
    if value:len() < 4 then
        return
    end
    tree:add(f.offset, value(0, 2))
    tree:add(f.size, value(2, 2))
    if value:len() > 4 then
        tree:add(f.vector, value(4))
    end
end

-- Shows the options within `list`. Octets of those that are kept as they are.
local function options(list, tree)
    local place, kept = 0, 0
    while place < list:len() do
        local kind = list(place, 1):uint()
        if kind == END then
            break
        elseif kind == NOP then
            place = place + 1
        else
            local length = place + 1 < list:len() and list(place + 1, 1):uint() or 0
            if length < 2 or place + length > list:len() then
                fail("an option ends beyond the options")
            end
            local whole = list(place, length)
            local body = tree:add(scps, whole, "Option " .. (KINDS[kind] or kind))
            body:add(f.kind, whole(0, 1))
            body:add(f.length, whole(1, 1))
            if OUT_OF_PLACE[kind] then
                fail("an option that has no place here")
            elseif kind == SACK then
                if (length - 2) % 8 ~= 0 or length < 10 then
                    fail("an option of a wrong length")
                end
            else
                kept = kept + length
            end
            if length > 2 then
                body:add(f.option, whole(2))
            end
            if kind == SNACK and length > 2 then
                snack(whole(2):tvb(), body)
            end
            place = place + length
        end
    end
    return kept
end

local ONE = { f.more, f.ts1, f.ts2, f.record, f.snack_bit, f.push, f.has_sequence, f.has_ack }
local TWO = { f.has_options, f.has_pad, f.has_urgent, f.ackr, f.reset, f.fin }

-- Flags that contradict each other.
local function check(one, two)
    local has_reset = bit_of(two, 0x04)
    if bit_of(one, 0x40) ~= bit_of(one, 0x20) then
        fail("one timestamp alone")
    elseif bit_of(two, 0x10) and (not has_reset or bit_of(one, 0x01)) then
        fail("ACKR that is no reset without acknowledgement")
    elseif has_reset and bit_of(two, 0x01) then
        fail("a reset that ends the stream")
    end
end

-- Shows the segment; words about it.
local function read(at, root)
    local words = {}
    local id = take(at, 1)
    root:add(f.id, id)
    local flags = take(at, 1)
    local one, two = flags:uint(), 0
    local body = root:add(f.one, flags)
    for _, field in ipairs(ONE) do
        body:add(field, flags)
    end
    if bit_of(one, 0x80) then
        flags = take(at, 1)
        two = flags:uint()
        body = root:add(f.two, flags)
        for _, field in ipairs(TWO) do
            body:add(field, flags)
        end
    end
    check(one, two)
    if bit_of(two, 0x20) then
        root:add(f.urgent, take(at, 2))
    end
    local names, numbers = {}, {}
    for _, name in ipairs({ { two, 0x01, "FIN" }, { two, 0x04, "RST" }, { one, 0x04, "PSH" }, { one, 0x01, "ACK" } }) do
        names[#names + 1] = bit_of(name[1], name[2]) and name[3] or nil
    end
    if bit_of(one, 0x01) then
        local window = take(at, 2)
        root:add(f.window, window)
        local ack = take(at, 4)
        root:add(f.ack, ack)
        numbers[#numbers + 1] = string.format("Ack=%u Win=%u", ack:uint(), window:uint())
    end
    if bit_of(one, 0x02) then
        local sequence = take(at, 4)
        root:add(f.sequence, sequence)
        table.insert(numbers, 1, string.format("Seq=%u", sequence:uint()))
    end
    if bit_of(one, 0x40) then
        root:add(f.value, take(at, 4))
        root:add(f.echo, take(at, 4))
    end
    if bit_of(two, 0x80) then
        local length = take(at, 1)
        root:add(f.options, length)
        if length:uint() > MAX_OPTIONS then
            fail("more options than a header of TCP has room for")
        end
        local kept = length:uint() > 0 and options(take(at, length:uint()):tvb(), root) or 0
        if bit_of(one, 0x10) and kept + 2 > MAX_OPTIONS then
            fail("no room for the end of the record")
        end
    end
    if bit_of(two, 0x40) then
        root:add(f.pad, take(at, 1))
    end
    at.checksum = take(at, 2)
    local data = at.tvb:len() - at.place
    if (data > 0 or bit_of(two, 0x01)) and not bit_of(one, 0x02) then
        fail("data or the end without a number")
    end
    at.data = data
    words[1] = string.format("id %u [%s]", id:uint(), table.concat(names, ", "))
    words[2] = table.concat(numbers, " ")
    words[3] = string.format("Len=%d", data)
    return table.concat(words, " ")
end

function scps.dissector(tvb, pinfo, tree)
    pinfo.cols.protocol = "SCPS-TP"
    local root = tree:add(scps, tvb())
    local at = { tvb = tvb, place = 0 }
    local ok, said = pcall(read, at, root)
    if not ok then
        local why = type(said) == "table" and said.malformed or tostring(said)
        root:add_proto_expert_info(malformed, why)
        pinfo.cols.info = "compressed header, malformed: " .. why
        return tvb:len()
    end
    local checksum = root:add(f.checksum, at.checksum)
    local over = protocol_of(tvb, pinfo)
    if over ~= nil then
        checksum:add(f.is_good, at.checksum, over ~= false)
    end
    if over then
        checksum:add(f.over, at.checksum, over)
    elseif over == false then
        checksum:add_proto_expert_info(damaged)
    end
    root:add(f.data_length, at.data)
    if at.data > 0 then
        root:add(f.data, tvb(at.place))
    end
    root:append_text(", " .. said)
    pinfo.cols.info = said
    return tvb:len()
end

DissectorTable.get("ip.proto"):add(105, scps)
