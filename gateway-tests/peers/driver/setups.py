"""How a lane of a proxy is set up: what its two sides speak, and what is switched on."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Setup:
    downstream: str = "http1"
    upstream: str = "http1"
    upgrades: bool = False  # to WebSocket
    tokens: bool = False  # upgrades to "tcp", too
    limited: bool = False  # each limit of time is a second
    whole: bool = False  # a request has a second to come, and each part of it longer
    tls: bool = False  # of clients, with certificates for a.test and b.test
    asks: bool = False  # for a certificate of clients
    upstream_tls: bool = False  # with verification of up.test


PLAIN = Setup()
HTTP2_CLIENTS = Setup(downstream="http2")
HTTP2_UPSTREAMS = Setup(upstream="http2")
UPGRADES = Setup(upgrades=True)
UPGRADES_TO_TCP = Setup(upgrades=True, tokens=True)
LIMITED = Setup(upgrades=True, limited=True)
TLS = Setup(tls=True)
TLS_OF_CLIENTS = Setup(tls=True, asks=True)
UPSTREAM_TLS = Setup(upstream_tls=True)
LIMITED_HTTP2 = Setup(downstream="http2", limited=True)
WHOLE = Setup(whole=True)
WHOLE_HTTP2 = Setup(downstream="http2", whole=True)
