"""HTTP/2 as frames of bytes: writes any frame, and reads of what comes back as much as the comparison needs."""

import struct

from . import ends

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED, PRIORITIZED = 1, 1, 4, 8, 32
ERRORS = ("NO_ERROR PROTOCOL_ERROR INTERNAL_ERROR FLOW_CONTROL_ERROR SETTINGS_TIMEOUT STREAM_CLOSED FRAME_SIZE_ERROR REFUSED_STREAM CANCEL"
          " COMPRESSION_ERROR CONNECT_ERROR ENHANCE_YOUR_CALM INADEQUATE_SECURITY HTTP_1_1_REQUIRED").split()
NO_TABLE = (1, 0)  # of SETTINGS: the peer's HPACK keeps no table, so that a status can be read without one
GET = ((":method", "GET"), (":scheme", "http"), (":authority", "a.test"), (":path", "/"))
STATIC_STATUSES = ("200", "204", "206", "304", "400", "404", "500")
FIRST_STATUS = 8  # its place in HPACK's static table
PROBE = 4001  # the stream that asks whether the connection still lives


def frame(kind, flags, stream, payload=b"", length=None):
    size = len(payload) if length is None else length
    return struct.pack(">I", size)[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def number(value, bits, first):
    """An integer of HPACK."""
    limit = (1 << bits) - 1
    if value < limit:
        return bytes([first | value])
    found, value = [first | limit], value - limit
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def text(value):
    data = value.encode("latin-1") if isinstance(value, str) else value
    return number(len(data), 7, 0) + data


def block(*fields):
    """Literals that no table keeps."""
    return b"".join(b"\0" + text(name) + text(value) for name, value in fields)


def headers(stream, *fields, end=True, flags=END_HEADERS, before=b"", after=b""):
    return frame(HEADERS, flags | (END_STREAM if end else 0), stream, before + block(*fields) + after)


def data(stream, payload=b"", end=True, flags=0):
    return frame(DATA, flags | (END_STREAM if end else 0), stream, payload)


def settings(*pairs):
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", *pair) for pair in pairs))


def status_of(payload, flags):
    """Returns the status that a header block begins with, or "?"."""
    at = (1 if flags & PADDED else 0) + (5 if flags & PRIORITIZED else 0)
    while payload[at] & 0xe0 == 0x20:
        at += 1  # the size of the table
    first = payload[at]
    if first & 0x80:
        index = (first & 0x7f) - FIRST_STATUS
        return STATIC_STATUSES[index] if 0 <= index < len(STATIC_STATUSES) else "?"
    if not FIRST_STATUS <= first & (0x3f if first & 0x40 else 0x0f) < FIRST_STATUS + len(STATIC_STATUSES):
        return "?"
    length, value = payload[at + 1] & 0x7f, payload[at + 2:]
    if not payload[at + 1] & 0x80:
        return value[:length].decode("latin-1")
    bits = "".join(f"{byte:08b}" for byte in value[:length])
    found = ""
    while len(found) < 3:  # Huffman's code of 0, 1 and 2 has five bits, that of the other digits six
        size = 5 if bits[:5] < "00011" else 6
        found += str(int(bits[:5], 2)) if size == 5 else str(int(bits[:6], 2) - 0b011001 + 3)
        bits = bits[size:]
    return found


class Frames:
    """Reads frames of a connection."""

    def __init__(self, reader):
        self.reader = reader

    def next(self, seconds):
        header = self.wait(9, seconds)
        length = int.from_bytes(header[:3], "big")
        return header[3], header[4], int.from_bytes(header[5:], "big") & 0x7fffffff, self.wait(length, seconds)

    def wait(self, count, seconds):
        while len(self.reader.buffer) < count:
            self.reader.more(seconds)
        found, self.reader.buffer = self.reader.buffer[:count], self.reader.buffer[count:]
        return found


def error(payload, at):
    code = int.from_bytes(payload[at:at + 4], "big")
    return ERRORS[code] if code < len(ERRORS) else f"error {code}"


class Client:
    """Plays the frames of a case, and says what became of each stream and of the connection."""

    def __init__(self, port, client=None):
        self.client = client or ends.Client(port)
        self.frames = Frames(self.client.reader)
        self.answers = {}  # of streams
        self.ended = set()
        self.end = None  # of the connection
        self.acknowledges = True  # the proxy's SETTINGS

    def play(self, case, upstream=None):
        """Plays the steps: bytes, the number of a stream whose answer is waited for, or a word of ends.py. Stream 0 is answered by SETTINGS."""
        self.acknowledges = case.raw != PREFACE
        steps = [case.raw if case.raw is not None else PREFACE + settings(NO_TABLE), *case.steps]
        sent = b""
        for step in steps:
            if isinstance(step, bytes):
                sent += step
                continue
            self.client.send(sent)
            sent = b""
            if isinstance(step, int):
                self.until(lambda step=step: step in self.answers)
                if upstream:
                    upstream.told.set()
            elif step == ends.END:
                self.until(lambda: False, ends.LONG)
                self.end = {"no answer": "stays"}.get(self.end, self.end)
            elif step in (ends.CLOSE, ends.RESET):
                self.end = ""
                self.client.leave(step)
                return
            else:
                self.client.wait(step, upstream)
        self.client.send(sent)
        self.until(lambda: self.ended.issuperset(case.streams))
        if self.end is None and case.probe:
            self.client.send(headers(PROBE, *GET[:-1], (":path", "/next")))
            self.until(lambda: PROBE in self.ended)
        self.client.close()

    def until(self, done, seconds=ends.FIRST):
        while self.end is None and not done():
            try:
                self.take(*self.frames.next(seconds))
            except ends.Ended:
                self.end = "closed"
            except ends.Quiet:
                self.end = "no answer"

    def take(self, kind, flags, stream, payload):
        if kind == SETTINGS and flags & ACK:
            self.answers[0] = ""
        elif kind == SETTINGS and self.acknowledges:
            self.client.send(frame(SETTINGS, ACK, 0))
        elif kind == GOAWAY and error(payload, 4) != "NO_ERROR":
            self.end = "GOAWAY " + error(payload, 4)
        elif kind == RST_STREAM and stream not in self.ended:
            self.answers[stream] = f"{self.answers.get(stream, '')} RST {error(payload, 0)}".strip()
            self.ended.add(stream)
        elif kind == HEADERS:
            if stream not in self.answers:
                status = status_of(payload, flags)
                if not status.startswith("1"):
                    self.answers[stream] = status
            if flags & END_STREAM:
                self.ended.add(stream)
        elif kind == DATA and flags & END_STREAM:
            self.ended.add(stream)


def play(case, port, upstream):
    """Returns what the upstream saw, and what the client was told besides."""
    client = Client(port)
    client.play(case)
    upstream.settled()
    told = [client.answers[each] for each in case.streams if client.answers.get(each, "200") != "200"]
    if client.end is not None:
        # Whether the upstream has seen what came before the connection's end is a matter of time.
        return ", ".join([*told, client.end])
    # The same holds for the beginning of a request that is refused or broken off.
    seen = sorted(each for each in upstream.seen if "/next" not in each and not each.endswith(" cut"))
    return ", ".join([*seen, *told]) or "nothing"


class Upstream(ends.Upstream):
    """Answers each request of a proxy with frames. It does not read heads: the client says when its next request comes."""

    def serve(self, connection, number_of):
        frames = Frames(ends.Reader(connection))
        with connection:
            try:
                if frames.wait(len(PREFACE), 60) != PREFACE:
                    return
                connection.sendall(settings(NO_TABLE))
                while self.has_more(frames.reader):
                    with self.busy():
                        self.take(connection, number_of, *frames.next(60))
            except (ends.Ended, ends.Quiet, OSError):
                return

    def take(self, connection, number_of, kind, flags, stream, payload):
        if kind == SETTINGS and not flags & ACK:
            connection.sendall(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            connection.sendall(frame(PING, ACK, 0, payload))
        elif kind in (HEADERS, DATA) and flags & END_STREAM:
            self.connections.append(number_of)
            if self.asked_next:
                connection.sendall(answer(stream))
                return
            for step in self.case.upstream[0](stream):
                if step == ends.RESET:
                    ends.reset(connection)
                if step in (ends.CLOSE, ends.RESET):
                    raise ends.Ended
                connection.sendall(step)


def answer(stream):
    return headers(stream, (":status", "200"), ("content-length", "2"), end=False) + data(stream, b"ok")
