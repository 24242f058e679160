package dev.gateway.listener;

/**
 * The owner of accepted connections of an address, on one event loop. A reload may change the owner. Confined to the loop
 * once the listener accepts connections.
 */
final class AcceptTarget {
    LoopConnections owner;

    AcceptTarget(LoopConnections owner) {
        this.owner = owner;
    }
}
