"""When connections are kept, closed or reset, in HTTP/1: what clients and upstreams do at each end."""

from .corpus import Case
from .ends import CLOSE, FIN, HEAD, LEFT, READ, RESET, SEEN, TOLD


def request(line="GET /1 HTTP/1.1", *fields, body=""):
    return "\r\n".join([line, "Host: a.test", *fields, "", body]).encode()


def answer(*fields, status="200 OK", body="ok", version="1.1", length=True):
    counted = [f"Content-Length: {len(body)}"] if length else []
    return "\r\n".join([f"HTTP/{version} {status}", *counted, *fields, "", body]).encode()


GET = request()
POST = "POST /1 HTTP/1.1"
HALF = answer("Content-Length: 5", length=False)
CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def cases():
    def case(title, *steps, upstream=(), early=False, method="GET"):
        found.append(Case("connections", title, method=method, steps=steps, upstream=upstream, early=early))

    found = []
    # ---- what the client says
    case("HTTP/1.1", GET, READ)
    case("HTTP/1.1 with Connection: close", request("GET /1 HTTP/1.1", "Connection: close"), READ)
    case("HTTP/1.1 with Connection: Close, TE", request("GET /1 HTTP/1.1", "Connection: Close, TE"), READ)
    case("HTTP/1.1 with close in a second Connection", request("GET /1 HTTP/1.1", "Connection: TE", "Connection: close"), READ)
    case("HTTP/1.1 with Connection: keep-alive", request("GET /1 HTTP/1.1", "Connection: keep-alive"), READ)
    case("HTTP/1.1 with close and keep-alive", request("GET /1 HTTP/1.1", "Connection: keep-alive, close"), READ)
    case("HTTP/1.1 with Proxy-Connection: close", request("GET /1 HTTP/1.1", "Proxy-Connection: close"), READ)
    case("HTTP/1.1 with Keep-Alive: timeout=0", request("GET /1 HTTP/1.1", "Keep-Alive: timeout=0"), READ)
    case("HTTP/1.1 with close within another word", request("GET /1 HTTP/1.1", "Connection: enclosed"), READ)
    case("HTTP/1.0", request("GET /1 HTTP/1.0"), READ)
    case("HTTP/1.0 with Connection: keep-alive", request("GET /1 HTTP/1.0", "Connection: keep-alive"), READ)
    case("HTTP/1.0 with keep-alive, and a response of chunks", request("GET /1 HTTP/1.0", "Connection: keep-alive"), READ,
         upstream=((CHUNKED + "2\r\nok\r\n0\r\n\r\n").encode(),))
    case("HTTP/1.0 with keep-alive, and a response until the end", request("GET /1 HTTP/1.0", "Connection: keep-alive"), READ,
         upstream=(answer(length=False), CLOSE))
    case("HTTP/1.0 with Proxy-Connection: keep-alive", request("GET /1 HTTP/1.0", "Proxy-Connection: keep-alive"), READ)
    case("HEAD", request("HEAD /1 HTTP/1.1"), READ, method="HEAD")
    case("requests one after the other", GET, READ, GET, READ, GET, READ)
    case("requests before their responses", GET + GET + GET, READ, READ, READ)
    case("close in the first of two requests", request("GET /1 HTTP/1.1", "Connection: close") + GET, READ, READ)
    # ---- errors
    case("a request that is refused", b"GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n", READ)
    case("a request that is refused before another", b"GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n" + GET, READ, READ)
    case("a version that is refused before another request", request("GET /1 HTTP/3.0") + GET, READ, READ)
    case("a target that is refused before another request", request("GET /\x01 HTTP/1.1") + GET, READ, READ)
    case("CONNECT before another request", request("CONNECT a.test:443 HTTP/1.1") + GET, READ, READ)
    case("TRACE before another request", request("TRACE / HTTP/1.1") + GET, READ, READ)
    case("an expectation that nobody knows", request("GET /1 HTTP/1.1", "Expect: x"), READ)
    case("a 404 of the upstream", GET, READ, upstream=(answer(status="404 Not Found"),))
    case("a 413 of the upstream after the whole body", request(POST, "Content-Length: 2", body="ab"), READ,
         upstream=(answer(status="413 Too Large"),))
    case("no answer of the upstream", GET, READ, upstream=(CLOSE,))
    case("no answer of the upstream to a POST", request(POST, "Content-Length: 2", body="ab"), READ, upstream=(CLOSE,))
    case("reset of the upstream instead of an answer", request(POST, "Content-Length: 2", body="ab"), READ, upstream=(RESET,))
    case("an answer that is no HTTP", GET, READ, upstream=(b"nonsense\r\n\r\n", CLOSE))
    # ---- early answers
    upload = request(POST, "Content-Length: 10", body="abc")
    case("early answer before the rest of the body", upload, HEAD, b"defghij", READ, upstream=(answer(),), early=True)
    case("early refusal before the rest of the body", upload, HEAD, b"defghij", READ, upstream=(answer(status="403 No"),), early=True)
    case("early refusal that closes", upload, HEAD, b"defghij", READ,
         upstream=(answer("Connection: close", status="403 No"), CLOSE), early=True)
    case("early answer, and no more of the body", upload, READ, FIN, upstream=(answer(),), early=True)
    case("early answer in the middle of chunks", request(POST, "Transfer-Encoding: chunked", body="3\r\nabc\r\n"), HEAD, b"0\r\n\r\n", READ,
         upstream=(answer(),), early=True)
    case("refusal of a client that waits for 100", request(POST, "Content-Length: 3", "Expect: 100-continue"), READ,
         upstream=(answer(status="403 No"),), early=True)
    # ---- the client ends
    case("FIN behind a request", GET, FIN, READ)
    case("FIN behind a request, while the upstream waits", GET, SEEN, FIN, READ, upstream=(LEFT, answer()))
    case("FIN behind two requests", GET + GET, FIN, READ, READ)
    case("FIN behind a request with a body", request(POST, "Content-Length: 2", body="ab"), FIN, READ)
    case("FIN behind a HTTP/1.0 request", request("GET /1 HTTP/1.0"), FIN, READ)
    case("FIN without a request", FIN)
    case("FIN behind an empty line", b"\r\n", FIN)
    case("FIN in a request line", b"GET /1", FIN)
    case("FIN in a head", GET[:-2], FIN)
    case("FIN in a body", request(POST, "Content-Length: 10", body="abc"), FIN)
    case("FIN in a chunk", request(POST, "Transfer-Encoding: chunked", body="5\r\nab"), FIN)
    case("FIN between chunks", request(POST, "Transfer-Encoding: chunked", body="2\r\nab\r\n"), FIN)
    case("FIN in trailers", request(POST, "Transfer-Encoding: chunked", body="0\r\nX-A: b\r\n"), FIN)
    case("FIN in the second head", GET + b"GET /2", FIN, READ)
    case("FIN after a response", GET, READ, FIN)
    case("FIN in the middle of a response", GET, HEAD, FIN, READ, upstream=(HALF, TOLD, b"abc"))
    # ---- what the upstream says
    closing = answer("Connection: close")
    case("Connection: close of the upstream", GET, READ, upstream=(closing, CLOSE))
    case("Connection: close of an upstream that does not", GET, READ, upstream=(closing,))
    case("HTTP/1.0 of the upstream", GET, READ, upstream=(answer(version="1.0"), CLOSE))
    case("HTTP/1.0 with keep-alive of the upstream", GET, READ, upstream=(answer("Connection: keep-alive", version="1.0"),))
    case("FIN of the upstream behind its response", GET, READ, upstream=(answer(), FIN))
    case("body until the upstream ends", GET, READ, upstream=(answer(length=False), CLOSE))
    case("body until a HTTP/1.0 upstream ends", GET, READ, upstream=(answer(length=False, version="1.0"), CLOSE))
    case("no body until the upstream ends", GET, READ, upstream=(answer(length=False, body=""), CLOSE))
    case("Proxy-Connection: close of the upstream", GET, READ, upstream=(answer("Proxy-Connection: close"),))
    # ---- the upstream breaks off
    for word, way in (("end", CLOSE), ("reset", RESET)):
        case(f"{word} in the middle of a length", GET, HEAD, READ, upstream=(HALF, TOLD, way))
        case(f"{word} in a chunk", GET, HEAD, READ, upstream=((CHUNKED + "5\r\nok").encode(), TOLD, way))
        case(f"{word} between chunks", GET, HEAD, READ, upstream=((CHUNKED + "2\r\nok\r\n").encode(), TOLD, way))
        case(f"{word} in trailers", GET, HEAD, READ, upstream=((CHUNKED + "2\r\nok\r\n0\r\nX-A: b\r\n").encode(), TOLD, way))
        case(f"{word} behind the last chunk", GET, HEAD, READ, upstream=((CHUNKED + "2\r\nok\r\n0\r\n").encode(), TOLD, way))
        case(f"{word} before the body", GET, HEAD, READ, upstream=(HALF[:-2], TOLD, way))
        case(f"{word} in a head", GET, READ, upstream=(b"HTTP/1.1 200 OK\r\nContent-Le", way))
        case(f"{word} behind a 100", request(POST, "Content-Length: 2", body="ab"), READ, upstream=(b"HTTP/1.1 100 Continue\r\n\r\n", way))
        case(f"{word} behind a 103", GET, READ, upstream=(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", way))
    case("chunk size that is wrong, and later than its head", GET, HEAD, READ, upstream=(CHUNKED.encode(), TOLD, b"xyz\r\n"))
    case("reset instead of the end of a body", GET, HEAD, READ, upstream=(answer(length=False), TOLD, RESET))
    case("end in the middle of a length, to HTTP/1.0", request("GET /1 HTTP/1.0"), HEAD, READ, upstream=(HALF, TOLD, CLOSE))
    case("end in a chunk, to HTTP/1.0", request("GET /1 HTTP/1.0"), HEAD, READ, upstream=((CHUNKED + "5\r\nok").encode(), TOLD, CLOSE))
    return found
