"""Clients and upstreams that reset or close on the way: how far a message came, what the other side sees, and when."""

from . import http2
from .connection_cases import CHUNKED, GET, POST, answer, request
from .corpus import Case
from .ends import ANSWER, BODY, CLOSE, END, FIN, HEAD, READ, RESET, SEEN, TAKE, TOLD, Pause
from .http2 import GOAWAY, PING, RST_STREAM, data, frame, headers
from .http2_cases import POST as POST_FIELDS
from .http2_cases import word
from .setups import HTTP2_CLIENTS, PLAIN, UPGRADES

UPGRADE = request("GET /1 HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==")
SWITCHED = (b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Accept: {accept}\r\n\r\n")
MASKED, UNMASKED = b"\x82\x84\0\0\0\0ping", b"\x82\x04pong"  # frames of WebSocket
HALF = answer("Content-Length: 5", length=False)
ENDLESS = answer(length=False)


def cases():
    return [*clients(), *upstreams(), *tunnels(), *http2_clients()]


def clients():
    found = []

    def case(title, *steps, setup=PLAIN, upstream=(END,), early=False):
        found.append(Case("breaks", title, steps=steps, setup=setup, upstream=upstream, early=early, watched=True))

    length = request(POST, "Content-Length: 10", body="abc")
    chunked = "Transfer-Encoding: chunked"
    case("client resets without a request", RESET)
    case("client resets in a head", GET[:-2], RESET)
    case("client resets after a head that wants 100", request(POST, "Content-Length: 3", "Expect: 100-continue"), SEEN, RESET)
    for word_of, way in (("resets", RESET), ("closes", CLOSE)):
        case(f"client {word_of} in a body of a length", length, BODY, way)
        case(f"client {word_of} in a chunk", request(POST, chunked, body="5\r\nab"), BODY, way)
        case(f"client {word_of} between chunks", request(POST, chunked, body="2\r\nab\r\n"), BODY, way)
        case(f"client {word_of} in trailers", request(POST, chunked, body="2\r\nab\r\n0\r\nX-A: b\r\n"), BODY, way)
        case(f"client {word_of} behind a GET", GET, SEEN, way)
        case(f"client {word_of} behind a POST", request(POST, "Content-Length: 2", body="ab"), BODY, way)
        case(f"client {word_of} behind two requests", GET + GET, SEEN, way)
        case(f"client {word_of} behind a head of a response", GET, HEAD, way, upstream=(HALF, TOLD, END))
        case(f"client {word_of} in chunks of a response", GET, HEAD, way, upstream=((CHUNKED + "2\r\nok\r\n").encode(), TOLD, END))
        case(f"client {word_of} in a response until the end", GET, HEAD, way, upstream=(ENDLESS, TOLD, END))
        case(f"client {word_of} behind an early answer", length, HEAD, way, upstream=(ANSWER, TOLD, END), early=True)
        case(f"client {word_of} behind an interim response", request(POST, "Content-Length: 2", "Expect: 100-continue"), SEEN, HEAD, way,
             upstream=(b"HTTP/1.1 100 Continue\r\n\r\n", TOLD, END), early=True)
    case("client ends its direction behind a GET", GET, SEEN, FIN, END)
    case("client ends its direction behind a POST", request(POST, "Content-Length: 2", body="ab"), BODY, FIN, END)
    case("client ends its direction behind a head of a response", GET, HEAD, FIN, END, upstream=(HALF, TOLD, END))
    return found


def upstreams():
    found = []

    def case(title, *steps, upstream, early=False):
        found.append(Case("breaks", title, steps=steps, upstream=upstream, early=early, watched=True))

    length = request(POST, "Content-Length: 10", body="abc")
    for word_of, way in (("resets", RESET), ("closes", CLOSE)):
        case(f"upstream {word_of} in a body of a request", length, READ, END, upstream=(way,), early=True)
        case(f"upstream {word_of} in chunks of a request", request(POST, "Transfer-Encoding: chunked", body="2\r\nab\r\n"), READ, END,
             upstream=(way,), early=True)
        case(f"upstream {word_of} behind an early head", length, HEAD, READ, END, upstream=(HALF, TOLD, way), early=True)
        case(f"upstream {word_of} behind a 100 in a body of a request", length, READ, END,
             upstream=(b"HTTP/1.1 100 Continue\r\n\r\n", way), early=True)
        case(f"upstream {word_of} in a status line", request(POST, "Content-Length: 2", body="ab"), READ, upstream=(b"HTTP/1.1 2", way))
        case(f"upstream {word_of} in a chunk's size", GET, HEAD, READ, upstream=((CHUNKED + "2\r\nok\r\n5").encode(), TOLD, way))
    return found


def tunnels():
    found = []

    def case(title, *steps, upstream):
        found.append(Case("breaks", title, steps=steps, setup=UPGRADES, upstream=upstream, watched=True))

    for word_of, way in (("resets", RESET), ("closes", CLOSE)):
        case(f"client {word_of} behind a 101", UPGRADE, READ, way, upstream=(SWITCHED, TOLD, END))
        case(f"client {word_of} in a tunnel", UPGRADE, READ, MASKED, TAKE, way, upstream=(SWITCHED, TAKE, UNMASKED, END))
        case(f"upstream {word_of} behind a 101", UPGRADE, READ, END, upstream=(SWITCHED, TOLD, way))
        case(f"upstream {word_of} in a tunnel", UPGRADE, READ, MASKED, TAKE, MASKED, END, upstream=(SWITCHED, TAKE, UNMASKED, TAKE, way))
        case(f"upstream {word_of} instead of a 101", UPGRADE, READ, upstream=(way,))
        case(f"upstream {word_of} in the head of a 101", UPGRADE, READ, upstream=(SWITCHED[:-2], way))
        case(f"client {word_of} before a 101", UPGRADE, SEEN, way, upstream=(END,))
    case("client ends its direction in a tunnel", UPGRADE, READ, FIN, TAKE, END, upstream=(SWITCHED, TOLD, END, UNMASKED, CLOSE))
    case("upstream ends its direction in a tunnel", UPGRADE, READ, END, upstream=(SWITCHED, TOLD, FIN))
    return found


def http2_clients():
    found = []

    def case(title, *steps, streams=(1,), probe=True, upstream=(END,), early=False):
        found.append(Case("breaks", "HTTP/2: " + title, steps=steps, streams=streams, setup=HTTP2_CLIENTS, probe=probe, upstream=upstream,
                          early=early, watched=True))

    get, cancel = headers(1, *http2.GET), frame(RST_STREAM, 0, 1, word(8))
    begun = headers(1, *POST_FIELDS, end=False)
    some = begun + data(1, b"ab", end=False)
    half = (HALF, TOLD, END)
    gone = frame(GOAWAY, 0, 0, word(0) + word(0))
    case("RST_STREAM behind a head", begun, SEEN, cancel, streams=())
    case("RST_STREAM in a body", some, BODY, cancel, streams=())
    case("RST_STREAM behind a request", get, SEEN, cancel, streams=())
    case("RST_STREAM behind a head of a response", get, 1, cancel, streams=(), upstream=half)
    case("RST_STREAM behind an early answer", some, 1, cancel, upstream=(ANSWER, TOLD, END), early=True)
    case("RST_STREAM of one of two requests", get, SEEN, cancel, headers(3, *http2.GET[:-1], (":path", "/next")), streams=(3,))
    case("RST_STREAM of no error behind a request", get, SEEN, frame(RST_STREAM, 0, 1, word(0)), streams=())
    case("GOAWAY behind a head", begun, SEEN, gone, data(1, b"ab"), probe=False, upstream=(ANSWER,))
    case("GOAWAY behind a request", get, SEEN, gone, probe=False, upstream=(Pause(0.3), ANSWER))
    case("GOAWAY behind a head of a response", get, 1, gone, probe=False, upstream=(HALF, TOLD, b"abc"))
    case("GOAWAY before another request", get, SEEN, gone, headers(3, *http2.GET), streams=(1, 3), probe=False, upstream=(ANSWER,))
    case("GOAWAY behind the last response, and no end", get, 1, gone, END, upstream=(ANSWER,))
    case("GOAWAY with an error behind a request", get, SEEN, frame(GOAWAY, 0, 0, word(0) + word(1)), probe=False, upstream=(Pause(0.3), ANSWER))
    for word_of, way in (("resets", RESET), ("closes", CLOSE)):
        case(f"client {word_of} in a body", some, BODY, way)
        case(f"client {word_of} behind a request", get, SEEN, way)
        case(f"client {word_of} behind a head of a response", get, 1, way, upstream=half)
        case(f"client {word_of} behind GOAWAY and a request", get, SEEN, gone, way)
        case(f"client {word_of} behind GOAWAY in a response", get, 1, gone, way, upstream=half)
    case("client closes in a frame", frame(PING, 0, 0, b"abc", length=8), CLOSE, upstream=())
    return found
