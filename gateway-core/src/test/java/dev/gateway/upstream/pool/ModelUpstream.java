package dev.gateway.upstream.pool;

import dev.gateway.stream.CloseCause;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.EndpointSpec;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.Upstream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** An upstream of one generation, with what the model knows of it. */
final class ModelUpstream {
    final int number;
    final Upstream upstream;
    final ModelLimit connections;
    final ModelLimit requests;
    final List<Gauges> gauges = new ArrayList<>(); // of each loop
    final List<Endpoint> former = new ArrayList<>(); // endpoints that have gone
    final List<Host> toEnd = new ArrayList<>(); // those that have gone, and that still may end what they have
    final Set<String> drained = new HashSet<>();
    final Set<String> toldDrained = new HashSet<>(); // those of them whose pools know
    final Set<String> odd = new HashSet<>(); // hosts to which some connections may be in their last use
    final List<Long> checksEndedNanos = new ArrayList<>();
    List<EndpointSpec> wanted = List.of();
    boolean retired;
    boolean removed;
    boolean cut; // some endpoints were closed
    List<Endpoint> kept = List.of(); // the others, if so
    boolean full; // a request was refused, as too many were in flight

    /** What is counted of the connections of one loop. */
    static final class Gauges implements UpstreamObserver {
        int connections;
        int idle;
        int pending;

        @Override
        public void onOpened(HttpVersion version, boolean tls) {
            connections++;
        }

        @Override
        public void onClosed(HttpVersion version, boolean tls, CloseCause cause) {
            connections--;
        }

        @Override
        public void onIdle(HttpVersion version) {
            idle++;
        }

        @Override
        public void onIdleEnded(HttpVersion version) {
            idle--;
        }

        @Override
        public void onPending() {
            pending++;
        }

        @Override
        public void onPendingEnded(long nanos) {
            pending--;
        }
    }

    ModelUpstream(int number, Upstream upstream, int loops) {
        this.number = number;
        this.upstream = upstream;
        this.connections = new ModelLimit(upstream.settings().limits().maxConnections(), named(), Host::connections);
        this.requests = new ModelLimit(upstream.settings().limits().maxRequests(), named(), Host::requests);
        for (int i = 0; i < loops; i++) {
            gauges.add(new Gauges());
        }
        upstream.health().onChoice(chosen -> {
            connections.divide(chosen);
            requests.divide(chosen);
        });
    }

    /** Returns the live state of what requests name. */
    Host named() {
        return upstream.host(new Endpoint(Endpoint.NAMED_INDEX, "192.0.2.1", 80, 1));
    }

    /** Makes these its endpoints. */
    void update(List<EndpointSpec> specs) {
        wanted = specs;
        for (Host gone : upstream.update(specs)) {
            former.add(gone.endpoint());
            toEnd.add(gone);
            drained.remove(gone.toString());
            toldDrained.remove(gone.toString());
            odd.add(gone.endpoint().host());
        }
    }

    List<Host> chosen() {
        return upstream.hosts().stream()
                .filter(host -> host.isChosen() && (!cut || kept.contains(host.endpoint())))
                .toList();
    }

    @Override
    public String toString() {
        return "upstream " + number;
    }
}
