"""The kinds of cases: how the proxy is set up for them, and who plays the ends."""

import dataclasses
import typing

from . import break_cases, connection_cases, corpus, ends, forwarding_cases, http2, http2_cases, time_cases, tls, tls_cases, watched
from .setups import HTTP2_CLIENTS, HTTP2_UPSTREAMS, PLAIN, UPGRADES_TO_TCP, Setup


@dataclasses.dataclass
class Kind:
    name: str
    singular: str  # as the page says it
    plural: str
    cases: typing.Callable
    play: typing.Callable
    setup: Setup = PLAIN


TIMED = "times"
KINDS = (
    Kind("requests", "request", "requests of HTTP/1", lambda: corpus.read("requests"), ends.request),
    Kind("responses", "response", "responses of HTTP/1", lambda: corpus.read("responses") + forwarding_cases.responses(), ends.response),
    Kind("paths", "path", "paths that servers may read in several ways", forwarding_cases.paths, ends.request),
    Kind("upgrades", "upgrade", "upgrades to another protocol", forwarding_cases.upgrades, watched.play, UPGRADES_TO_TCP),
    Kind("connections", "connection", "ends of HTTP/1 connections", connection_cases.cases, ends.connection),
    Kind("http2-requests", "HTTP/2 request", "requests of HTTP/2", http2_cases.requests, http2.play, HTTP2_CLIENTS),
    Kind("http2-responses", "HTTP/2 response", "responses of HTTP/2", http2_cases.responses, ends.response, HTTP2_UPSTREAMS),
    Kind("tls-hellos", "TLS hello", "first messages of TLS", tls_cases.hellos, tls.play_hello),
    Kind("tls-clients", "TLS client", "clients of TLS", tls_cases.clients, tls.play_client),
    Kind("tls-upstreams", "TLS upstream", "upstreams of TLS", tls_cases.upstreams, tls.play_upstream),
    Kind("breaks", "end on the way", "ends on the way, with what each side sees", break_cases.cases, watched.play),
    Kind(TIMED, "time", "limits of time", time_cases.cases, watched.play),
)
NAMED = {kind.name: kind for kind in KINDS}


def cases():
    found = [case for kind in KINDS for case in kind.cases()]
    for case in found:
        case.setup = case.setup or NAMED[case.kind].setup
    return found


def upstream(setup):
    if setup.upstream_tls:
        return tls.Upstream()
    return http2.Upstream() if setup.upstream == "http2" else ends.Upstream()


def play(case, port, end):
    """Has both ends play a case through the lane of a proxy. Returns what came of it."""
    end.play(case)
    return NAMED[case.kind].play(case, port, end).replace(f"127.0.0.1:{end.port}", "ENDPOINT")
