"""What proxies forward otherwise than it came: paths, wishes for another protocol, and responses without a date."""

from .connection_cases import POST, answer, request
from .corpus import Case
from .ends import CLOSE, READ, TAKE, TUNNEL, Switch

WISH = "Connection: Upgrade"


def paths():
    found = []

    def case(title, target):
        found.append(Case("paths", title, sent=request(f"GET {target} HTTP/1.1")))

    # ---- segments
    case("two slashes", "/a//b")
    case("two slashes at the beginning", "//b.test/a")
    case("two slashes before two dots", "/a//../b")
    case("one dot", "/a/./b")
    case("two dots", "/a/../b")
    case("two dots at the end", "/a/b/..")
    case("two dots that leave the root", "/../a")
    case("three dots", "/a/.../b")
    case("dots in a query", "/a?b=/../c")
    case("parameter", "/a;b=c/d")
    case("two dots before a parameter", "/a/..;/b")
    case("backslash", r"/a\b")
    # ---- escapes
    case("escaped dots", "/a/%2e%2e/b")
    case("escaped letter", "/%61dmin")
    case("escaped slash", "/a%2fb")
    case("two dots before an escaped slash", "/a/..%2fb")
    case("escaped backslash", "/a%5cb")
    case("escaped NUL", "/a%00b")
    case("escaped escape", "/a/%252e%252e/b")
    case("invalid escape", "/a%zz")
    case("invalid escape in a query", "/a?b=%zz")
    case("escape that breaks off", "/a%2")
    return found


def upgrades():
    found = []

    def case(title, *steps, upstream=(Switch((WISH, "Upgrade: tcp")),)):
        found.append(Case("upgrades", title, steps=steps, upstream=upstream, watched=True, shows=("upgrade",)))

    tcp = "Upgrade: tcp"
    wish = request("GET /1 HTTP/1.1", WISH, tcp)
    # ---- what the client asks for
    case("token that is allowed", wish, READ, TUNNEL)
    case("token in upper case", request("GET /1 HTTP/1.1", WISH, "Upgrade: TCP"), READ, TUNNEL)
    case("token that is not allowed", request("GET /1 HTTP/1.1", WISH, "Upgrade: foo"), READ, TUNNEL, upstream=(Switch((WISH, "Upgrade: foo")),))
    case("two tokens, one of them allowed", request("GET /1 HTTP/1.1", WISH, "Upgrade: foo, tcp"), READ, TUNNEL)
    case("two tokens in two fields", request("GET /1 HTTP/1.1", WISH, "Upgrade: foo", tcp), READ, TUNNEL)
    case("two tokens, one a WebSocket without its key", request("GET /1 HTTP/1.1", WISH, "Upgrade: tcp, websocket"), READ, TUNNEL)
    case("Upgrade that Connection does not name", request("GET /1 HTTP/1.1", tcp), READ, TUNNEL)
    case("HTTP/1.0", request("GET /1 HTTP/1.0", WISH, tcp), READ, TUNNEL)
    case("POST without a body", request(POST, WISH, tcp), READ, TUNNEL)
    case("POST with a length", request(POST, WISH, tcp, "Content-Length: 2", body="ab"), READ, TUNNEL)
    case("POST with chunks", request(POST, WISH, tcp, "Transfer-Encoding: chunked", body="2\r\nab\r\n0\r\n\r\n"), READ, TUNNEL)
    case("WebSocket by POST", request(POST, WISH, "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="),
         READ, TUNNEL, upstream=(Switch((WISH, "Upgrade: websocket", "Sec-WebSocket-Accept: {accept}")),))
    case("bytes behind the request", wish + b"ping", READ, TAKE, CLOSE)
    # ---- what the upstream answers
    case("200 instead of a 101", wish, READ, upstream=(answer(),))
    case("101 with a length", wish, READ, TUNNEL, upstream=(Switch((WISH, tcp, "Content-Length: 7")),))
    case("101 with chunks", wish, READ, TUNNEL, upstream=(Switch((WISH, tcp, "Transfer-Encoding: chunked")),))
    case("101 to another token", wish, READ, TUNNEL, upstream=(Switch((WISH, "Upgrade: foo")),))
    case("101 without Upgrade", wish, READ, TUNNEL, upstream=(Switch((WISH,)),))
    case("101 without Connection", wish, READ, TUNNEL, upstream=(Switch((tcp,)),))
    return found


def responses():
    return [
        Case("responses", "Date of the upstream", upstream=(answer("Date: Mon, 01 Jan 1990 00:00:00 GMT"),), shows=("date",)),
        Case("responses", "no Date", upstream=(answer(),), shows=("date",)),
    ]
