"""Clients and upstreams that are slow, or say nothing more, while each limit of time is a second."""

from . import http2
from .break_cases import HALF, SWITCHED, UPGRADE
from .connection_cases import CHUNKED, GET, POST, answer, request
from .corpus import Case
from .ends import ANSWER, CLOSE, END, READ, TAKE, Pause
from .http2 import CONTINUATION, END_HEADERS, HEADERS, NO_TABLE, PING, PREFACE, WINDOW_UPDATE, block, data, frame, headers, settings
from .http2_cases import POST as POST_FIELDS
from .http2_cases import word
from .setups import LIMITED, LIMITED_HTTP2, WHOLE, WHOLE_HTTP2

STEP, STEPS = Pause(0.2), 12  # a limit of a second ends between these steps, if it counts from the first


def slowly(pieces):
    return [step for piece in pieces for step in (piece, STEP)]


def cases():
    return [*clients(), *upstreams(), *http2_clients(), *whole()]


def clients():
    found = []

    def case(title, *steps, upstream=(), early=False):
        found.append(Case("times", title, steps=steps, setup=LIMITED, upstream=upstream, early=early, watched=True))

    chunked = "Transfer-Encoding: chunked"
    end = (END,)
    case("no byte of a client", END)
    case("nothing but an empty line", b"\r\n", END)
    case("request line that stalls", b"GET /1", READ, END)
    case("head that stalls", GET[:-2], READ, END)
    case("head that comes slowly", b"GET /1 HTTP/1.1\r\nHost: a.test\r\n", *slowly([b"X-A: b\r\n"] * STEPS), READ, END)
    case("body that does not begin", request(POST, "Content-Length: 10"), READ, END, upstream=end)
    case("body of a length that stalls", request(POST, "Content-Length: 10", body="abc"), READ, END, upstream=end)
    case("chunk that stalls", request(POST, chunked, body="5\r\nab"), READ, END, upstream=end)
    case("pause between chunks", request(POST, chunked, body="2\r\nab\r\n"), READ, END, upstream=end)
    case("trailers that stall", request(POST, chunked, body="2\r\nab\r\n0\r\nX-A: b\r\n"), READ, END, upstream=end)
    case("body that comes slowly", request(POST, f"Content-Length: {STEPS}"), *slowly([b"a"] * STEPS), READ, END)
    case("no 100 for a client that waits", request(POST, "Content-Length: 10", "Expect: 100-continue"), READ, END, upstream=end)
    case("body that does not begin after 100", request(POST, "Content-Length: 10", "Expect: 100-continue"), READ, END,
         upstream=(b"HTTP/1.1 100 Continue\r\n\r\n", END), early=True)
    case("body that stalls after an early answer", request(POST, "Content-Length: 10", body="abc"), READ, END, upstream=(answer(),), early=True)
    case("body that stalls after a refusal", b"GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\nContent-Length: 10\r\n\r\nabc", READ, END)
    case("no further request", GET, READ, END)
    case("empty line behind a request", GET, READ, b"\r\n", END)
    case("second head that stalls", GET, READ, GET[:-2], READ, END)
    case("second request later than a limit", GET, READ, Pause(2.5), GET, READ)
    case("request behind one without an answer", GET + GET, READ, READ, END, upstream=end)
    case("response that is not read", GET, Pause(3.0), READ, END, upstream=(answer(body="a" * 40_000_000), END))
    return found


def upstreams():
    found = []

    def case(title, *steps, upstream):
        found.append(Case("times", title, steps=steps, setup=LIMITED, upstream=upstream, watched=True))

    chunks = (CHUNKED + "2\r\nok\r\n").encode()
    post = request(POST, "Content-Length: 2", body="ab")
    case("no answer to a GET", GET, READ, upstream=(END,))
    case("no answer to a POST", post, READ, upstream=(END,))
    case("no answer to HTTP/1.0", request("GET /1 HTTP/1.0"), READ, upstream=(END,))
    case("status line that stalls", GET, READ, upstream=(b"HTTP/1.1 2", END))
    case("head of a response that stalls", GET, READ, upstream=(HALF[:-4], END))
    case("head of a response that comes slowly", GET, READ, upstream=(HALF.split(b"Content")[0], *slowly([b"X-A: b\r\n"] * STEPS), b"Content-Length: 0\r\n\r\n"))
    case("100 and no answer", post, READ, upstream=(b"HTTP/1.1 100 Continue\r\n\r\n", END))
    case("103 and no answer", GET, READ, upstream=(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", END))
    case("103 time and again", GET, READ, upstream=(*slowly([b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"] * STEPS), ANSWER))
    case("response whose body does not begin", GET, READ, upstream=(answer("Content-Length: 5", length=False, body=""), END))
    case("response of a length that stalls", GET, READ, upstream=(HALF, END))
    case("chunk of a response that stalls", GET, READ, upstream=((CHUNKED + "5\r\nok").encode(), END))
    case("pause between chunks of a response", GET, READ, upstream=(chunks, END))
    case("trailers of a response that stall", GET, READ, upstream=(chunks + b"0\r\nX-A: b\r\n", END))
    case("response until the end that stalls", GET, READ, upstream=(answer(length=False), END))
    case("response that stalls, to HTTP/1.0", request("GET /1 HTTP/1.0"), READ, upstream=(chunks, END))
    case("response that comes slowly", GET, READ, upstream=(CHUNKED.encode(), *slowly([b"1\r\na\r\n"] * STEPS), b"0\r\n\r\n"))
    case("response that is done, and its connection", GET, READ, END, upstream=(ANSWER, END))
    case("upgrade without an answer", UPGRADE, READ, upstream=(END,))
    case("head of a 101 that stalls", UPGRADE, READ, upstream=(SWITCHED[:-2], END))
    case("tunnel in which nothing comes", UPGRADE, READ, TAKE, CLOSE, upstream=(SWITCHED, TAKE, END))
    return found


def http2_clients():
    found = []

    def case(title, *steps, streams=(1,), raw=None, upstream=(), early=False):
        found.append(Case("times", "HTTP/2: " + title, steps=steps, streams=streams, setup=LIMITED_HTTP2, raw=raw, upstream=upstream,
                          early=early, watched=True))

    get, end = headers(1, *http2.GET), (END,)
    begun = headers(1, *POST_FIELDS, end=False)
    case("preface that stalls", END, raw=PREFACE[:10], streams=())
    case("no SETTINGS", END, raw=PREFACE, streams=())
    case("no request", END, streams=())
    case("no further request", get, 1, END)
    case("PING instead of a request", *slowly([frame(PING, 0, 0, b"a" * 8)] * STEPS), END, streams=())
    case("HEADERS without CONTINUATION", 0, frame(HEADERS, 0, 1, block(*http2.GET)), END, streams=())
    case("CONTINUATION that comes slowly", 0, frame(HEADERS, 0, 1, block(*http2.GET)),
         *slowly([frame(CONTINUATION, 0, 1, block(("x-a", "b")))] * STEPS), frame(CONTINUATION, END_HEADERS, 1), END)
    case("frame that stalls", 0, frame(HEADERS, END_HEADERS, 1, block(*http2.GET)[:9], length=60), END, streams=())
    case("body that does not begin", begun, END, upstream=end)
    case("body that stalls", begun + data(1, b"ab", end=False), END, upstream=end)
    case("body that comes slowly", begun, *slowly([data(1, b"a", end=False)] * STEPS), data(1), END)
    case("body that stalls beside another request", begun + headers(3, *http2.GET), END, streams=(1, 3))
    case("body that stalls after an early answer", begun + data(1, b"ab", end=False), END, upstream=(answer(),), early=True)
    case("no answer", get, END, upstream=end)
    case("response that stalls", get, END, upstream=(HALF, END))
    case("response that comes slowly", get, END, upstream=(CHUNKED.encode(), *slowly([b"1\r\na\r\n"] * STEPS), b"0\r\n\r\n"))
    case("response without room in the window", get, END, raw=PREFACE + settings(NO_TABLE, (4, 0)), upstream=(ANSWER, END))
    case("response whose window is opened slowly", get, 1, *slowly([frame(WINDOW_UPDATE, 0, 1, word(1))] * STEPS), END,
         raw=PREFACE + settings(NO_TABLE, (4, 0)), upstream=(answer(body="a" * STEPS), END))
    return found


def whole():
    """Requests that have a second to come, however their parts come."""
    found = []

    def case(title, *steps, setup=WHOLE, **more):
        found.append(Case("times", title, steps=steps, setup=setup, upstream=(END,), watched=True, **more))

    chunked = "Transfer-Encoding: chunked"
    case("body that is not whole in time", request(POST, "Content-Length: 10", body="abc"), READ, END)
    case("trailers that come slowly, and not in time", request(POST, chunked, body="2\r\nab\r\n0\r\n"), *slowly([b"X-A: b\r\n"] * STEPS), READ, END)
    case("HTTP/2: body that is not whole in time", headers(1, *POST_FIELDS, end=False) + data(1, b"ab", end=False), END, setup=WHOLE_HTTP2, streams=(1,))
    return found
