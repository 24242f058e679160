"""Clients and upstreams that speak TLS, and some that do not."""

import ssl

from . import http2, tls
from .connection_cases import CHUNKED, GET, answer, request
from .corpus import Case
from .ends import CLOSE, END, FIN, HEAD, READ, RESET, TOLD, Pause
from .http2 import PREFACE, headers
from .http2_cases import replaced
from .setups import TLS, TLS_OF_CLIENTS, UPSTREAM_TLS
from .tls import ALERT, BASIC, NOTIFY, extension, hello, hello_message, protocols, record, server_names

A = server_names(b"a.test")
ALL = "ALL:@SECLEVEL=0"

LATER = Pause(0.3)  # a reset right behind bytes destroys them if it comes before they are read


def hellos():
    found = []

    def case(title, *steps, setup=TLS):
        found.append(Case("tls-hellos", title, steps=steps, setup=setup))

    case("TLS 1.2", hello(A))
    # ---- versions, suites and what else is chosen
    case("TLS 1.1", hello(A, version=0x302, suites=(0xc009, 0xc013, 0x2f)))
    case("TLS 1.0", hello(A, version=0x301, suites=(0xc009, 0xc013, 0x2f)))
    case("SSL 3.0", hello(A, version=0x300, suites=(0x2f, 0x0a)))
    case("a version that does not exist", hello(A, version=0x3ff))
    case("SSL 2.0", b"\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10" + b"\x01\x00\x80\x03\x00\x80\x05\x00\x80\x07\x00\xc0\x06\x00\x40\x02\x00\x80\x04\x00\x80" + b"r" * 16)
    case("suites without encryption", hello(A, suites=(0xc006, 0x3b)))
    case("suites without a certificate", hello(A, suites=(0xc018, 0x34)))
    case("suites with RC4", hello(A, suites=(0xc007, 0x05)))
    case("suites with 3DES", hello(A, suites=(0xc008, 0x0a)))
    case("suites with CBC", hello(A, suites=(0xc009, 0xc023)))
    case("suites without forward secrecy", hello(A, suites=(0x9c, 0x2f)))
    case("suites for another kind of key", hello(A, suites=(0xc02f, 0xc030)))
    case("suites that nobody knows", hello(A, suites=(0x0a0a, 0xfefe)))
    case("no suite", hello(A, suites=()))
    case("no groups that are known", hello(A, basic=BASIC.replace(b"\0\x1d\0\x17", b"\x0a\x0a\xfe\xfe")))
    case("no signatures that are known", hello(A, basic=BASIC.replace(b"\x04\x03\x08\x04\x04\x01", b"\x0a\x0a\xfe\xfe\xfa\xfa")))
    case("a fallback that need not be", hello(A, version=0x302, suites=(0xc009, 0xc013, 0x5600)))
    case("compression", hello(A, compressions=b"\1\0"))
    case("no null compression", hello(A, compressions=b"\1"))
    # ---- names
    case("no name", hello())
    case("another name with a certificate", hello(server_names(b"b.test")))
    case("name that nobody knows", hello(server_names(b"c.test")))
    case("name in upper case", hello(server_names(b"B.TEST")))
    case("name with a dot behind it", hello(server_names(b"b.test.")))
    case("name with a port", hello(server_names(b"b.test:443")))
    case("name that is an address", hello(server_names(b"127.0.0.1")))
    case("name that is an IPv6 address", hello(server_names(b"::1")))
    case("name with an underscore", hello(server_names(b"b_b.test")))
    case("name with an empty label", hello(server_names(b"b..test")))
    case("name with a NUL", hello(server_names(b"b.test\0")))
    case("name with a space", hello(server_names(b"b .test")))
    case("name outside ASCII", hello(server_names("\xe9.test".encode())))
    case("name of 256 bytes", hello(server_names(b".".join([b"a" * 50] * 5) + b"b")))
    case("empty name", hello(server_names(b"")))
    case("two names", hello(server_names(b"a.test", b"b.test")))
    case("empty list of names", hello(extension(0, b"\0\0")))
    case("name of another type", hello(extension(0, b"\0\x09\1\0\6b.test")))
    case("list of names longer than its extension", hello(extension(0, b"\0\x20\0\0\6b.test")))
    case("name longer than its list", hello(extension(0, b"\0\x09\0\0\x20b.test")))
    case("no list of names", hello(extension(0, b"")))
    case("names twice", hello(A, server_names(b"b.test")))
    # ---- protocols
    case("protocols of HTTP/1 and HTTP/2", hello(A, protocols(b"http/1.1", b"h2")))
    case("protocol of HTTP/1", hello(A, protocols(b"http/1.1")))
    case("protocol of HTTP/1.0", hello(A, protocols(b"http/1.0")))
    case("protocol of another kind", hello(A, protocols(b"smtp")))
    case("protocol of another kind before HTTP/1", hello(A, protocols(b"smtp", b"http/1.1")))
    case("protocol of HTTP/2 in cleartext", hello(A, protocols(b"h2c")))
    case("no protocols in the list", hello(A, protocols()))
    case("protocol without a name", hello(A, protocols(b"", b"h2")))
    case("protocols twice", hello(A, protocols(b"h2"), protocols(b"http/1.1")))
    case("groups twice", hello(A, extension(10, b"\0\2\0\x17")))
    # ---- framing
    case("unknown extension", hello(A, extension(0x5a5a, b"abc")))
    case("unknown extension twice", hello(A, extension(0x5a5a, b"abc"), extension(0x5a5a, b"abc")))
    case("extension longer than its message", hello(A, b"\0\x10\0\xff"))
    case("message in many records", b"".join(record(hello_message(A)[at:at + 20]) for at in range(0, len(hello_message(A)), 20)))
    case("record without content", record(b"") + hello(A))
    case("record without content within a message", record(hello_message(A)[:20]) + record(b"") + record(hello_message(A)[20:]))
    case("record longer than it may be", b"\x16\x03\x01\x48\x01" + b"\1" * 0x4801)
    case("record of a version that does not exist", record(hello_message(A), version=0x0505))
    case("message of another type", record(b"\2" + hello_message(A)[1:]))
    case("message longer than 64 KiB", record(b"\1\1\0\0" + hello_message(A)[4:]) * 2)
    case("alert instead of a message", record(b"\2\x28", kind=ALERT))
    case("warning before a hello", record(b"\1\x5a", kind=ALERT) + hello(A))
    case("data instead of a message", record(b"GET / HTTP/1.1\r\n\r\n", kind=23))
    case("nothing that is TLS", b"nonsense" * 10)
    # ---- HTTP where TLS is spoken, and TLS where it is not
    case("plain HTTP", GET)
    case("plain HTTP/2", PREFACE + headers(1, *http2.GET))
    found.append(Case("tls-hellos", "TLS where HTTP is spoken", steps=(hello(A, protocols(b"h2")),)))
    return found


def clients():
    found = []

    def case(title, *steps, setup=TLS, upstream=(), streams=(1,), **options):
        found.append(Case("tls-clients", title, steps=steps, setup=setup, upstream=upstream, streams=streams, tls=options))

    v12, v13 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
    frames = dict(alpn=("h2",), frames=True)
    secure = replaced(":scheme", "https")
    case("TLS 1.3", GET, READ, minimum=v13)
    case("TLS 1.2", GET, READ, maximum=v12)
    case("HTTP/2", headers(1, *secure), **frames)
    # ---- names and hosts
    case("Host of another certificate", GET.replace(b"a.test", b"b.test"), READ)
    case("Host without a certificate", GET.replace(b"a.test", b"c.test"), READ)
    case("Host of another case", GET.replace(b"a.test", b"A.TEST"), READ)
    case("Host, and no name", GET, READ, name=None)
    case("Host, and a name that nobody knows", GET, READ, name="c.test")
    case("target with another host", GET.replace(b" /1", b" https://b.test/1"), READ)
    case("target of plain HTTP", GET.replace(b" /1", b" http://a.test/1"), READ)
    case("HTTP/2: :authority of another certificate", headers(1, *[(n, "b.test" if n == ":authority" else v) for n, v in secure]), **frames)
    case("HTTP/2: :authority without a certificate", headers(1, *[(n, "c.test" if n == ":authority" else v) for n, v in secure]), **frames)
    case("HTTP/2: :scheme of plain HTTP", headers(1, *http2.GET), **frames)
    # ---- protocols that are not what was agreed on
    case("HTTP/1 after h2 was agreed on", GET, READ, alpn=("h2",))
    case("HTTP/2 after http/1.1 was agreed on", headers(1, *secure), alpn=("http/1.1",), frames=True)
    case("HTTP/2 without an agreement", headers(1, *secure), frames=True)
    case("HTTP/2 with a suite that it forbids", headers(1, *secure), maximum=v12, ciphers="ECDHE-ECDSA-AES128-SHA:" + ALL, **frames)
    # ---- ends
    case("end of a response until the end", request("GET /1 HTTP/1.0"), READ, END, upstream=(answer(length=False), CLOSE))
    case("end behind Connection: close", request("GET /1 HTTP/1.1", "Connection: close"), READ, END)
    case("reset of the upstream in a response until the end", request("GET /1 HTTP/1.0"), READ, END,
         upstream=(answer(length=False), LATER, RESET))
    case("end of the upstream in chunks, to HTTP/1.0", request("GET /1 HTTP/1.0"), READ, END,
         upstream=((CHUNKED + "5\r\nok").encode(), CLOSE))
    case("end of the upstream in a length", GET, READ, END, upstream=(answer("Content-Length: 5", length=False), CLOSE))
    case("end after a request that is refused", b"GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n", READ, END)
    case("close_notify of the client in a response", GET, HEAD, NOTIFY, READ, upstream=(answer("Content-Length: 5", length=False), TOLD, b"abc"))
    case("FIN of the client without close_notify behind a response", GET, READ, FIN, END)
    case("another handshake on the connection", renegotiates=True)
    # ---- certificates of clients
    wanted = dict(setup=TLS_OF_CLIENTS)
    for name, version in (("TLS 1.2", v12), ("TLS 1.3", v13)):
        case(f"{name}: certificate that is asked for", GET, READ, certificate="client", maximum=version, **wanted)
        case(f"{name}: no certificate", GET, READ, maximum=version, **wanted)
        case(f"{name}: certificate of a stranger", GET, READ, certificate="strange-client", maximum=version, **wanted)
        case(f"{name}: certificate that has expired", GET, READ, certificate="expired-client", maximum=version, **wanted)
        case(f"{name}: certificate that is self-signed", GET, READ, certificate="self-signed", maximum=version, **wanted)
        case(f"{name}: certificate for servers", GET, READ, certificate="a.test", maximum=version, **wanted)
    case("certificate that nobody asks for", GET, READ, certificate="strange-client")
    case("certificate, and another host", GET.replace(b"a.test", b"b.test"), READ, certificate="client", **wanted)
    return found


def upstreams():
    found = []

    def case(title, *steps, method="GET", **options):
        found.append(Case("tls-upstreams", title, method=method, setup=UPSTREAM_TLS, upstream=steps or DONE, tls=options))

    closing = answer("Connection: close")
    DONE = (closing, NOTIFY)
    v11, v12, v13 = ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
    case("TLS 1.3", minimum=v13)
    case("TLS 1.2", maximum=v12)
    case("TLS 1.1", minimum=v11, maximum=v11, ciphers=ALL)
    # ---- certificates
    case("certificate for another name", certificate="wrong.test")
    case("certificate that has expired", certificate="expired")
    case("certificate that is self-signed", certificate="self-signed")
    case("certificate of a stranger", certificate="stranger")
    case("certificate for a wildcard of a whole domain", certificate="wildcard")
    case("certificate with a common name alone", certificate="common-name")
    case("certificate for clients", certificate="client")
    case("upstream that asks for a certificate, TLS 1.2", asks=True, maximum=v12)
    case("upstream that asks for a certificate, TLS 1.3", asks=True, minimum=v13)
    case("upstream that asks for a certificate, and a POST", asks=True, minimum=v13, method="POST")
    # ---- something else
    case("suite that is weak", maximum=v12, ciphers="ECDHE-ECDSA-AES128-SHA")
    case("plain HTTP", instead=closing)
    case("plain HTTP to a POST", instead=closing, method="POST")
    case("alert at once", instead=record(b"\2\x28", kind=ALERT))
    case("alert that warns of the name", instead=record(b"\1\x70", kind=ALERT))
    case("close_notify at once", instead=record(b"\1\0", kind=ALERT))
    case("end at once", instead=b"")
    case("protocol of HTTP/2", alpn=("h2",))
    # ---- ends
    until = answer(length=False)
    case("close_notify behind a body until the end", until, NOTIFY)
    case("no close_notify behind a body until the end", until, CLOSE)
    case("reset behind a body until the end", until, LATER, RESET)
    case("no close_notify behind a body of a length", answer(), CLOSE)
    case("no close_notify behind chunks", (CHUNKED + "2\r\nok\r\n0\r\n\r\n").encode(), CLOSE)
    case("close_notify in a body of a length", answer("Content-Length: 5", length=False), NOTIFY)
    case("no close_notify in a body of a length", answer("Content-Length: 5", length=False), CLOSE)
    case("close_notify instead of an answer", NOTIFY)
    case("no close_notify instead of an answer to a POST", CLOSE, method="POST")
    case("no close_notify behind an HTTP/1.0 body until the end", answer(length=False, version="1.0"), CLOSE)
    case("no close_notify behind an empty body until the end", answer(length=False, body=""), CLOSE)
    return found
