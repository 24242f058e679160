"""Makes responses from a seed: some as they should be, some cut, most with something odd, and some with bytes changed at random."""

import dataclasses

from . import corpora, generate

# What the upstream does after the bytes of a response.
KEEP, CLOSE, RESET = "keeps the connection", "closes", "resets"

STATUSES = [b"200", b"200", b"200", b"201", b"206", b"404", b"500"]
ODD_STATUSES = [
    b"204", b"205", b"304", b"299", b"302", b"401", b"409", b"416", b"503", b"600", b"999", b"100", b"101", b"103", b"099", b"20",
    b"2000", b"", b"abc", b"+200", b"0200"]
REASONS = [b"OK", b"", b"x", b"Not Found"]
ODD_REASONS = [b"a\tb", b"\xc3\xa9", b"a\0b", b"a\rb", b"a\nb", b"HTTP/1.1 200 OK", b" OK", b"OK "]
VERSIONS = [
    b"HTTP/1.0", b"HTTP/1.2", b"HTTP/2.0", b"http/1.1", b"HTTP/1.1 ", b"HTTP/01.1", b"ICY", b"HTTP/0.9", b"HTTP/1", b"", b"\nHTTP/1.1",
    b"HTTP/1.10", b"HTTPS/1.1", b"HTTP/2"]
INTERIM = [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", b"HTTP/1.1 102 Processing\r\n\r\n"]
ODD_INTERIM = [
    b"HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\n", b"HTTP/1.1 103 x\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"HTTP/1.1 199 x\r\n\r\n", b"\r\n", b"HTTP/1.0 100 Continue\r\n\r\n", b"HTTP/1.1 100\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"]
FIELDS = [
    (b"X-A", b"b"), (b"Content-Type", b"text/plain"), (b"Server", b"x/1"), (b"Set-Cookie", b"a=b"), (b"Cache-Control", b"no-store"),
    (b"Connection", b"keep-alive"), (b"Date", b"Sun, 29 Nov 2026 12:00:00 GMT"), (b"Connection", b"close"), (b"ETag", b"\"x\""),
    (b"Vary", b"Accept")]
ODD_FIELDS = [
    (b"X-A", b"a\r\n b"), (b"X-A", b"a\r\n\tContent-Length: 1"), (b"X-A", b"a\0b"), (b"X-A", b"a\rb"), (b"X-A", b"\x01"), (b"X A", b"b"),
    (b"X-A ", b"b"), (b" X-A", b"b"), (b"", b"b"), (b"X-A\0", b"b"), (b"Connection", b"Content-Length"),
    (b"Connection", b"Transfer-Encoding"), (b"Connection", b"close, keep-alive"), (b"Connection", b"Upgrade"), (b"Upgrade", b"h2c"),
    (b"Keep-Alive", b"timeout=1, max=1"), (b"Proxy-Connection", b"close"), (b"Content-Encoding", b"gzip"),
    (b"Content-Encoding", b"chunked"), (b"Content_Length", b"3"), (b"Content-Length", b"0"), (b"Content-Length", b"5"),
    (b"Transfer-Encoding", b"chunked"), (b"Transfer-Encoding", b"identity"), (b"Trailer", b"X-T"), (b"Content-Range", b"bytes 0-1/5"),
    (b"Content-Type", b"multipart/byteranges; boundary=x"), (b"Location", b"/x"), (b"WWW-Authenticate", b"Basic realm=\"x\""),
    (b"X\xc3\xa9", b"b"), (b"X(A)", b"b"), (b"Alt-Svc", b"h2=\":443\""), (b"Set-Cookie", b"a=b\r\n\tc=d"), (b"X-A", b"y" * 3000)]
ODD_TRAILERS = [
    (b"Content-Length", b"5"), (b"Transfer-Encoding", b"chunked"), (b"X_T", b"u"), (b"X-T ", b"u"), (b":status", b"200"),
    (b"Set-Cookie", b"a=b"), (b"X-T", b"a\0"), (b"X-T", b"a\r\n b"), (b"Connection", b"close")]
BODIES = [
    b"", b"x", b"hello", b"0\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother",
    b"0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother", b"5\r\nhello\r\n0\r\n\r\n", b"\r\n", b"\0\xff", b"z" * 700]


@dataclasses.dataclass
class Answer:
    """What an upstream sends in response to a request, and does afterwards."""

    method: str
    data: bytes
    end: str


class Maker(generate.Maker):
    """Shares with requests the ways in which framing and bytes are odd."""

    odd_trailers = ODD_TRAILERS

    def response(self):
        random = self.random
        body = random.choice(BODIES)
        line = self.pick([b"HTTP/1.1"], VERSIONS) + b" " + self.pick(STATUSES, ODD_STATUSES) + b" " + self.pick(REASONS, ODD_REASONS)
        fields = [random.choice(ODD_FIELDS if self.odd() or self.odd() else FIELDS) for _ in range(random.randrange(4))]
        framing = random.choice(("length", "length", "chunked", "chunked", "none"))
        sent = body
        if framing == "length" or (framing == "chunked" and self.odd()):
            told = len(body) + (random.choice((-1, 1, 5)) if self.odd() else 0)
            fields.append((b"Content-Length", self.number(max(0, told))))
        if framing == "chunked":
            fields.append((b"Transfer-Encoding", random.choice(generate.CODINGS) if self.odd() else b"chunked"))
            sent = self.chunks(body)
        random.shuffle(fields)
        lines = [line]
        for name, value in fields:
            if self.odd() and self.odd():
                name = random.choice(generate.DISGUISES).replace(b"%s", name)
            lines.append((name.lower() if random.random() < 0.2 else name) + random.choice((b": ", b": ", b":", b":\t")) + value)
        before = random.choice(ODD_INTERIM if self.odd() else INTERIM) if random.random() < 0.1 else b""
        return before + b"".join(each + self.line_end() for each in lines) + self.line_end() + sent

    def answer(self):
        random = self.random
        method, end = "HEAD" if random.random() < 0.1 else "GET", random.choice((KEEP, KEEP, CLOSE))
        if random.random() < 0.15:
            of, data, closes = random.choice([each for each in corpora.responses() if each[0] in (b"GET", b"HEAD")])
            method, end = of.decode(), CLOSE if closes else end
        else:
            data = self.response()
        if random.random() < 0.3:
            data = self.mutated(data)
        if random.random() < 0.2:
            data, end = data[:random.randrange(len(data) + 1)], random.choice((CLOSE, CLOSE, RESET))
        return Answer(method, data, end)
