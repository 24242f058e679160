"""How a lane of a proxy is set up: what its two sides speak, and what is switched on."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Setup:
    downstream: str = "http1"
    upstream: str = "http1"


PLAIN = Setup()
HTTP2_CLIENTS = Setup(downstream="http2")
HTTP2_UPSTREAMS = Setup(upstream="http2")
