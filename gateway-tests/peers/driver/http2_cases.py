"""HTTP/2 requests of a client, and HTTP/2 responses of an upstream, as frames."""

import struct

from . import ends
from .corpus import Case
from .http2 import (
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GET, GOAWAY, HEADERS, NO_TABLE, PADDED, PING, PREFACE, PRIORITIZED, PRIORITY,
    PUSH_PROMISE, RST_STREAM, SETTINGS, WINDOW_UPDATE, block, data, frame, headers, settings)

POST = ((":method", "POST"), *GET[1:])
HEAD = ((":method", "HEAD"), *GET[1:])
OK = ((":status", "200"),)


def word(number):
    return struct.pack(">I", number)


def replaced(name, *values):
    """The fields of a GET, with other values of one: none, one or several."""
    return [each for field in GET for each in ([(field[0], value) for value in values] if field[0] == name else [field])]


def with_fields(*fields):
    return headers(1, *GET, *fields)


def body(*pieces, fields=()):
    return (headers(1, *POST, *fields, end=False), *pieces)


def requests():
    def case(title, *steps, streams=(1,), **more):
        found.append(Case("http2-requests", title, steps=steps, streams=streams, **more))

    found = []
    # ---- pseudo-header fields
    case("GET", headers(1, *GET))
    case("HEAD", headers(1, *HEAD))
    case("POST with a body", *body(data(1, b"ab")))
    case("OPTIONS of the whole server", headers(1, *replaced(":method", "OPTIONS")[:3], (":path", "*")))
    case("no :method", headers(1, *replaced(":method")))
    case("no :scheme", headers(1, *replaced(":scheme")))
    case("no :path", headers(1, *replaced(":path")))
    case("no :authority and no host", headers(1, *replaced(":authority")))
    case("host instead of :authority", headers(1, *replaced(":authority"), ("host", "b.test")))
    case("host equal to :authority", with_fields(("host", "a.test")))
    case("host that differs from :authority", with_fields(("host", "b.test")))
    case("host that differs from :authority in case", with_fields(("host", "A.test")))
    case("host with the port that :authority leaves out", with_fields(("host", "a.test:80")))
    case("host twice", headers(1, *replaced(":authority"), ("host", "b.test"), ("host", "b.test")))
    case(":method twice", headers(1, *replaced(":method", "GET", "GET")))
    case(":path twice", headers(1, *replaced(":path", "/", "/b")))
    case(":scheme twice", headers(1, *replaced(":scheme", "http", "http")))
    case(":authority twice", headers(1, *replaced(":authority", "a.test", "b.test")))
    case("pseudo-header field after another field", headers(1, *GET[:3], ("x-a", "b"), GET[3]))
    case("pseudo-header fields in another order", headers(1, *reversed(GET)))
    case("unknown pseudo-header field", headers(1, *GET, (":x", "b")))
    case(":status in a request", headers(1, *GET, (":status", "200")))
    case("pseudo-header field in upper case", headers(1, *GET[:3], (":PATH", "/")))
    case("pseudo-header field with an empty name", headers(1, *GET, (":", "b")))
    case("empty :method", headers(1, *replaced(":method", "")))
    case("empty :scheme", headers(1, *replaced(":scheme", "")))
    case("empty :path", headers(1, *replaced(":path", "")))
    case("empty :authority", headers(1, *replaced(":authority", "")))
    case("empty :authority beside a host", headers(1, *replaced(":authority", ""), ("host", "b.test")))
    case(":method with a space", headers(1, *replaced(":method", "GET /x")))
    case(":method with a line end", headers(1, *replaced(":method", "GET / HTTP/1.1\r\nX-A: b")))
    case(":method unregistered", headers(1, *replaced(":method", "PURGE")))
    case(":method in lower case", headers(1, *replaced(":method", "get")))
    case(":scheme of the other kind", headers(1, *replaced(":scheme", "https")))
    case(":scheme in upper case", headers(1, *replaced(":scheme", "HTTP")))
    case(":scheme that is not forwarded", headers(1, *replaced(":scheme", "ftp")))
    case(":scheme with a path in it", headers(1, *replaced(":scheme", "http://b.test/x")))
    case(":path without a slash", headers(1, *replaced(":path", "x")))
    case(":path in absolute form", headers(1, *replaced(":path", "http://b.test/x")))
    case(":path that is only a query", headers(1, *replaced(":path", "?x")))
    case(":path with a fragment", headers(1, *replaced(":path", "/x#y")))
    case(":path with a space", headers(1, *replaced(":path", "/x y")))
    case(":path with a line end", headers(1, *replaced(":path", "/x HTTP/1.1\r\nX-A: b")))
    case(":path with a NUL", headers(1, *replaced(":path", "/x\0y")))
    case(":path outside ASCII", headers(1, *replaced(":path", "/\xe9")))
    case(":path of an asterisk in GET", headers(1, *replaced(":path", "*")))
    case(":path with spaces around it", headers(1, *replaced(":path", " / ")))
    case(":authority with user information", headers(1, *replaced(":authority", "u@a.test")))
    case(":authority with a path in it", headers(1, *replaced(":authority", "a.test/x")))
    case(":authority with a space", headers(1, *replaced(":authority", "a test")))
    case(":authority with a line end", headers(1, *replaced(":authority", "a.test\r\nX-A: b")))
    case(":authority with a port", headers(1, *replaced(":authority", "a.test:81")))
    case(":authority with a port that is no number", headers(1, *replaced(":authority", "a.test:x")))
    case(":authority in upper case", headers(1, *replaced(":authority", "A.TEST")))
    # ---- CONNECT
    case("CONNECT", headers(1, (":method", "CONNECT"), (":authority", "a.test:443")))
    case("CONNECT with :path and :scheme", headers(1, *replaced(":method", "CONNECT")))
    case("CONNECT without :authority", headers(1, (":method", "CONNECT")))
    case(":protocol without CONNECT", headers(1, *GET, (":protocol", "websocket")))
    case("extended CONNECT of an unknown protocol", headers(1, *replaced(":method", "CONNECT"), (":protocol", "foo"), end=False))
    case("extended CONNECT without :path", headers(1, *replaced(":method", "CONNECT")[:3], (":protocol", "websocket"), end=False))
    # ---- fields
    case("field name in upper case", with_fields(("X-A", "b")))
    case("field name with a space", with_fields(("x a", "b")))
    case("field name with a colon", with_fields(("x:a", "b")))
    case("field name with a NUL", with_fields(("x\0a", "b")))
    case("field name with a line end", with_fields(("x-a: b\r\nx-c", "d")))
    case("field name outside ASCII", with_fields(("x-\xe9", "b")))
    case("field name that is empty", with_fields(("", "b")))
    case("field name with an underscore", with_fields(("x_a", "b")))
    case("field value that is empty", with_fields(("x-a", "")))
    case("field value with a CR", with_fields(("x-a", "b\rc")))
    case("field value with a LF", with_fields(("x-a", "b\nc")))
    case("field value with a NUL", with_fields(("x-a", "b\0c")))
    case("field value with another control byte", with_fields(("x-a", "b\x01c")))
    case("field value with DEL", with_fields(("x-a", "b\x7fc")))
    case("field value outside ASCII", with_fields(("x-a", "\xe9")))
    case("field value with spaces around it", with_fields(("x-a", " b ")))
    for name, value in (("connection", "x-a"), ("keep-alive", "timeout=5"), ("proxy-connection", "keep-alive"), ("upgrade", "h2c"),
                        ("transfer-encoding", "chunked"), ("te", "gzip")):
        case(f"{name}", with_fields((name, value)))
    case("te of trailers", with_fields(("te", "trailers")))
    case("te of trailers and more", with_fields(("te", "trailers, gzip")))
    case("http2-settings", with_fields(("http2-settings", "AAMAAABkAAQAAP__")))
    case("cookie in crumbs", with_fields(("cookie", "a=1"), ("cookie", "b=2")))
    case("expect", *body(data(1, b"ab"), fields=(("expect", "100-continue"),)))
    case("as many as 90 fields", with_fields(*((f"x-{i}", "b") for i in range(90))))
    case("200 fields", with_fields(*((f"x-{i}", "b") for i in range(200))))
    case("a field of 15000 bytes", with_fields(("x-a", "b" * 15000)))
    case("fields of 200000 bytes", frame(HEADERS, END_STREAM, 1, block(*GET)), *(
        frame(CONTINUATION, END_HEADERS if i == 19 else 0, 1, block((f"x-{i}", "b" * 10000))) for i in range(20)))
    # ---- bodies
    case("content-length of a body in two frames", *body(data(1, b"a", end=False), data(1, b"b"), fields=(("content-length", "2"),)))
    case("content-length too large", *body(data(1, b"ab"), fields=(("content-length", "3"),)))
    case("content-length too small", *body(data(1, b"ab"), fields=(("content-length", "1"),)))
    case("content-length and no body", headers(1, *POST, ("content-length", "2")))
    case("content-length of 0 and no body", headers(1, *POST, ("content-length", "0")))
    case("content-length twice", *body(data(1, b"ab"), fields=(("content-length", "2"), ("content-length", "2"))))
    case("two lengths that differ", *body(data(1, b"ab"), fields=(("content-length", "2"), ("content-length", "3"))))
    case("content-length with a sign", *body(data(1, b"ab"), fields=(("content-length", "+2"),)))
    case("content-length that is empty", *body(data(1, b"ab"), fields=(("content-length", ""),)))
    case("content-length as a list", *body(data(1, b"ab"), fields=(("content-length", "2, 2"),)))
    case("GET with a body", headers(1, *GET, end=False), data(1, b"ab"))
    case("body that is empty", *body(data(1)))
    case("body with empty frames", *body(*[data(1, end=False)] * 10, data(1, b"ab")))
    case("body with padding", *body(data(1, b"\3ab\0\0\0", flags=PADDED)))
    case("body that is only padding", *body(data(1, b"\3\0\0\0", flags=PADDED)))
    case("padding as long as its frame", *body(data(1, b"\3ab\0", flags=PADDED)))
    case("padding that is not zero", *body(data(1, b"\2abxy", flags=PADDED)))
    case("padded frame without a length of it", *body(data(1, b"", flags=PADDED)))
    case("DATA of an unopened stream", data(1, b"ab"))
    case("DATA of stream 0", data(0, b"ab"))
    case("DATA after the end of a stream", headers(1, *GET), 1, data(1, b"ab"))
    case("DATA with undefined flags", *body(data(1, b"ab", flags=0xf6 & ~PADDED)))
    case("DATA longer than a frame may be", *body(data(1, b"a" * 16385)))
    case("DATA as long as a frame may be", *body(data(1, b"a" * 16384)))
    # ---- trailers
    case("trailers", *body(data(1, b"ab", end=False), headers(1, ("x-a", "b"))))
    case("trailers without a body before them", *body(headers(1, ("x-a", "b"))))
    case("trailers without END_STREAM", *body(data(1, b"ab", end=False), headers(1, ("x-a", "b"), end=False)))
    case("trailers with a pseudo-header field", *body(data(1, b"ab", end=False), headers(1, (":path", "/x"))))
    case("trailers with an upper-case name", *body(data(1, b"ab", end=False), headers(1, ("X-A", "b"))))
    case("trailers with connection", *body(data(1, b"ab", end=False), headers(1, ("connection", "close"))))
    case("trailers with content-length", *body(data(1, b"ab", end=False), headers(1, ("content-length", "5"))))
    case("trailers with host", *body(data(1, b"ab", end=False), headers(1, ("host", "b.test"))))
    case("trailers that are empty", *body(data(1, b"ab", end=False), headers(1)))
    case("trailers after a length that is too large", *body(
        data(1, b"ab", end=False), headers(1, ("x-a", "b")), fields=(("content-length", "3"),)))
    case("trailers twice", *body(data(1, b"ab", end=False), headers(1, ("x-a", "b")), headers(1, ("x-c", "d"))))
    # ---- shapes of header blocks
    get = block(*GET)
    case("HEADERS and CONTINUATION", frame(HEADERS, END_STREAM, 1, get[:9]), frame(CONTINUATION, END_HEADERS, 1, get[9:]))
    case("HEADERS that is empty before CONTINUATION", frame(HEADERS, END_STREAM, 1), frame(CONTINUATION, END_HEADERS, 1, get))
    case("CONTINUATION that is empty", frame(HEADERS, END_STREAM, 1, get), frame(CONTINUATION, END_HEADERS, 1))
    case("CONTINUATION one byte at a time", frame(HEADERS, END_STREAM, 1, get[:-20]), *(
        frame(CONTINUATION, END_HEADERS if at == 0 else 0, 1, get[-1 - at:][:1]) for at in range(19, -1, -1)))
    case("CONTINUATION of another stream", frame(HEADERS, END_STREAM, 1, get), frame(CONTINUATION, END_HEADERS, 3))
    case("CONTINUATION without HEADERS", frame(CONTINUATION, END_HEADERS, 1, get))
    case("CONTINUATION after the end of the block", headers(1, *GET), frame(CONTINUATION, END_HEADERS, 1, get))
    case("CONTINUATION with END_STREAM", frame(HEADERS, 0, 1, get), frame(CONTINUATION, END_HEADERS | END_STREAM, 1), data(1, b"ab"))
    case("PING within a header block", frame(HEADERS, END_STREAM, 1, get), frame(PING, 0, 0, b"12345678"), frame(CONTINUATION, END_HEADERS, 1))
    case("unknown frame within a header block", frame(HEADERS, END_STREAM, 1, get), frame(99, 0, 1), frame(CONTINUATION, END_HEADERS, 1))
    case("HEADERS with padding", headers(1, *GET, flags=END_HEADERS | PADDED, before=b"\2", after=b"\0\0"))
    case("HEADERS with more padding than there is", frame(HEADERS, END_HEADERS | END_STREAM | PADDED, 1, b"\xff" + get))
    case("HEADERS with a priority", headers(1, *GET, flags=END_HEADERS | PRIORITIZED, before=word(0) + b"\x0f"))
    case("HEADERS that depends on itself", headers(1, *GET, flags=END_HEADERS | PRIORITIZED, before=word(1) + b"\x0f"))
    case("HEADERS too short for a priority", frame(HEADERS, END_HEADERS | END_STREAM | PRIORITIZED, 1, b"\0\0"))
    case("HEADERS with undefined flags", headers(1, *GET, flags=END_HEADERS | 0xd2))
    case("HEADERS of stream 0", headers(0, *GET))
    case("HEADERS of an even stream", headers(2, *GET), streams=(2,))
    case("HEADERS with a reserved bit", headers(0x80000001, *GET))
    case("streams out of order", headers(5, *GET), headers(3, *GET), streams=(5,))
    case("streams that leave numbers out", headers(1, *GET), headers(9, *GET), streams=(1, 9))
    case("the last stream there is", headers(0x7fffffff, *GET), streams=(0x7fffffff,), probe=False)
    case("HEADERS after the end of a stream", headers(1, *GET), 1, headers(1, *GET))
    case("HEADERS in the middle of another body", *body(headers(3, *GET), data(1, b"ab")), streams=(1, 3))
    # ---- HPACK
    case("HPACK index 0", frame(HEADERS, END_HEADERS | END_STREAM, 1, get + b"\x80"))
    case("HPACK index beyond the table", frame(HEADERS, END_HEADERS | END_STREAM, 1, get + b"\xff\x70"))
    case("HPACK integer without an end", frame(HEADERS, END_HEADERS | END_STREAM, 1, get + b"\xff" + b"\xff" * 12))
    case("HPACK string longer than the block", frame(HEADERS, END_HEADERS | END_STREAM, 1, get + b"\0\x7fx"))
    case("HPACK string of Huffman's code with EOS", frame(HEADERS, END_HEADERS | END_STREAM, 1, get + b"\0\x01x\x84\xff\xff\xff\xff"))
    case("HPACK string of Huffman's code with zeros as padding", frame(HEADERS, END_HEADERS | END_STREAM, 1, get + b"\0\x01x\x81\x18"))
    case("HPACK string of Huffman's code with a byte of padding", frame(HEADERS, END_HEADERS | END_STREAM, 1, get + b"\0\x01x\x82\x1f\xff"))
    case("HPACK table larger than allowed", frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x3f\xff\xff\x03" + get))
    case("HPACK table size in the middle of a block", frame(HEADERS, END_HEADERS | END_STREAM, 1, get + b"\x20"))
    case("HPACK field that is never indexed", frame(HEADERS, END_HEADERS | END_STREAM, 1, get + b"\x10\x03x-a\x01b"))
    case("HPACK field of the table", frame(HEADERS, END_HEADERS | END_STREAM, 1, get + b"\x40\x03x-a\x01b"), 1,
         frame(HEADERS, END_HEADERS | END_STREAM, 3, get + b"\xbe"), streams=(1, 3))
    # ---- frames of the connection
    case("SETTINGS that are empty", settings(), headers(1, *GET))
    case("SETTINGS with an unknown setting", settings((0xfa, 1)), headers(1, *GET))
    case("SETTINGS with ENABLE_PUSH of 2", settings((2, 2)), headers(1, *GET))
    case("SETTINGS with a frame size that is too small", settings((5, 16383)), headers(1, *GET))
    case("SETTINGS with a frame size that is too large", settings((5, 1 << 24)), headers(1, *GET))
    case("SETTINGS with the largest window", settings((4, 0x7fffffff)), headers(1, *GET))
    case("SETTINGS with a window beyond the largest", settings((4, 0x80000000)), headers(1, *GET))
    case("SETTINGS with the same setting twice", settings((4, 0), (4, 65535)), headers(1, *GET))
    case("SETTINGS with no streams for a server", settings((3, 0)), headers(1, *GET))
    case("SETTINGS that close all windows, opened later", settings((4, 0)), headers(1, *GET), 1, frame(WINDOW_UPDATE, 0, 1, word(2)), probe=False)
    case("SETTINGS that close all windows, opened by others", settings((4, 0)), headers(1, *GET), 1, settings((4, 2)))
    case("SETTINGS of a length that is no multiple of 6", frame(SETTINGS, 0, 0, b"\0\0\0"), headers(1, *GET))
    case("SETTINGS of a stream", frame(SETTINGS, 0, 1), headers(1, *GET))
    case("SETTINGS acknowledged with a payload", frame(SETTINGS, ACK, 0, b"\0" * 6), headers(1, *GET))
    case("SETTINGS acknowledged that nobody sent", *[frame(SETTINGS, ACK, 0)] * 3, headers(1, *GET))
    case("PING too short", frame(PING, 0, 0, b"1234567"), headers(1, *GET))
    case("PING of a stream", frame(PING, 0, 1, b"12345678"), headers(1, *GET))
    case("PING acknowledged that nobody sent", frame(PING, ACK, 0, b"12345678"), headers(1, *GET))
    case("WINDOW_UPDATE of 0 for the connection", frame(WINDOW_UPDATE, 0, 0, word(0)), headers(1, *GET))
    case("WINDOW_UPDATE of 0 for a stream", *body(frame(WINDOW_UPDATE, 0, 1, word(0)), data(1, b"ab")))
    case("WINDOW_UPDATE beyond the largest window", frame(WINDOW_UPDATE, 0, 0, word(0x7fffffff)), headers(1, *GET))
    case("WINDOW_UPDATE beyond the largest window of a stream", *body(frame(WINDOW_UPDATE, 0, 1, word(0x7fffffff)), data(1, b"ab")))
    case("WINDOW_UPDATE of an unopened stream", frame(WINDOW_UPDATE, 0, 1, word(9)), headers(1, *GET))
    case("WINDOW_UPDATE of an ended stream", headers(1, *GET), 1, frame(WINDOW_UPDATE, 0, 1, word(9)))
    case("WINDOW_UPDATE of 3 bytes", frame(WINDOW_UPDATE, 0, 0, b"\0\0\1"), headers(1, *GET))
    case("WINDOW_UPDATE with a reserved bit", frame(WINDOW_UPDATE, 0, 0, word(0x80000009)), headers(1, *GET))
    case("RST_STREAM of an unopened stream", frame(RST_STREAM, 0, 1, word(8)), headers(1, *GET))
    case("RST_STREAM of stream 0", frame(RST_STREAM, 0, 0, word(8)), headers(1, *GET))
    case("RST_STREAM too short", *body(frame(RST_STREAM, 0, 1, b"\0\0\0")))
    case("RST_STREAM of an ended stream", headers(1, *GET), 1, frame(RST_STREAM, 0, 1, word(8)))
    case("RST_STREAM twice", *body(*[frame(RST_STREAM, 0, 1, word(8))] * 2), streams=())
    case("RST_STREAM in the middle of a body", *body(data(1, b"ab", end=False), frame(RST_STREAM, 0, 1, word(8))), streams=())
    case("RST_STREAM with an unknown code", *body(frame(RST_STREAM, 0, 1, word(0xfa))), streams=())
    case("DATA after RST_STREAM", *body(frame(RST_STREAM, 0, 1, word(8)), data(1, b"ab")), streams=())
    case("PRIORITY of an idle stream", frame(PRIORITY, 0, 1, word(0) + b"\x0f"), headers(1, *GET))
    case("PRIORITY that depends on itself", *body(frame(PRIORITY, 0, 1, word(1) + b"\x0f"), data(1, b"ab")))
    case("PRIORITY of stream 0", frame(PRIORITY, 0, 0, word(1) + b"\x0f"), headers(1, *GET))
    case("PRIORITY too short", *body(frame(PRIORITY, 0, 1, word(0)), data(1, b"ab")))
    case("PUSH_PROMISE of a client", *body(frame(PUSH_PROMISE, END_HEADERS, 1, word(2) + get)))
    case("GOAWAY before a request", frame(GOAWAY, 0, 0, word(0) + word(0)), headers(1, *GET), probe=False)
    case("GOAWAY after a request", headers(1, *GET), frame(GOAWAY, 0, 0, word(0) + word(0)), probe=False)
    case("GOAWAY too short", frame(GOAWAY, 0, 0, word(0)), headers(1, *GET))
    case("GOAWAY of a stream", frame(GOAWAY, 0, 1, word(0) + word(0)), headers(1, *GET))
    case("unknown frame of the connection", frame(99, 0xff, 0, b"abc"), headers(1, *GET))
    case("unknown frame of a stream", *body(frame(99, 0xff, 1, b"abc"), data(1, b"ab")))
    case("unknown frame longer than a frame may be", frame(99, 0, 0, b"a" * 16385), headers(1, *GET))
    case("ORIGIN and ALTSVC of a client", frame(12, 0, 0), frame(10, 0, 0, b"\0\0"), headers(1, *GET))
    # ---- the beginning of a connection
    case("preface without SETTINGS", headers(1, *GET), raw=PREFACE)
    case("preface with a PING before SETTINGS", headers(1, *GET), raw=PREFACE + frame(PING, 0, 0, b"12345678") + settings(NO_TABLE))
    case("preface that breaks off", raw=PREFACE[:-3] + b"x\r\n" + settings(NO_TABLE), probe=False)
    case("preface twice", headers(1, *GET), raw=PREFACE + settings(NO_TABLE) + PREFACE)
    # ---- several streams
    case("two requests at a time", headers(1, *GET), headers(3, *replaced(":path", "/b")), streams=(1, 3))
    case("two bodies that alternate", *body(headers(3, *POST, end=False), data(1, b"a", end=False), data(3, b"c", end=False),
                                           data(1, b"b"), data(3, b"d")), streams=(1, 3))
    case("malformed request beside a good one", headers(1, *GET, ("X-A", "b")), headers(3, *GET), streams=(1, 3))
    return found


def responses():
    def case(title, answer, **more):
        found.append(Case("http2-responses", title, upstream=(answer,), **more))

    def head(*fields, end=False):
        return lambda s: headers(s, *fields, end=end)

    def play(*parts):
        """Parts are bytes, words, or functions of the stream."""
        return lambda s: [part(s) if callable(part) else part for part in parts]

    def content(payload=b"ok", end=True, flags=0):
        return lambda s: data(s, payload, end, flags)

    def framed(kind, flags, payload=b""):
        return lambda s: frame(kind, flags, s, payload)

    found = []
    case("plain response", play(head(*OK), content()))
    case("no body", play(head(*OK, end=True)))
    for name, fields in (("no :status", (("x-a", "b"),)), (":status twice", OK * 2), (":status of two digits", ((":status", "20"),)),
                         (":status of four digits", ((":status", "2000"),)), (":status that is no number", ((":status", "2xx"),)),
                         (":status with a reason", ((":status", "200 OK"),)), ("empty :status", ((":status", ""),)),
                         (":status of 99", ((":status", "099"),)), (":status of 600", ((":status", "600"),)),
                         (":status after a field", (("x-a", "b"), *OK)), (":path in a response", (*OK, (":path", "/"))),
                         ("unknown pseudo-header field", (*OK, (":x", "b"))), ("field name in upper case", (*OK, ("X-A", "b"))),
                         ("field name with a space", (*OK, ("x a", "b"))), ("field name that is empty", (*OK, ("", "b"))),
                         ("field value with a CR", (*OK, ("x-a", "b\rc"))), ("field value with a LF", (*OK, ("x-a", "b\nc"))),
                         ("field value with a NUL", (*OK, ("x-a", "b\0c"))),
                         ("field value with another control byte", (*OK, ("x-a", "b\x01c"))),
                         ("field value with spaces around it", (*OK, ("x-a", " b "))), ("connection", (*OK, ("connection", "x-a"))),
                         ("keep-alive", (*OK, ("keep-alive", "timeout=5"))), ("proxy-connection", (*OK, ("proxy-connection", "close"))),
                         ("upgrade", (*OK, ("upgrade", "h2c"))), ("transfer-encoding", (*OK, ("transfer-encoding", "chunked"))),
                         ("te", (*OK, ("te", "trailers"))), ("content-length too large", (*OK, ("content-length", "3"))),
                         ("content-length too small", (*OK, ("content-length", "1"))),
                         ("content-length twice", (*OK, ("content-length", "2"), ("content-length", "2"))),
                         ("two lengths that differ", (*OK, ("content-length", "2"), ("content-length", "3"))),
                         ("content-length that is no number", (*OK, ("content-length", "x"))),
                         ("150 fields", (*OK, *((f"x-{i}", "b") for i in range(150))))):
        case(name, play(head(*fields), content()))
    case("content-length and no body", play(head(*OK, ("content-length", "2"), end=True)))
    case("content-length of a response to HEAD", play(head(*OK, ("content-length", "2"), end=True)), method="HEAD")
    case("body of a response to HEAD", play(head(*OK), content()), method="HEAD")
    case("body of a 204", play(head((":status", "204")), content()))
    case("content-length of a 204", play(head((":status", "204"), ("content-length", "2"), end=True)))
    case("body of a 304", play(head((":status", "304")), content()))
    case("content-length of a 304", play(head((":status", "304"), ("content-length", "2"), end=True)))
    case("100 before the response", play(head((":status", "100")), head(*OK), content()))
    case("103 before the response", play(head((":status", "103"), ("link", "x")), head(*OK), content()))
    case("101", play(head((":status", "101")), head(*OK), content()))
    case("103 that ends the stream", play(head((":status", "103"), end=True)))
    case("DATA after a 103", play(head((":status", "103")), content()), crashes=("haproxy",))
    case("DATA without HEADERS", play(content()), crashes=("haproxy",))
    case("trailers", play(head(*OK), content(end=False), head(("x-a", "b"), end=True)))
    case("trailers without a field", play(head(*OK), content(end=False), framed(HEADERS, END_HEADERS | END_STREAM)))
    case("trailers without END_STREAM", play(head(*OK), content(end=False), head(("x-a", "b")), content()))
    case("trailers with :status", play(head(*OK), content(end=False), head((":status", "200"), end=True)))
    case("trailers with an upper-case name", play(head(*OK), content(end=False), head(("X-A", "b"), end=True)))
    case("trailers before the length is reached", play(head(*OK, ("content-length", "5")), content(end=False), head(("x-a", "b"), end=True)))
    case("padding", play(head(*OK), content(b"\2ok\0\0", flags=PADDED)))
    case("padding longer than its frame", play(head(*OK), content(b"\xffok", flags=PADDED)))
    case("empty DATA that ends the body", play(head(*OK), content(end=False), content(b"")))
    case("RST_STREAM instead of a response", play(framed(RST_STREAM, 0, word(2))))
    case("RST_STREAM REFUSED_STREAM", play(framed(RST_STREAM, 0, word(7))))
    case("RST_STREAM in the middle of a body", play(head(*OK, ("content-length", "5")), content(end=False), framed(RST_STREAM, 0, word(2))))
    case("RST_STREAM of no error after the response", play(head(*OK), content(), framed(RST_STREAM, 0, word(0))))
    case("GOAWAY that leaves the request out", play(frame(GOAWAY, 0, 0, word(0) + word(0))))
    case("GOAWAY and the response", play(frame(GOAWAY, 0, 0, word(0x7fffffff) + word(0)), head(*OK), content()))
    case("GOAWAY with an error", play(frame(GOAWAY, 0, 0, word(0) + word(1)), ends.CLOSE))
    case("end of the connection instead of a response", play(ends.CLOSE))
    case("end of the connection in the middle of a body", play(head(*OK, ("content-length", "5")), content(end=False), ends.CLOSE))
    case("end of the connection amid a body without a length", play(head(*OK), content(end=False), ends.CLOSE))
    case("RST_STREAM behind the head", play(head(*OK, ("content-length", "5")), framed(RST_STREAM, 0, word(2))))
    case("RST_STREAM behind a 103", play(head((":status", "103"), ("link", "x")), framed(RST_STREAM, 0, word(2))))
    case("RST_STREAM instead of trailers", play(head(*OK), content(end=False), framed(RST_STREAM, 0, word(2))))
    case("GOAWAY in the middle of a body", play(head(*OK, ("content-length", "4")), content(end=False),
                                                frame(GOAWAY, 0, 0, word(0x7fffffff) + word(0)), content()))
    case("GOAWAY that leaves a response out that has begun", play(head(*OK, ("content-length", "4")), content(end=False),
                                                                  frame(GOAWAY, 0, 0, word(0) + word(0)), ends.CLOSE))
    case("end of the connection behind a 103", play(head((":status", "103"), ("link", "x")), ends.CLOSE))
    case("reset of the connection instead of a response", play(ends.RESET))
    case("PUSH_PROMISE", play(framed(PUSH_PROMISE, END_HEADERS, word(2) + block(*GET)), head(*OK), content()))
    case("HEADERS of a stream that nobody opened", play(headers(2, *OK), head(*OK), content()))
    case("CONTINUATION", play(framed(HEADERS, 0, block(*OK)), framed(CONTINUATION, END_HEADERS, block(("x-a", "b"))), content()))
    case("CONTINUATION without HEADERS", play(framed(CONTINUATION, END_HEADERS, block(*OK))))
    case("HPACK index beyond the table", play(framed(HEADERS, END_HEADERS, b"\xff\x70"), content()))
    case("DATA longer than a frame may be", play(head(*OK), content(b"a" * 16385)))
    case("unknown frame before the response", play(framed(99, 0, b"abc"), head(*OK), content()))
    case("an answer of HTTP/1", play(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
    case("WINDOW_UPDATE of 0", play(framed(WINDOW_UPDATE, 0, word(0)), head(*OK), content()))
    case("SETTINGS that are wrong", play(settings((4, 0x80000000)), head(*OK), content()))
    case("second response on the same stream", play(head(*OK), content(), head(*OK), content()))
    case("DATA after the end", play(head(*OK), content(), content()))
    return found
