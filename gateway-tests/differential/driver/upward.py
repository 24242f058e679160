"""Plays requests through the gateway to a server, and compares what each of them has read."""

import asyncio
import collections
import hashlib
import re

from . import canonical, corpora, generate, paths, rig, taps

STATUS_LINE = re.compile(rb"HTTP/1\.1 (\d{3}) [^\r\n]*")


class Lane:
    """A listener of the gateway with a server of its own behind a tap."""

    tls = False

    def __init__(self, name, server):
        self.name = name
        self.server = server
        self.port, self.to = rig.free_ports(2)
        self.tap = taps.Tap(self.to, server.port)

    def routes(self):
        return paths.routes(self.name)

    async def start(self):
        await self.tap.start()

    def reset(self):
        """Ends the connections to the server, so that nothing of a case stays."""
        self.tap.reset()


class Upward:
    """Plays cases of a client with a server."""

    batch = 1

    async def stop(self):
        """The servers end with the machine."""

    async def play(self, lane, cases):
        return [await Play(lane, self).run(case) for case in cases]


class Http1(Upward):
    """Cases of clients that speak HTTP/1: the bytes of a connection."""

    plain = b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"

    @staticmethod
    def make(seed, number):
        return generate.Maker(seed, number).http1()

    @staticmethod
    async def send(lane, case):
        """Sends the bytes and an end, and returns all that the gateway answers."""
        reader, writer = await asyncio.open_connection("127.0.0.1", lane.port)
        try:
            writer.write(case)
            writer.write_eof()
            async with asyncio.timeout(taps.TIMEOUT):
                return await reader.read()
        except ConnectionError:
            return b""
        finally:
            writer.close()

    @staticmethod
    def answers(case, sent, messages):
        """The numbers of the server's answers that a client reads, in turn, and how many answers are the gateway's own.

        The messages are what was forwarded, by the number of its answer.
        """
        if case.startswith(b"PRI * HTTP/2.0\r\n"):
            return [], 0  # the gateway answers in HTTP/2
        reading, ids, own = canonical.Reading(sent), [], 0
        while reading.at < len(sent):
            message = canonical.Message()
            try:
                message.line = reading.line()
                if not STATUS_LINE.fullmatch(message.line):
                    raise canonical.Deviation(f"the client gets no response, but {message.line[:80]!r}")
                message.fields = reading.fields()
                if message.status < 200:
                    continue
                frame = canonical.framing(message)
                [key] = message.values(b"x-id") or [None]
                if key is None:
                    own += 1
                    bodiless = reading.data[reading.at:].startswith(b"HTTP/1.1 ") or reading.at == len(sent)
                else:
                    ids.append(key)
                    bodiless = key in messages and messages[key].method == b"HEAD"
                if not bodiless and message.status not in (204, 304):
                    canonical.read_body(reading, message, frame)
                    if key is not None and message.body != key:
                        raise canonical.Deviation(f"the client gets the answer {key!r} with the body {message.body!r}")
            except canonical.Cut:
                raise canonical.Deviation("the client gets a part of a response") from None
        return ids, own

    @staticmethod
    def smaller(case):
        """Shorter cases, the shortest first."""
        return generate.shorter(case)

    @staticmethod
    def show(case):
        return repr(case)


class Http2(Upward):
    """Cases of clients that speak HTTP/2: the requests of a connection."""

    plain = [generate.Stream([(b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"a.test"), (b":path", b"/")], [])]

    @staticmethod
    def make(seed, number):
        return generate.Maker(seed, number).http2()

    @staticmethod
    async def send(lane, case):
        """Sends the requests, and returns what each stream gets: its status, its body, and whether it ended well."""
        http2 = corpora.peers("http2")
        reader, writer = await asyncio.open_connection("127.0.0.1", lane.port)
        streams = {2 * i + 1: stream for i, stream in enumerate(case)}
        open_streams = {number for number, stream in streams.items() if stream.ends}
        got = {number: ["", b"", False] for number in streams}
        data = http2.PREFACE + http2.settings(http2.NO_TABLE)
        for number, stream in streams.items():
            data += b"".join(frames(http2, number, stream))
        try:
            writer.write(data)
            async with asyncio.timeout(taps.TIMEOUT):
                while open_streams:
                    header = await reader.readexactly(9)
                    kind, flags, number = header[3], header[4], int.from_bytes(header[5:], "big") & 0x7fffffff
                    payload = await reader.readexactly(int.from_bytes(header[:3], "big"))
                    if kind == http2.GOAWAY and http2.error(payload, 4) != "NO_ERROR":
                        break
                    if kind == http2.RST_STREAM:
                        open_streams.discard(number)
                    if number not in got:
                        continue
                    if kind == http2.HEADERS and not got[number][0]:
                        status = http2.status_of(payload, flags)
                        got[number][0] = "" if status.startswith("1") else status
                    elif kind == http2.DATA:
                        got[number][1] += payload
                    if kind in (http2.HEADERS, http2.DATA) and flags & http2.END_STREAM:
                        got[number][2] = True
                        open_streams.discard(number)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the gateway has ended the connection
        finally:
            writer.close()
        return got

    @staticmethod
    def answers(case, sent, messages):
        """As for HTTP/1. It is known besides which request is answered."""
        ids = []
        for stream, (status, body, ended) in zip(case, sent.values()):
            if status != "200" or not ended or body not in messages:
                continue
            ids.append(body)
            message = messages[body]
            if (b":method", message.method) not in stream.fields or message.body != b"".join(stream.pieces):
                raise canonical.Deviation(f"the client gets the answer to {message} for {stream}")
        return ids, sum(status not in ("", "200") for status, _, _ in sent.values())

    @staticmethod
    def smaller(case):
        def with_stream(at, **changes):
            return [generate.Stream(**{**vars(stream), **(changes if i == at else {})}) for i, stream in enumerate(case)]

        for at, stream in enumerate(case):
            if len(case) > 1:
                yield case[:at] + case[at + 1:]
            if stream.pieces:
                yield with_stream(at, pieces=[])
            if stream.trailers:
                yield with_stream(at, trailers=None)
            for i, (name, value) in enumerate(stream.fields):
                yield with_stream(at, fields=stream.fields[:i] + stream.fields[i + 1:])
                for shorter in generate.shorter(value):
                    yield with_stream(at, fields=stream.fields[:i] + [(name, shorter)] + stream.fields[i + 1:])

    @staticmethod
    def show(case):
        return "\n  ".join(map(repr, case))


def frames(http2, number, stream):
    """The frames of a request."""
    last = not stream.pieces and stream.trailers is None
    yield http2.headers(number, *stream.fields, end=last and stream.ends)
    for i, piece in enumerate(stream.pieces):
        last = i == len(stream.pieces) - 1 and stream.trailers is None
        yield http2.data(number, piece, end=last and stream.ends)
    if stream.trailers is not None:
        yield http2.headers(number, *stream.trailers, end=stream.ends)
    if not stream.ends:
        yield http2.frame(http2.RST_STREAM, 0, number, (8).to_bytes(4, "big"))


def check(message):
    canonical.check_request(message, rule_of(message) not in paths.UNCHANGED)


def rule_of(message):
    [rule] = message.values(b"x-rule") or [b""]
    return rule.decode("latin-1")


class Play:
    """One case on one lane."""

    def __init__(self, lane, client):
        self.lane = lane
        self.client = client
        self.faults = []
        self.tally = collections.Counter()
        self.messages = {}  # that were forwarded, by the number of their answer

    def fault(self, kind, what):
        self.faults.append((kind, what))

    async def run(self, case):
        try:
            sent = await self.client.send(self.lane, case)
            await self.settle()
        except (taps.Hang, TimeoutError):
            self.fault("hang", f"something waits for more than {taps.TIMEOUT} s: {self.state()}")
            self.lane.reset()
            return self
        answered = []
        for passed in self.lane.tap.connections:
            answered += await self.compare(passed)
        try:
            ids, own = self.client.answers(case, sent, self.messages)
            self.tally["answers of the gateway"] += own
            if len(set(ids)) < len(ids):
                self.fault("answers", f"the client gets an answer twice: {ids}")
            elif not set(ids) <= set(answered):
                self.fault("answers", f"the client gets {ids}; the server has answered {answered}")
        except canonical.Deviation as e:
            self.fault("answers", str(e))
        self.lane.tap.forget()
        return self

    def state(self):
        return "; ".join(f"up {bytes(each.up[each.read_up:])[-300:]!r}, down {bytes(each.down[each.read_down:])[:100]!r}, ended {each.ended}"
                         for each in self.lane.tap.connections)

    async def settle(self):
        """Waits until each request that was forwarded is answered, or its connection closed."""
        for passed in list(self.lane.tap.connections):
            await self.lane.tap.until(lambda passed=passed: self.is_settled(passed))

    def is_settled(self, passed):
        if passed.ended["down"] and passed.ended["up"]:
            return True
        if len(passed.up) == passed.read_up:
            return True
        try:
            messages = canonical.requests(passed.up[passed.read_up:], lambda message: None)
        except canonical.Deviation:
            return True
        return messages[-1].whole and len(self.answers_of(passed, messages)) >= len(messages)

    @staticmethod
    def answers_of(passed, messages):
        """The answers of a server that are whole."""
        # One more than there are requests, so that a needless answer is seen.
        methods = [*(message.method for message in messages), b"GET"]
        found = canonical.responses(passed.down[passed.read_down:], methods, passed.ended["down"], lenient=True)
        return [each for each in found if each.whole]

    async def compare(self, passed):
        """Compares what passed a connection to the server with what the server says. Returns the numbers of the answers."""
        if len(passed.up) == passed.read_up and len(passed.down) == passed.read_down:
            return []
        try:
            messages = canonical.requests(passed.up[passed.read_up:], check)
        except canonical.Deviation as e:
            self.fault("canonical", f"forwarded: {e}; {bytes(passed.up[passed.read_up:])!r}")
            passed.abort()
            return []
        try:
            answers = self.answers_of(passed, messages)
        except canonical.Deviation as e:
            answers = []
            self.fault("end", f"more answers than requests, or a broken one: {e}; forwarded {bytes(passed.up[passed.read_up:])!r}")
        ids = []
        for i, message in enumerate(messages):
            if i >= len(answers):
                if message.whole and not passed.ended["down"]:
                    self.fault("end", f"the server does not answer {message.line!r}, which is whole for the gateway")
                self.tally["broken off" if not message.whole else "closed without an answer"] += 1
                break
            report = await self.lane.server.report(answers[i])
            if report is None:
                self.tally[f"{self.lane.server.name} refuses, {answers[i].status}"] += 1
                if passed.ended["down"]:
                    break
                continue
            [key] = answers[i].values(b"x-id")
            ids.append(key)
            self.messages[key] = message
            if not message.whole:
                self.fault("end", f"the server reads a whole request where the gateway has not ended one: {message.line!r}")
            else:
                self.tally["forwarded"] += 1
                self.tally[f"forwarded by {rule_of(message)}"] += 1
                self.judge(message, report)
        needless = answers[len(messages):]
        if needless and not messages[-1].whole and not needless[0].values(b"x-id") and needless[0].status == 400:
            self.tally[f"{self.lane.server.name} refuses the rest of what was cut"] += 1  # Node has refused its head already
        elif needless:
            self.fault("end", f"the server reads {len(answers)} requests of these {len(messages)}: {bytes(passed.up[passed.read_up:])!r}")
        passed.read_up, passed.read_down = len(passed.up), len(passed.down)
        return ids

    def judge(self, message, report):
        """Compares a request that was forwarded with what the server has read."""
        rule = rule_of(message)
        told = f"{message.line!r} of rule {rule}"
        if report.method != message.method:
            self.fault("method", f"{told}: the server reads {report.method!r}")
        if report.target != message.target:
            self.fault("target", f"{told}: the server reads {report.target!r}")
        if (report.length, report.hash) != (len(message.body), hashlib.sha256(message.body).hexdigest()):
            self.fault("end", f"{told}: the server reads a body of {report.length} bytes; it has {message.body!r}")
        host = message.host.lower()
        if not {host, host.rpartition(b":")[0]} & {each.lower() for each in report.hosts}:
            self.fault("host", f"{told}: the server reads {report.hosts}; Host is {message.host!r}")
        path = message.target.partition(b"?")[0]
        if path == b"*":
            return
        for each in report.paths:
            if not paths.is_reading(each, path):
                self.fault("path", f"{told}: the server reads {each!r}, which is none of {sorted(paths.readings(path))}")
            for host in (message.host, *report.hosts):
                if guard := paths.passed_guard(rule, host, each):
                    self.fault("guard", f"{told}: the server reads {host!r} {each!r}, which is for the guarded rule {guard}")
