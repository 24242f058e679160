package dev.gateway.connect;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * CONNECT counters: what is counted of one entry. Kept when the configuration is loaded again, so that counters only ever
 * grow and open tunnels stay counted. Shared by all event loops.
 */
public final class ConnectTally {
    /** The labels of a refusal; both are words of the configuration. */
    public record Denial(String listener, String rule) {}

    private final ConcurrentHashMap<Denial, LongAdder> denied = new ConcurrentHashMap<>();
    private final TunnelCounts tunnels = new TunnelCounts();
    private final AuditTrail audit = new AuditTrail();

    void denied(String listener, String rule) {
        denied.computeIfAbsent(new Denial(listener, rule), key -> new LongAdder())
                .increment();
    }

    /** Takes a count. */
    public interface Reader {
        void read(Denial labels, long count);
    }

    /** Reads how often what was refused, or would have been without audit mode. */
    public void forEachDenial(Reader reader) {
        for (Map.Entry<Denial, LongAdder> entry : denied.entrySet()) {
            reader.read(entry.getKey(), entry.getValue().sum());
        }
    }

    /** Returns the counts of open tunnels. */
    public TunnelCounts tunnels() {
        return tunnels;
    }

    /** Returns what audit mode has seen. */
    public AuditTrail audit() {
        return audit;
    }
}
