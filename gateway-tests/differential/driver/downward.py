"""Plays responses of an upstream through the gateway to a client, and compares what each of them has read."""

import asyncio
import collections
import re

from . import canonical, generate, responses, rig, taps
from .clients import Canonical

PATIENCE = 0.3  # seconds after which the upstream closes the connection of a case that waits for more than it has
ASKED = re.compile(rb"(?:GET|HEAD) /(case|next)/([0-9]+)/([a-z]+) HTTP/1\.[01]\r\n")

# What the gateway reads of a response, at most.
MAX_FIELDS = 128
MAX_OPTIONS = 32  # in Connection
MAX_INTERIM = 100
INTERIM = re.compile(rb"HTTP/1\.[01] 1\d\d\b")

# What docs/upstreams.md says of responses that break the rules, and clients read otherwise by themselves.
KNOWN = {
    "a line that continues the one before": re.compile(rb"\n[ \t]"),
    "lines that end in LF": re.compile(rb"(?<!\r)\n"),
    "chunks before HTTP/1.1": re.compile(rb"HTTP/(?:0\.\d|1\.0) .*\ntransfer-encoding:", re.I | re.S),
    "empty elements or white space in Transfer-Encoding": re.compile(
        rb"\ntransfer-encoding:(?:[^\r\n]*,[^\r\n]*|[^\r\n]*[ \t])\r?\n", re.I),
    "a length beside chunks": re.compile(rb"\ncontent-length:.*\ntransfer-encoding:|\ntransfer-encoding:.*\ncontent-length:", re.I | re.S)}

HEAD_END = re.compile(rb"\n\r?\n")
CHUNK = re.compile(rb"([0-9a-fA-F]{1,6})[^\n]*\n")


class Upstream:
    """Answers /case/N/WHO with the bytes of case N, and /next/N/WHO with a plain response."""

    def __init__(self):
        [self.port] = rig.free_ports(1)
        self.cases = {}
        self.over = set()  # cases whose next request has come
        self.server = None

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", self.port, backlog=256)

    async def serve(self, reader, writer):
        try:
            key = None
            while True:
                kind, number, who = ASKED.match(await self.head(reader, key)).groups()
                key = number, who
                if kind == b"next":
                    self.over.add(key)
                    body = b"next " + number
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
                    continue
                case = self.cases[int(number)]
                writer.write(case.data)
                if case.end == responses.RESET:
                    await writer.drain()
                    taps.abort(writer.transport)
                    return
                if case.end == responses.CLOSE:
                    return
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError, Waits):
            pass  # the other end has gone, or waits for more, or the round is over
        finally:
            writer.close()

    async def head(self, reader, key):
        """Returns the next head. If it does not come, and the case is not over, its response has no end for the other side."""
        head = asyncio.ensure_future(reader.readuntil(b"\r\n\r\n"))
        try:
            while key and key not in self.over and not head.done():
                await asyncio.wait([head], timeout=PATIENCE)
                if not head.done() and key not in self.over:
                    raise Waits
            return await head
        finally:
            head.cancel()


class Waits(Exception):
    """The other end waits for more of a response than there is."""


class Lane:
    """A listener of the gateway. All lanes have one upstream."""

    def __init__(self, name, upstream, tls):
        self.name = name
        [self.port] = rig.free_ports(1)
        self.to = upstream.port
        self.tls = tls

    def routes(self):
        return f"  - {{parentRefs: [{{name: {self.name}}}], rules: [{{backendRefs: [{{name: {self.name}}}]}}]}}"

    def reset(self):
        """Nothing of a case stays on a lane: each has its own number."""


class Downward:
    """Plays cases with a client."""

    batch = 20  # cases that share a connection, one after the other
    plain = responses.Answer("GET", b"HTTP/1.1 204 No Content\r\n\r\n", responses.KEEP)

    def __init__(self, client, upstream):
        self.client = client
        self.upstream = upstream
        self.canonical = Canonical()
        self.played = 0

    async def stop(self):
        await self.client.stop()

    @staticmethod
    def make(seed, number):
        return responses.Maker(seed, number).answer()

    @staticmethod
    def smaller(case):
        """Shorter cases, the shortest first."""
        for data in generate.shorter(case.data):
            yield responses.Answer(case.method, data, case.end)

    @staticmethod
    def show(case):
        return f"{case.method}, the upstream sends {case.data!r} and {case.end}"

    async def play(self, lane, cases):
        """Plays cases one after the other; returns what came of each."""
        numbers = [self.played + i for i in range(len(cases))]
        self.played += len(cases)
        self.upstream.cases.update(zip(numbers, cases))

        def asked(who, base=""):
            return [each for number, case in zip(numbers, cases)
                    for each in ((case.method, f"{base}/case/{number}/{who}"), ("GET", f"{base}/next/{number}/{who}"))]

        try:
            canonical_ones, by_gateway, directly = await asyncio.gather(
                self.canonical.fetch(lane, asked("strict")), self.client.fetch(lane.name,
                asked("client", f"http{'s' if lane.tls else ''}://127.0.0.1:{lane.port}")),
                self.alone(lane, asked("alone", f"http://127.0.0.1:{self.upstream.port}")))
        except asyncio.TimeoutError:
            return [Verdict([("hang", f"something waits for more than {taps.TIMEOUT} s")]) for _ in cases]
        finally:
            for number in numbers:
                del self.upstream.cases[number]
        return [self.judge(*each) for each in zip(
            numbers, cases, canonical_ones[::2], canonical_ones[1::2], by_gateway[::2], by_gateway[1::2], directly[::2])]

    async def alone(self, lane, asked):
        """What the client gets without the gateway; None if it does not speak HTTP/1."""
        return await self.client.fetch(f"{lane.name}-alone", asked) if not self.client.http2 else [None] * len(asked)

    def judge(self, number, case, message, after, got, got_next, alone):
        """Compares what the gateway has sent with what the client got of it, and with what the client gets without the gateway."""
        verdict = Verdict()
        for each in (message, after):
            if isinstance(each, canonical.Deviation):
                verdict.fault("canonical", f"the gateway sends {each}")
                return verdict
        text = b"next %d" % number
        if after is None or not after.whole or (after.status, after.body) != (200, text):
            verdict.fault("next", f"the next response of the gateway is {after}")
        if got_next.error or (got_next.status, got_next.body) != (200, text):
            verdict.fault("next", f"the next response of the client is {got_next}")
        self.judge_end(verdict, case, message, got)
        if message is None or not message.whole:
            return verdict
        if message.values(b"proxy-status") or alone is None:
            return verdict
        if alone.error:
            verdict.tally["refused by the client without the gateway"] += 1
        elif (alone.status, alone.body) == (message.status, message.body):
            verdict.tally["the same without the gateway"] += 1
        elif known := known_reason(case):
            verdict.tally[f"otherwise without the gateway for {known}"] += 1
        else:
            verdict.fault("reading", f"without the gateway, the client gets {alone}; the gateway sends {message}")
        return verdict

    def judge_end(self, verdict, case, message, got):
        """Compares what the gateway has sent with what the upstream has, if that is canonical, and with what the client got."""
        whole = message is not None and message.whole
        own = whole and bool(message.values(b"proxy-status"))
        verdict.tally["refused by the gateway" if own else "forwarded" if whole else "cut"] += 1
        try:
            [sent] = canonical.responses(case.data, [case.method.encode()], case.end != responses.RESET) or [canonical.Message()]
            verdict.tally["canonical from the upstream"] += 1
        except canonical.Deviation:
            sent = None
        if sent is not None and is_beyond_limits(case, sent):
            sent = None
        if sent is not None and sent.whole != (whole and not own):
            verdict.fault("end", f"the upstream sends {sent}; the gateway sends {message}")
        elif sent is not None and sent.whole and (sent.status, sent.body) != (message.status, message.body):
            verdict.fault("end", f"the upstream sends {sent}; the gateway sends {message}")
        if not whole:
            if not got.error:
                verdict.fault("end", f"the client takes as whole what the gateway has cut: {got}; the gateway sends {message}")
            return
        trailers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message.trailers]
        if got.error or got.status != message.status or (not own and got.body != message.body):
            verdict.fault("end", f"the client gets {got}; the gateway sends {message}")
        elif self.client.trailers and sorted(got.trailers) != sorted(trailers):
            verdict.fault("trailers", f"the client gets {got.trailers}; the gateway sends {trailers}")


def known_reason(case):
    """Returns why a client may read a response otherwise by itself, None if there is no known reason."""
    for what, expression in KNOWN.items():
        if expression.search(case.data):
            return what
    return "chunks that end in LF" if any(ends_in_lf(case.data, head.end()) for head in HEAD_END.finditer(case.data)) else None


def ends_in_lf(data, at):
    """Whether some chunk of a body ends in LF alone, behind whatever byte is its last."""
    while size := CHUNK.match(data, at):
        at = size.end() + int(size[1], 16)
        if data[at:at + 1] == b"\n":
            return True
        at += 2
    return False


def is_beyond_limits(case, sent):
    """Whether a response has more of something than the gateway reads."""
    options = sum(value.count(b",") + 1 for value in sent.values(b"connection"))
    return (max(len(sent.fields), len(sent.trailers)) > MAX_FIELDS or options > MAX_OPTIONS
            or len(INTERIM.findall(case.data)) > MAX_INTERIM)


class Verdict:
    def __init__(self, faults=()):
        self.faults = list(faults)
        self.tally = collections.Counter()

    def fault(self, kind, what):
        self.faults.append((kind, what))
