package dev.gateway.tests.support;

import dev.gateway.tests.peer.Peers;

/** What is spoken downstream and upstream. */
public enum Pairing {
    H1_TO_H1(Peers.HTTP1, "http1"),
    H1_TO_H2(Peers.HTTP1, "h2c"),
    H2_TO_H1(Peers.H2C, "http1"),
    H2_TO_H2(Peers.H2C, "h2c");

    public final Peers client;
    public final String upstream;

    Pairing(Peers client, String upstream) {
        this.client = client;
        this.upstream = upstream;
    }

    public boolean upstreamIsHttp2() {
        return upstream.equals("h2c");
    }
}
