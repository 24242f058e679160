"""Reads messages of HTTP/1.1 as a recipient does that accepts one form only, and says how a message deviates from it.

It is written apart from the gateway's code, and stricter than any server: it is what "canonical" means here. A head has

- lines that end with CRLF, and no other CR, LF, NUL or control byte besides tabs in values,
- a start line of three parts with one space between them, and HTTP/1.1,
- field names that are tokens, with the colon behind them, and values without white space at their ends,
- no line that continues the one before,
- at most one of Content-Length and Transfer-Encoding, once; a length of digits without needless zeros, or "chunked".

A request also has one Host that is no list, a target in the normal form of docs/routing.md, no name that other software reads as
another one, and no field of one connection. A chunk's size has no needless zero and no extension. Trailers have no framing.
"""

import dataclasses
import re

TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
LENGTH = re.compile(rb"0|[1-9][0-9]{0,18}")
CHUNK = re.compile(rb"0|[1-9a-fA-F][0-9a-fA-F]{0,15}")
CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
PLAIN_NAME = re.compile(rb"[A-Za-z][A-Za-z0-9-]*")
HOST = re.compile(rb"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+;=%-]+)(:[0-9]{0,5})?")
TARGET = re.compile(rb"[!-~]*")
STATUS = re.compile(rb"HTTP/1\.1 ([1-9][0-9]{2}) [\t -~\x80-\xff]*")
ESCAPE = re.compile(rb"%([0-9A-F]{2})?")
NEEDLESS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
OF_ONE_CONNECTION = frozenset((b"keep-alive", b"proxy-connection", b"proxy-authenticate", b"proxy-authorization", b"http2-settings"))
WRITTEN_ONCE = (b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host", b"x-forwarded-port", b"x-request-id")
NOT_IN_TRAILERS = frozenset((b"content-length", b"transfer-encoding", b"host", b"connection", b"te", b"trailer", b"authorization",
                             b"content-encoding", b"content-type", b"content-range", *WRITTEN_ONCE))


class Deviation(Exception):
    """Bytes that are not canonical."""


@dataclasses.dataclass
class Message:
    line: bytes = b""
    fields: list = dataclasses.field(default_factory=list)  # pairs of a name in lower case and a value
    body: bytes = b""
    trailers: list = dataclasses.field(default_factory=list)
    whole: bool = False  # whether its end was there
    framing: str = "none"

    def __str__(self):
        body = f"{self.body[:80]!r}" + (f" and more, {len(self.body)} bytes" if len(self.body) > 80 else "")
        return f"{self.line!r} {'whole' if self.whole else 'cut'}, framing by {self.framing}, body {body}, trailers {self.trailers}"

    def values(self, name):
        return [value for each, value in self.fields if each == name]

    @property
    def method(self):
        return self.line.split(b" ")[0]

    @property
    def target(self):
        return self.line.split(b" ")[1]

    @property
    def host(self):
        return self.values(b"host")[0]

    @property
    def status(self):
        return int(self.line.split(b" ")[1])


class Cut(Exception):
    """The bytes end before the message does."""


class Reading:
    def __init__(self, data, at=0):
        self.data = data
        self.at = at

    def line(self):
        end = self.data.find(b"\n", self.at)
        found = self.data[self.at:end if end >= 0 else len(self.data)]
        if end < 0:
            raise Cut
        if not found.endswith(b"\r"):
            raise Deviation(f"a line ends with LF alone: {found[-60:]!r}")
        self.at = end + 1
        return found[:-1]

    def exactly(self, count):
        found = self.data[self.at:self.at + count]
        self.at += len(found)
        return found, len(found) == count

    def fields(self):
        """Reads fields up to the empty line."""
        found = []
        while line := self.line():
            if line[:1] in (b" ", b"\t"):
                raise Deviation(f"a line continues the one before: {line!r}")
            name, colon, value = line.partition(b":")
            if not colon or not TOKEN.fullmatch(name):
                raise Deviation(f"a field without a token as its name: {line!r}")
            value = value.removeprefix(b" ")
            if value.strip(b" \t") != value:
                raise Deviation(f"white space around a value: {line!r}")
            if CONTROL.search(value):
                raise Deviation(f"a control byte in a value: {line!r}")
            found.append((name.lower(), value))
        return found

    def chunks(self, message):
        while True:
            size = self.line()
            if not CHUNK.fullmatch(size):
                raise Deviation(f"a chunk's size: {size!r}")
            count = int(size, 16)
            if not count:
                break
            piece, whole = self.exactly(count)
            message.body += piece
            if not whole:
                raise Cut
            end, whole = self.exactly(2)
            if not b"\r\n".startswith(end):
                raise Deviation(f"a chunk does not end where it says, but with {end!r}")
            if not whole:
                raise Cut
        message.trailers = self.fields()
        for name, _ in message.trailers:
            if name in NOT_IN_TRAILERS:
                raise Deviation(f"{name!r} in a trailer")


def framing(message):
    """Returns the length that a head tells, "chunked", or None."""
    lengths, codings = message.values(b"content-length"), message.values(b"transfer-encoding")
    if len(lengths) + len(codings) > 1:
        raise Deviation(f"more than one of Content-Length and Transfer-Encoding: {lengths} {codings}")
    if lengths:
        if not LENGTH.fullmatch(lengths[0]):
            raise Deviation(f"Content-Length: {lengths[0]!r}")
        return int(lengths[0])
    if codings:
        if codings[0] != b"chunked":
            raise Deviation(f"Transfer-Encoding: {codings[0]!r}")
        return "chunked"
    return None


def read_body(reading, message, frame):
    if frame == "chunked":
        message.framing = "chunked"
        reading.chunks(message)
    elif frame:
        message.framing = "length"
        message.body, whole = reading.exactly(frame)
        if not whole:
            raise Cut
    message.whole = True


def requests(data, check):
    """Returns the messages in the bytes of a connection; the last one may be cut. "check" gets each request's head."""
    reading, found = Reading(bytes(data)), []
    while reading.at < len(reading.data):
        message = Message()
        try:
            message.line = reading.line()
            message.fields = reading.fields()
            check(message)
            found.append(message)
            read_body(reading, message, framing(message))
        except Cut:
            if not found or found[-1] is not message:
                found.append(message)
            return found
    return found


def check_request(message, normal=True):
    """Says how a request's head is not canonical. "normal" says if its rule forwards paths in normal form."""
    parts = message.line.split(b" ")
    if len(parts) != 3 or parts[2] != b"HTTP/1.1" or not TOKEN.fullmatch(parts[0]) or not TARGET.fullmatch(parts[1]):
        raise Deviation(f"the request line {message.line!r}")
    check_target(*parts[:2], normal)
    hosts = message.values(b"host")
    if len(hosts) != 1 or not HOST.fullmatch(hosts[0]):
        raise Deviation(f"Host: {hosts}")
    options = [each.strip().lower() for value in message.values(b"connection") for each in value.split(b",")]
    if options and options not in ([b"upgrade"], [b"close"], [b"te"]):
        raise Deviation(f"Connection: {options}")
    if message.values(b"upgrade") and options != [b"upgrade"]:
        raise Deviation("Upgrade without Connection: upgrade")
    if any(value != b"trailers" for value in message.values(b"te")):
        raise Deviation(f"TE: {message.values(b'te')}")
    for name, _ in message.fields + message.trailers:
        if not PLAIN_NAME.fullmatch(name):
            raise Deviation(f"an odd name of a field: {name!r}")
        if name in OF_ONE_CONNECTION:
            raise Deviation(f"a field of one connection: {name!r}")
    for name in WRITTEN_ONCE:
        # A request of HTTP/1.0 without Host names no host.
        if len(message.values(name)) != 1 and (message.values(name) or name != b"x-forwarded-host"):
            raise Deviation(f"{name!r}: {message.values(name)}")
    if message.values(b"x-forwarded-for") != [b"127.0.0.1"]:
        raise Deviation(f"X-Forwarded-For: {message.values(b'x-forwarded-for')}")


def check_target(method, target, normal):
    if target == b"*" and method == b"OPTIONS":
        return
    path = target.partition(b"?")[0]
    if not path.startswith(b"/") or b"#" in target or b"\\" in path:
        raise Deviation(f"the target {target!r}")
    if not normal:
        return
    for escape in ESCAPE.finditer(path):
        if not escape[1] or int(escape[1], 16) in NEEDLESS or escape[1] == b"00":
            raise Deviation(f"the escape {escape[0]!r} in the target {target!r}")
    segments = path.split(b"/")[1:]
    if b"." in segments or b".." in segments or b"" in segments[:-1]:
        raise Deviation(f"a segment of the target {target!r}")


def responses(data, methods, closed, lenient=False):
    """Returns the final responses in the bytes of a connection; the last one may be cut.

    The methods are those of the requests, in turn. "closed" says if the connection was closed after these bytes, as that may end a
    response. The lenient form ignores what follows a response that announces the end of the connection.
    """
    reading, found = Reading(bytes(data)), []
    for method in methods:
        message = Message()
        try:
            while True:
                if reading.at == len(reading.data):
                    return found
                message.line = reading.line()
                if not STATUS.fullmatch(message.line):
                    raise Deviation(f"the status line {message.line!r}")
                message.fields = reading.fields()
                frame = framing(message)
                if message.status >= 200:
                    break
                if frame is not None or message.status == 101:
                    raise Deviation(f"{message.line!r} with {frame}")
            found.append(message)
            if method == b"HEAD" or message.status in (204, 304):
                if message.status == 204 and frame is not None:
                    raise Deviation(f"framing of a 204: {frame}")
                message.whole = True
            elif frame is None:
                message.framing = "close"
                message.body, _ = reading.exactly(len(reading.data))
                message.whole = closed
            else:
                read_body(reading, message, frame)
        except Cut:
            if not found or found[-1] is not message:
                found.append(message)
            return found
        if lenient and b"close" in message.values(b"connection"):
            return found
    if reading.at < len(reading.data):
        raise Deviation(f"bytes behind the last response: {reading.data[reading.at:reading.at + 60]!r}")
    return found
