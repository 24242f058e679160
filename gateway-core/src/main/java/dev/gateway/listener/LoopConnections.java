package dev.gateway.listener;

import io.netty.util.concurrent.Promise;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The connections of one listener on one event loop. Confined to the loop but for its constant parts. */
final class LoopConnections {
    final ListenerLoop loop;
    final ListenerSettings settings;
    private final ConnectionLimit limit;
    private final Set<Connection> connections = new LinkedHashSet<>();
    private @Nullable Promise<Void> drained;

    LoopConnections(ListenerLoop loop, ListenerSettings settings, ConnectionLimit limit) {
        this.loop = loop;
        this.settings = settings;
        this.limit = limit;
    }

    /** Takes a connection in, unless the listener has as many as it may. */
    boolean add(Connection connection) {
        if (!limit.tryAcquire()) {
            loop.observer().onConnectionRefused();
            return false;
        }
        connections.add(connection);
        return true;
    }

    void remove(Connection connection) {
        connections.remove(connection);
        limit.release();
        if (drained != null && connections.isEmpty()) {
            drained.trySuccess(null);
        }
    }

    boolean isDraining() {
        return drained != null;
    }

    /** Lets all connections finish; those accepted from here on finish too. */
    void drain(Promise<Void> done) {
        if (drained != null) {
            drained.addListener(before -> done.trySuccess(null)); // asked again
            return;
        }
        drained = done;
        List.copyOf(connections).forEach(Connection::drain);
        if (connections.isEmpty()) {
            done.trySuccess(null);
        }
    }

    void closeAll() {
        List.copyOf(connections).forEach(Connection::close);
    }
}
