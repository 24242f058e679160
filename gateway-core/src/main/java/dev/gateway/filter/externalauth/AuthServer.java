package dev.gateway.filter.externalauth;

import dev.gateway.upstream.Upstream;

/** What the questions of one filter share. Safe from any thread. */
record AuthServer(Upstream upstream, AuthProtocol protocol, AuthPolicy policy, AuthTally tally) {}
