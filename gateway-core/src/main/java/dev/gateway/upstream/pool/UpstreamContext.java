package dev.gateway.upstream.pool;

import dev.gateway.stream.UpstreamObserver;
import dev.gateway.upstream.dial.UpstreamSettings;

/**
 * The context of one upstream's connections on one event loop: the resources, settings and observer that they share.
 * Confined to the loop.
 */
class UpstreamContext {
    final LoopResources resources;
    final SharedUpstream shared;
    final UpstreamSettings settings;
    final UpstreamObserver observer;

    UpstreamContext(LoopResources resources, SharedUpstream shared, UpstreamObserver observer) {
        this.resources = resources;
        this.shared = shared;
        this.settings = shared.settings;
        this.observer = observer;
    }

    final long now() {
        return resources.wheel.nanoTime();
    }
}
