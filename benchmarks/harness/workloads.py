"""What is measured: the workloads, how much of each proxy's work counts as one unit, and what the gateway aims at."""

import sys
import time
from dataclasses import dataclass, field

from . import loads
from . import machine as machines
from . import proxies, upstreams
from .upstreams import SIZES


@dataclass(frozen=True)
class Target:
    """At most factor times a peer's figure (the best of several), or an absolute figure if there is no peer."""

    factor: float
    peers: tuple = ()

    def __str__(self):
        if not self.peers:
            return f"≤ {self.factor:g}"
        return f"≤ {self.factor:g} × {' / '.join(self.peers)}"


@dataclass(frozen=True)
class Row:
    """One figure of a workload: of each sample the value of this name."""

    value: str
    unit: str
    targets: tuple = ()


class Workload:
    """Measured round by round; a sample is a dictionary of figures, and 'errors' if there were any."""

    peer = False  # whether it needs benchmarks/peer, and what that serves
    rounds = None  # if other than asked for
    fresh = False  # whether it is for proxies that have done nothing else
    own_gateways = None

    def __init__(self, name, what, door, rows, quick=True):
        self.name, self.what, self.door, self.rows, self.quick = name, what, door, rows, quick

    def contestants(self, running):
        return [p for p in running if self.door in p.ports]

    def prepare(self, machine, contestants, seconds):
        pass

    def warm_up(self, machine, proxy, seconds):
        self.sample(machine, proxy, seconds)

    def sample(self, machine, proxy, seconds):
        raise NotImplementedError


class Load(Workload):
    """A load generator at full rate; what counts is the proxy's CPU time by unit of work."""

    UNITS = {"request": 1e6, "GB": 1e9, "handshake": 1e6, "tunnel": 1e6, "message": 1e6, "call": 1e6, "page": 1e3, "scrape": 1e3}

    def __init__(self, name, what, door, load, unit, targets, quick=True, size=1, path=None, peer=False, extra=()):
        label = {"GB": "s/GB", "page": "ms/page", "scrape": "ms/scrape"}.get(unit, f"µs/{unit}")
        super().__init__(name, what, door, (Row("cost", label, targets), *extra), quick)
        self.load, self.unit, self.size, self.path, self.peer = load, unit, size, path, peer

    def sample(self, machine, proxy, seconds):
        before = machines.cpu_seconds(proxy.pid)
        outcome = self.load(machine, proxy, seconds)
        cpu = machines.cpu_seconds(proxy.pid) - before
        done = outcome.done * self.size
        sample = {"errors": outcome.errors}
        if not done:
            sample["errors"] = outcome.errors or ["nothing was done"]
            return sample
        sample.update(
            cost=cpu / done * self.UNITS[self.unit], rate=done / (1e9 if self.unit == "GB" else 1) / outcome.seconds,
            busy=cpu / outcome.seconds, p50=outcome.p50 * 1e3, p99=outcome.p99 * 1e3, p999=outcome.p999 * 1e3,
            rss=machines.rss_mib(proxy.pid), **outcome.more)
        if any(row.value == "upstreams" for row in self.rows):
            sample["upstreams"] = machines.connections_to(proxy.pid, proxy.upstreams[proxies.DOORS[self.door][2]])
        return sample


class Idle(Workload):
    """Resident memory that a connection costs which has done one exchange and now does nothing."""

    peer = True
    rounds = 1
    fresh = True

    def __init__(self, name, what, kind, door, target):
        super().__init__(name, what, door, (Row("cost", "KiB/connection", (Target(target),)),))
        self.kind = kind

    def count(self):
        # A proxy has two sockets for each tunnel, and HAProxy makes room for two of each connection. The gateway ends
        # keep-alive when eight tenths of the descriptors for clients are taken.
        return min(10_000, (machines.open_files() - 1000) * 2 // 5)

    def warm_up(self, machine, proxy, seconds):
        # Some work, so that what a first request needs, and a heap's young generation, is there already.
        if self.kind == "h1":
            loads.wrk(machine, proxy.url(self.door, "/small"), min(3, seconds))
        elif self.kind == "h2":
            loads.h2load(machine, proxy.url(self.door, "/small"), min(3, seconds))
        with loads.held(machine, self.kind, proxy.address(self.door), proxy.tunnel_target(), 200):
            pass

    def sample(self, machine, proxy, seconds):
        count = self.count()
        before = machines.rss_mib(proxy.pid)
        with loads.held(machine, self.kind, proxy.address(self.door), proxy.tunnel_target(), count) as opened:
            time.sleep(6)  # every five seconds, the gateway's JVM frees memory that only the opening needed
            grown = machines.rss_mib(proxy.pid) - before
            kept = machines.connections_at(proxy.ports[self.door])
        if opened != count or kept < count:
            return {"errors": [f"of {count} connections {opened} could be opened, and {kept} were kept"]}
        return {"cost": grown * 1024 / count, "rate": count, "rss": before + grown, "errors": []}


class Latency(Workload):
    """
    What a proxy adds to the latency of a direct connection, at half the rate that nginx can do at most. The server asked
    directly stands in the proxy's place: on the load generator's core the two would take turns for each request.
    """

    peer = True

    def __init__(self, name, what):
        super().__init__(name, what, "h1", (
            Row("added99", "µs p99", (Target(1.0, ("nginx",)),)), Row("added50", "µs p50"), Row("added999", "µs p99.9")))
        self.rate = 10_000
        self.direct = None
        self.port = 0

    def prepare(self, machine, contestants, seconds):
        base = next((p for p in contestants if p.name == "nginx"), contestants[0])
        most = loads.wrk(machine, base.url("h1", "/small"), max(2, seconds))
        if most.errors or not most.done:
            sys.exit(f"{self.name}: cannot measure the maximum rate: {most.errors or 'nothing was done'}")
        self.rate = max(100, int(most.done / most.seconds / 2))
        self.direct = None
        self.port = upstreams.start_direct(machine)
        print(f"  {self.name}: {self.rate} requests/s, half of what {base.name} can do")

    def warm_up(self, machine, proxy, seconds):
        loads.wrk(machine, proxy.url("h1", "/small"), max(1, seconds - 2))
        self.at_rate(machine, proxy.address("h1"), min(2, seconds))

    def begin_round(self, machine, seconds):
        self.direct = self.at_rate(machine, f"127.0.0.1:{self.port}", seconds)

    def at_rate(self, machine, address, seconds):
        return loads.peer(machine, seconds, "rate", address, "/small", self.rate, seconds)

    def sample(self, machine, proxy, seconds):
        if self.direct is None:
            return {"errors": ["no direct measurement"]}
        outcome = self.at_rate(machine, proxy.address("h1"), seconds)
        added = lambda q: (getattr(outcome, q) - getattr(self.direct, q)) * 1e6
        done = outcome.done / outcome.seconds if outcome.seconds else 0
        return {"added50": added("p50"), "added99": added("p99"), "added999": added("p999"), "rate": done,
                "errors": outcome.errors + self.direct.errors}


class Scale(Workload):
    """
    h1-small on gateways of other sizes. What counts is the cost against that of the first one. As many endpoints have as
    many connections, whose state in the kernel is no longer in the processor's cache; so nginx is measured with them, too.
    """

    SIZES = {"10 routes": {"routes": 10}, "1000 routes": {"routes": 1000}, "10000 routes": {"routes": 10_000},
             "3 endpoints": {"endpoints": 3}, "1000 endpoints": {"endpoints": 1000}, "2 loops": {"loops": 2}}
    NGINX = {"nginx, 3 endpoints": 3, "nginx, 1000 endpoints": 1000}

    def __init__(self, name, what, quick=True):
        super().__init__(name, what, "h1", (Row("cost", "µs/request", (Target(1.03, ("10 routes",)),)),), quick)

    def own_gateways(self, machine, ports, command):
        return [*(proxies.ScaledGateway(machine, ports, command, size, **settings) for size, settings in self.SIZES.items()),
                *(proxies.ScaledNginx(machine, ports, name, count) for name, count in self.NGINX.items())]

    def sample(self, machine, proxy, seconds):
        before = machines.cpu_seconds(proxy.pid)
        outcome = loads.wrk_routes(machine, proxy.url("h1", "/"), seconds, proxy.routes)
        cpu = machines.cpu_seconds(proxy.pid) - before
        if not outcome.done:
            return {"errors": outcome.errors}
        return {"cost": cpu / outcome.done * 1e6, "rate": outcome.done / outcome.seconds, "p50": outcome.p50 * 1e3,
                "p99": outcome.p99 * 1e3, "rss": machines.rss_mib(proxy.pid), "errors": outcome.errors}


def at_url(load, path):
    def run(machine, proxy, seconds):
        return load(machine, proxy.url(run.door, path), seconds)
    return run


def by_url(name, what, door, load, path, targets, unit="request", quick=True, **more):
    run = at_url(load, path)
    run.door = door
    size = SIZES.get(path, 1) if unit == "GB" else 1
    return Load(name, what, door, run, unit, targets, quick, size, path, **more)


def by_peer(name, what, door, unit, targets, arguments, quick=True, **more):
    """arguments(proxy, address, seconds) of benchmarks/peer."""
    def run(machine, proxy, seconds):
        return loads.peer(machine, seconds, *arguments(proxy, proxy.address(door), seconds))
    return Load(name, what, door, run, unit, targets, quick, peer=True, **more)


def page(protocol, latency):
    bound = Target(1.03 * latency) if protocol == "h2" and latency else None
    seconds = 4 if latency else 0  # so that a slow page is loaded more than once
    return by_peer(
        f"tiles-{protocol}-{latency}", f"a page and 180 tiles of {latency} ms by {protocol}", "page2" if protocol == "h2" else "page1",
        "page", (Target(1.0, ("nginx",)),),
        lambda proxy, address, duration: ("page", protocol, address, latency, max(duration, seconds)),
        quick=not (protocol == "h1" and latency == 1000),
        extra=(Row("p50", "ms a page", (bound,) if bound else ()),))


def scrape(protocol, parallel, latency):
    """200 pages of 20 KB, as the tool of a search engine or of an agent fetches them."""
    rounds = 200 // parallel
    bound = Target(1.05 * rounds * latency) if protocol == "h2" and parallel > 1 and latency else None
    how = f"{parallel} at a time" if parallel > 1 else "one after another"
    return by_peer(
        f"scrape-{protocol}-{parallel}-{latency}", f"200 pages of 20 KB and {latency} ms by {protocol}, {how}",
        "page2" if protocol == "h2" else "page1", "scrape", (Target(1.0, ("nginx",)),),
        lambda proxy, address, seconds: ("scrape", protocol, address, latency, parallel, seconds),
        quick=parallel > 1 or not latency,
        extra=(Row("p50", "ms a scrape", (bound,) if bound else ()), Row("connections", "connections"),
               Row("sent", "KB sent"), Row("received", "KB received")))


def nginx(factor):
    return Target(factor, ("nginx",))


def envoy(factor):
    return Target(factor, ("envoy",))


def haproxy(factor):
    return Target(factor, ("haproxy",))


DOWNLOADS = [
    by_url(f"download-{size}{suffix}", f"{text} files by 4 connections{how}", door, load, f"/{size}", (nginx(0.6), envoy(1.0)),
           unit="GB", quick=size != "7m")
    for size, text in (("30m", "30 MB"), ("7m", "7 MB"), ("80k", "80 KB"))
    for suffix, how, door, load in (("", "", "h1", loads.wrk_download), ("-tls", ", TLS 1.3", "h1tls", loads.wrk_download),
                                    ("-h2", ", h2 and TLS 1.3", "h2tls", loads.h2_download))
]

WORKLOADS = {w.name: w for w in [
    by_url("h1-small", "64 connections, responses of 100 bytes", "h1", loads.wrk, "/small", (nginx(0.85), haproxy(0.75))),
    by_url("h1-real", "the same with a browser's and an application's header fields", "h1", loads.wrk_real, "/real", (nginx(0.8),)),
    by_url("h1-pipelined", "h1-small with 16 requests in one write", "h1", loads.wrk_pipelined, "/small", (nginx(0.7),)),
    by_url("h1-tls-small", "h1-small over TLS 1.3", "h1tls", loads.wrk, "/small", (nginx(1.0),)),
    by_peer("tls-full", "a connection for each request, full handshakes", "h1tls", "handshake", (nginx(0.8),),
            lambda proxy, address, seconds: ("handshakes", "full", address, seconds)),
    by_peer("tls-resumed", "the same, resumed by tickets", "h1tls", "handshake", (nginx(0.8),),
            lambda proxy, address, seconds: ("handshakes", "resumed", address, seconds)),
    by_url("h2c-small", "16 connections with 100 streams each", "h2c", loads.h2load, "/small", (nginx(0.8), haproxy(1.0))),
    by_url("h2-tls-small", "the same over TLS 1.3", "h2tls", loads.h2load, "/small", (nginx(0.8), haproxy(1.0))),
    by_url("h2-h2", "h2c-small with an h2 upstream", "h2h2", loads.h2load, "/small", (envoy(0.6),),
           extra=(Row("upstreams", "upstream connections", (Target(1),)),)),
    by_peer("grpc-unary", "100 callers on 4 connections", "grpc", "call", (envoy(0.6),),
            lambda proxy, address, seconds: ("grpc", "unary", address, seconds)),
    by_peer("grpc-stream", "100 streams on 4 connections, messages that the upstream echoes", "grpc", "message", (envoy(0.6),),
            lambda proxy, address, seconds: ("grpc", "stream", address, seconds)),
    *DOWNLOADS,
    by_url("upload", "7 MB of known length, 4 connections", "h1", loads.wrk_upload, "/upload", (nginx(0.8),), unit="GB"),
    by_url("upload-chunked", "the same in chunks", "h1", loads.wrk_chunked, "/upload", (nginx(0.8),), unit="GB"),
    by_peer("upload-put", "the same of known length by PUT, sent by a Go client", "h1", "GB", (nginx(0.8),),
            lambda proxy, address, seconds: ("upload", address, "/upload", seconds), size=SIZES["/upload"]),
    by_peer("websocket", "64 connections, messages of 64 bytes that the upstream echoes", "page1", "message", (nginx(1.0),),
            lambda proxy, address, seconds: ("websocket", address, "/echo", seconds)),
    by_peer("connect-short", "16 clients: a CONNECT, a reply of 100 bytes, and the end", "connect", "tunnel",
            (Target(0.8, ("envoy", "squid", "tinyproxy")),),
            lambda proxy, address, seconds: ("tunnel-short", address, proxy.tunnel_target(), seconds)),
    by_peer("connect-fat", "one tunnel at full rate", "connect", "GB", (envoy(0.5),),
            lambda proxy, address, seconds: ("tunnel-fat", address, proxy.tunnel_target(), seconds)),
    *[page(protocol, latency) for latency in (0, 100, 1000) for protocol in ("h1", "h2")],
    *[scrape(protocol, parallel, latency) for latency in (0, 50) for parallel in (1, 50) for protocol in ("h1", "h2")],
    by_url("direct-h1", "responses of the proxy itself: 16 connections, 1,000 pipelined requests", "direct1", loads.h1load_direct,
           "/", (nginx(0.35),)),
    by_url("direct-h2c", "the same with 1,000 streams on each connection", "direct2", loads.h2load_direct, "/", (nginx(0.35),),
           extra=(Row("heads", "% of head bytes", (Target(5),)),)),
    Idle("idle-h1", "memory of idle HTTP/1.1 connections", "h1", "h1", 4),
    Idle("idle-h2", "memory of idle HTTP/2 connections", "h2", "h2c", 8),
    Idle("idle-tunnel", "memory of idle CONNECT tunnels", "tunnel", "connect", 8),
    Latency("latency", "what a proxy adds to the latency of a direct connection, at half of nginx's maximum rate"),
    Scale("scale", "h1-small with more routes, endpoints, event loops"),
]}
