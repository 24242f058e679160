package dev.gateway.listener;

/**
 * The target of accepted connections: who takes those of an address, on one event loop. Confined to it once connections are
 * accepted.
 */
final class AcceptTarget {
    LoopConnections owner;

    AcceptTarget(LoopConnections owner) {
        this.owner = owner;
    }
}
