package dev.gateway.filter.auth;

import dev.gateway.upstream.Upstream;

/** What the questions of one filter share. Safe from any thread. */
record AuthServer(
        Upstream upstream, AuthQuestion question, AuthAnswerFields fields, AuthPolicy policy, AuthTally tally) {}
