"""Makes requests from a seed: some as they should be, most with something odd, and some with bytes changed at random."""

import dataclasses
import random

from . import corpora

# Bytes that mean something to a parser.
TELLING = b"\r\n\t :;,/?#%=\"0123456789abcdefxXHTP\0\x7f\x80\xff"

METHODS = [b"GET", b"POST", b"PUT", b"HEAD", b"DELETE", b"OPTIONS", b"PATCH"]
ODD_METHODS = [b"PURGE", b"get", b"GETX", b"M!#$%&'*+-.^_`|~9", b"TRACE", b"CONNECT", b"PRI", b"PROPFIND", b"QUERY"]
SEGMENTS = [b"admin", b"open", b"exact", b"staff", b"staff7", b"secret", b"closed", b"public", b"x", b"raw", b"slashes"]
ODD_SEGMENTS = [
    b"", b".", b"..", b"...", b"%2e", b"%2E%2e", b".%2e", b"..;", b"..;x=1", b";", b";x", b"admin;x=1", b"secret;a=/", b"%61dmin",
    b"%73ecret", b"admin%00", b"exact%00x", b"admin%0a", b"exact%0A", b"staff%0a", b"staff7%0D%0A", b"%20admin", b"admin%20", b"exact%20",
    b"admin%09", b"secret%7f", b"Admin", b"SECRET", b"%c0%ae%c0%ae", b"%c0%af", b"%ef%bc%8f", b"%e2%81%84", b"admin%3bx", b"exact%3B",
    b"%252e%252e", b"%25%32%65", b"%%32e", b"%u002e", b"admin%3f", b"exact%3Fx", b"admin%23", b"exact%23", b"a+b", b"\xc3\xa9", b"%c3%a9",
    b"admin\\x", b"%5c", b"admin%5Cx", b"..%5C", b"%2e%2e%2f", b"%2F", b"admin%2Fx", b"admin%2fopen", b"%2Fadmin", b"public%2F..%2Fadmin",
    b"x%2f%2e%2e%2fsecret", b"@", b"a:b", b"*", b"~", b"-", b"a b", b"a\tb", b"|", b"^", b"[x]", b"{x}", b"\"", b"<", b"`", b"'", b"!",
    b"$", b"&", b"%", b"%4", b"%zz", b"%80", b"%ff", b"admin%ff", b"exact%C2%A0", b"exact%E2%80%8B", b"x%2e", b"admin.", b"exact.",
    b"admin%2e", b"exact;", b"exact;jsessionid=1"]
JOINTS = [b"//", b"%2F", b"%2f", b"\\", b"%5C", b"/./", b"/../", b"///", b"/;/", b"/%2e/", b"/.;/"]
QUERIES = [
    b"?q=1", b"?", b"??", b"?/../admin", b"?a=%0a&b=%zz", b"?x=http://guarded.test/", b"?;", b"?a#b", b"#x", b"?\\", b"?a b", b"?\xff",
    b"?%", b"?a=b&a=c", b"?[x]={y}|"]
HOSTS = [
    b"guarded.test", b"GUARDED.test", b"guarded.test.", b"guarded.test:80", b"guarded.test.:80", b"guarded%2etest", b"%67uarded.test",
    b"[::1]", b"[::1]:80", b"127.0.0.1", b"a.test, guarded.test", b"a.test guarded.test", b"a.test@guarded.test", b"guarded.test@a.test",
    b"guarded.test/x", b"a.test/", b"", b"a.test:", b"guarded.test:", b"a.test:x", b"a.test:99999", b"guarded.test\0", b"guarded.test#x",
    b"guarded.test?x", b"a.test:80:81", b"guarded..test", b".guarded.test", b"guarded_test", b"\xffguarded.test", b"guarded.test;x",
    b"guarded.test,", b"guarded.test\\x", b"[guarded.test]", b"[::1%25eth0]", b"[::1]guarded.test", b"1.2.3", b"0x7f.1",
    b"guarded.test:+80", b"guarded.test%00", b"guarded.test%20", b"%20guarded.test", b"guarded.test%3a80", b"a.test%2fguarded.test",
    b"guarded.test%2f", b"xn--guarded.test", b"guarded%E3%80%82test"]
ODD_SCHEMES = [b"https", b"HTTP", b"x", b"", b"http://a.test/?"]
VERSIONS = [
    b"HTTP/1.0", b"HTTP/1.2", b"HTTP/1.10", b"HTTP/2.0", b"http/1.1", b"HTTP/1.1 ", b" HTTP/1.1", b"HTTP/01.1", b"HTTP/0.9", b"",
    b"HTTP/1,1"]
NUMBERS = [
    b"+%d", b"0%d", b"%d, %d", b"%d,%d", b"-%d", b"0x%x", b"%d.0", b"%d ", b"\t%d", b"%d\t", b"%d\0", b"%d;", b"\"%d\"", b"1%d", b"%d0",
    b"18446744073709551616", b"9223372036854775808", b"", b"%d_0", b"\x0b%d", b"%d\r", b"\xc2\xa0%d", b"\xd9\xa1", b"%d, ", b", %d",
    b"%d 5"]
CODINGS = [
    b"Chunked", b"CHUNKED", b"chunked, chunked", b"gzip, chunked", b"chunked, gzip", b"identity", b"identity, chunked",
    b"chunked, identity", b"\tchunked", b" chunked", b"chunked ", b"chunked\t", b"chunked;q=1", b"chunked, ", b",chunked", b"x", b"",
    b"\"chunked\"", b"xchunked", b"chunkedx", b"\x0bchunked", b"chunked\0", b"chun\xc4\xb1ked", b"chunked\r\n ", b"\r\n chunked",
    b"\r\n\tchunked", b"chunked\n", b"cow\r\nTransfer-Encoding: chunked", b"'chunked'", b"trailers"]
DISGUISES = [
    b"%s ", b" %s", b"%s\t", b"%s\0", b"x\n%s", b"\t%s", b"%s\x0b", b"%s\xa0", b"%s\r", b"\x0c%s", b"%s:", b"x: y\r%s", b"x: y\n%s",
    b"\0%s", b"\"%s\"", b"%s;", b"%s,"]
SIZES = [
    b"%x ", b"%x\t", b"0%x", b"000000000000000000%x", b"+%x", b"-%x", b"0x%x", b"%x;", b"%x;a=b", b"%x;a=\"b\"", b"%x;\ra", b"%x;a\n",
    b"%x;a\r\rb", b"%x\r", b" %x", b"%x\0", b"%xg", b"%x,", b"10000000000000%03x", b"%x ;a", b"%x;a=\"\r\n0\r\n\r\n\"", b"%x;\n", b"%x_0",
    b"%x.0", b""]
LINE_ENDS = [b"\n", b"\r", b"\r\r\n", b"\n\r", b"\n\n", b"\r\n\r\n", b"\r\n ", b"", b"\0\r\n", b"\x0b", b"\xe2\x80\xa8", b"\x85"]
FIELDS = [
    (b"X-A", b"b"), (b"X-A", b""), (b"Accept", b"*/*"), (b"Cookie", b"a=b; c=d"), (b"X-Rule", b"admin"), (b"User-Agent", b"x/1 (y)"),
    (b"Accept-Encoding", b"gzip"), (b"Connection", b"close"), (b"Connection", b"keep-alive"), (b"Expect", b"100-continue"),
    (b"TE", b"trailers"), (b"Range", b"bytes=0-1"), (b"X-A", b"\xc3\xa9"), (b"Cache-Control", b"no-cache"), (b"Trailer", b"X-T"),
    (b"Content-Type", b"text/plain"), (b"Authorization", b"Basic YTpi"), (b"If-None-Match", b"\"x\"")]
ODD_FIELDS = [
    (b"X_Rule", b"admin"), (b"X.Rule", b"admin"), (b"x-rule", b"a\tb"), (b"X-Forwarded-For", b"1.2.3.4"),
    (b"X-Forwarded-Host", b"guarded.test"), (b"X-Forwarded-Proto", b"https"), (b"X-Forwarded-Prefix", b"/admin"),
    (b"X-Original-URL", b"/admin"), (b"X-HTTP-Method-Override", b"PUT"), (b"Forwarded", b"for=1.2.3.4;host=guarded.test"),
    (b"Via", b"1.1 x"), (b"X-Request-Id", b"forged"), (b"X-Real-IP", b"1.2.3.4"), (b"Connection", b"X-Forwarded-For, X-Rule"),
    (b"Connection", b"Host, Content-Length"), (b"Connection", b"Transfer-Encoding"), (b"Connection", b"X-Request-Id, close"),
    (b"Connection", b"\"close\""), (b"Connection", b"Upgrade"), (b"Upgrade", b"h2c"), (b"Upgrade", b"websocket"), (b"Upgrade", b"x/1"),
    (b"HTTP2-Settings", b"AAMAAABk"), (b"Keep-Alive", b"timeout=5"), (b"Proxy-Connection", b"close"), (b"Expect", b"100-Continue"),
    (b"Expect", b"x"), (b"Expect", b"100-continue, x"), (b"TE", b"gzip, chunked"), (b"TE", b"chunked;q=0.5"), (b"Host", b"guarded.test"),
    (b"Host", b"a.test"), (b"Max-Forwards", b"0"), (b"Max-Forwards", b"x"), (b"X-A", b"a\0b"), (b"X-A", b"a\rb"), (b"X-A", b"a\nb"),
    (b"X-A", b"a\r\n b"), (b"X-A", b"a\r\n\tContent-Length: 5"), (b"X-A", b"\x01"), (b"X-A", b"\x7f"), (b"X-A", b"a\r\n \r\n b"),
    (b"X A", b"b"), (b"X-A ", b"b"), (b" X-A", b"b"), (b"", b"b"), (b"X-A\0", b"b"), (b"X\xc3\xa9", b"b"), (b"X(A)", b"b"), (b"9X", b"b"),
    (b"-X", b"b"), (b"X-A\r", b"b"), (b"Cookie", b"a=b"), (b"Cookie", b"\"a=b; x"), (b"Content-Encoding", b"gzip"),
    (b"Content-Transfer-Encoding", b"chunked"), (b"Content-Length-X", b"5"), (b"Content_Length", b"5"),
    (b"Transfer_Encoding", b"chunked"), (b"Content-Length", b"0"), (b"Transfer-Encoding", b"chunked"),
    (b"Sec-WebSocket-Key", b"dGhlIHNhbXBsZSBub25jZQ=="), (b"Sec-WebSocket-Version", b"13"), (b"X-A", b"y" * 3000),
    (b"Trailer", b"Content-Length, Host"), (b"Priority", b"u=1"), (b"Alt-Used", b"guarded.test"), (b"Proxy-Authorization", b"Basic YTpi")]
TRAILERS = [(b"X-T", b"u"), (b"X-Checksum", b"1")]
ODD_TRAILERS = [
    (b"Content-Length", b"5"), (b"Transfer-Encoding", b"chunked"), (b"Host", b"guarded.test"), (b"X-Forwarded-For", b"1.2.3.4"),
    (b"Authorization", b"x"), (b"X_T", b"u"), (b"X-T ", b"u"), (b":path", b"/admin"), (b"X-Rule", b"admin"), (b"X-T", b"a\0")]
ODD_HTTP2_FIELDS = [
    (b"transfer-encoding", b"chunked"), (b"transfer-encoding", b"identity"), (b"connection", b"close"), (b"host", b"guarded.test"),
    (b"host", b"a.test"), (b":path", b"/admin"), (b":authority", b"guarded.test"), (b":method", b"POST"), (b":protocol", b"websocket"),
    (b":x", b"y"), (b":status", b"200"), (b"x: y\r\nx-rule", b"admin"), (b"x", b"y\r\nx-rule: admin"),
    (b"x", b"y\r\n\r\nGET /admin HTTP/1.1\r\nhost: a.test\r\n\r\n"), (b"cookie", b"a=b"), (b"cookie", b"c=d"), (b"content-length", b"0"),
    (b"x\n", b"y"), (b"transfer-encoding\0", b"chunked"), (b" transfer-encoding", b"chunked"), (b"te", b"gzip"), (b"upgrade", b"h2c"),
    (b"x", b" y "), (b"", b"y")]
BODIES = [
    b"", b"x", b"hello", b"0\r\n\r\n", b"GET /admin HTTP/1.1\r\nHost: a.test\r\n\r\n",
    b"0\r\n\r\nGET /admin HTTP/1.1\r\nHost: a.test\r\nX-A: ", b"5\r\nhello\r\n0\r\n\r\n", b"\r\n", b"\0\xff",
    b"POST /secret HTTP/1.1\r\nHost: a.test\r\nContent-Length: 200\r\n\r\n", b"z" * 700]


def shorter(data):
    """Bytes without a part of them, the shortest first."""
    step = max(1, len(data) // 2)
    while step and data:
        for at in range(0, len(data), step):
            yield data[:at] + data[at + step:]
        step //= 2


@dataclasses.dataclass
class Stream:
    """A request of HTTP/2."""

    fields: list
    pieces: list
    trailers: list = None
    ends: bool = True  # else the client resets it


class Maker:
    def __init__(self, seed, number):
        self.random = random.Random(f"{seed}/{number}")
        self.oddness = self.random.choice((0.0, 0.01, 0.04, 0.12))

    def odd(self):
        return self.random.random() < self.oddness

    def pick(self, usual, odd):
        return self.random.choice(odd if self.odd() else usual)

    def path(self):
        random = self.random
        liking = random.choice((0.0, 0.2, 0.5))  # for odd paths, which most requests may have

        def segment():
            return random.choice(ODD_SEGMENTS if random.random() < liking else SEGMENTS)

        path = b"/" + segment()
        for _ in range(random.randrange(4)):
            path += (random.choice(JOINTS) if random.random() < liking / 2 else b"/") + segment()
        path += random.choice((b"", b"", b"", b"/"))
        if random.random() < 0.3:
            path += random.choice(QUERIES[:6] if random.random() > liking else QUERIES)
        return path

    def host(self):
        return self.random.choice(HOSTS) if self.random.random() < 0.15 else b"a.test"

    def target(self):
        if not self.odd():
            return self.path()
        path = self.path()
        return self.random.choice((
            b"http://" + self.host() + path, b"HTTP://a.test" + path, b"https://a.test" + path, b"//guarded.test" + path, b"/" + path,
            b"\\" + path, b"http:/" + path, path[1:], b"http://a.test", b"http://a.test@guarded.test/", b"http://a.test?x", b"ftp://a.test/",
            b"a.test:80", b"*", b""))

    def fields(self):
        return [self.random.choice(ODD_FIELDS if self.odd() or self.odd() else FIELDS) for _ in range(self.random.randrange(5))]

    def line_end(self):
        return self.random.choice(LINE_ENDS) if self.odd() and self.odd() else b"\r\n"

    def number(self, value):
        form = self.random.choice(NUMBERS) if self.odd() else b"%d"
        return form.replace(b"%d", b"%d" % value).replace(b"%x", b"%x" % value)

    def chunks(self, body):
        text, at = b"", 0
        while at < len(body):
            count = self.random.randint(1, len(body) - at)
            piece = body[at:at + count]
            size = self.random.choice(SIZES).replace(b"%03x", b"%x") if self.odd() else b"%x"
            told = len(piece) + (self.random.choice((-1, 1, 16)) if self.odd() and self.odd() else 0)
            text += size.replace(b"%x", b"%x" % max(0, told)) + self.line_end() + piece + self.line_end()
            at += count
        text += (self.random.choice((b"00", b"0;x", b"0 ", b"", b"-0", b"0x0", b"0;\n")) if self.odd() else b"0") + self.line_end()
        if self.random.random() < 0.2:
            for name, value in self.trailers():
                text += name + b": " + value + self.line_end()
        return text + self.line_end()

    odd_trailers = ODD_TRAILERS

    def trailers(self):
        return [self.pick(TRAILERS, self.odd_trailers) for _ in range(self.random.randint(1, 2))]

    def request(self):
        """The bytes of a request of HTTP/1."""
        random = self.random
        body = random.choice(BODIES)
        framing = random.choice(("none", "none", "length", "chunked"))
        lines = [b" ".join((self.pick(METHODS, ODD_METHODS), self.target(), self.pick([b"HTTP/1.1"], VERSIONS)))]
        fields = [(b"Host", self.host())] if not (self.odd() and self.odd()) else []
        fields += self.fields()
        sent = b""
        if framing == "length" or (self.odd() and framing == "chunked"):
            told = len(body) + (random.choice((-1, 1, 5)) if self.odd() and self.odd() else 0)
            fields.append((b"Content-Length", self.number(max(0, told))))
            sent = body
        if framing == "chunked":
            fields.append((b"Transfer-Encoding", self.random.choice(CODINGS) if self.odd() else b"chunked"))
            sent = self.chunks(body)
        if framing == "none" and self.odd():
            sent = body
        random.shuffle(fields)
        for name, value in fields:
            if self.odd() and self.odd():
                name = random.choice(DISGUISES).replace(b"%s", name)
            if random.random() < 0.2:
                name = random.choice((name.lower(), name.upper()))
            lines.append(name + random.choice((b": ", b": ", b":", b":  ", b":\t")) + value + random.choice((b"", b"", b"", b" ")))
        ends = [self.line_end() for _ in lines]
        return b"".join(line + end for line, end in zip(lines, ends)) + self.line_end() + sent

    def mutated(self, data):
        random, data = self.random, bytearray(data)
        for _ in range(random.randint(1, 4)):
            if not data:
                break
            at, telling = random.randrange(len(data)), random.choice(TELLING)
            way = random.randrange(5)
            if way == 0:
                data[at] = telling
            elif way == 1:
                data.insert(at, telling)
            elif way == 2:
                del data[at]
            elif way == 3:
                data[at] = random.randrange(256)
            else:
                to = random.randrange(len(data))
                data[to:to] = data[at:at + random.randint(1, 30)]
        return bytes(data)

    def http1(self):
        """What a client sends on a connection: one request or some, in the end a plain one that shows what became of the others."""
        random = self.random
        if random.random() < 0.15:
            data = random.choice(corpora.requests())
        else:
            data = b"".join(self.request() for _ in range(random.choice((1, 1, 1, 2, 3))))
        if random.random() < 0.3:
            data = self.mutated(data)
        if random.random() < 0.5:
            data += b"GET /next HTTP/1.1\r\nHost: a.test\r\n\r\n"
        return data

    def http2(self):
        """Requests of an HTTP/2 connection."""
        return [self.stream() for _ in range(self.random.choice((1, 1, 2, 3)))]

    def stream(self):
        random = self.random
        body = random.choice(BODIES)
        has_body = random.random() < 0.5
        fields = [
            (b":method", self.pick(METHODS, ODD_METHODS)), (b":scheme", self.pick([b"http"], ODD_SCHEMES)), (b":authority", self.host()),
            (b":path", self.target())]
        if self.odd() and self.odd():
            del fields[random.randrange(4)]
        fields += [(name.lower() if not (self.odd() and self.odd()) else name, value) for name, value in self.fields()]
        if random.random() < 0.3:
            told = len(body if has_body else b"") + (random.choice((-1, 1, 5)) if self.odd() else 0)
            fields.append((b"content-length", self.number(max(0, told))))
        if self.odd():
            fields.append(random.choice(ODD_HTTP2_FIELDS))
        if self.odd() and self.odd():
            at = random.randrange(len(fields))
            name, value = fields[at]
            fields[at] = (self.mutated(name) if random.random() < 0.5 else name, self.mutated(value))
        if self.odd() and self.odd():
            random.shuffle(fields)
        pieces = []
        if has_body:
            at = random.randrange(len(body) + 1)
            pieces = [body[:at], body[at:]] if random.random() < 0.5 else [body]
        trailers = [(name.lower(), value) for name, value in self.trailers()] if has_body and random.random() < 0.15 else None
        return Stream(fields, pieces, trailers, not (self.odd() and self.odd()))
