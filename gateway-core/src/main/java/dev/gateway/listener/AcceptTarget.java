package dev.gateway.listener;

/** Who takes in what is accepted at an address, on one event loop. Confined to it once connections are accepted. */
final class AcceptTarget {
    LoopConnections owner;

    AcceptTarget(LoopConnections owner) {
        this.owner = owner;
    }
}
