package dev.gateway.connect;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Audit log of CONNECT targets. What audit mode has seen, within bounds: each target once with how often, each remark once.
 * What is new is logged, so that no client can fill the log. Shared by all event loops.
 */
public final class AuditTrail {
    private static final Logger log = LoggerFactory.getLogger(AuditTrail.class);
    private static final int MOST = 10_000;

    /** How many bytes of heap it takes at most, as clients decide how long names are. */
    private static final long MOST_BYTES = 4 * 1024 * 1024;

    /** What each item takes besides its text, rounded: a target with its count, its parts in maps, and headers of objects. */
    private static final int ITEM_BYTES = 256;

    private final int most;
    private final AtomicLong bytes = new AtomicLong();
    private final ConcurrentHashMap<Key, Seen> targets = new ConcurrentHashMap<>();
    private final Set<String> remarks = ConcurrentHashMap.newKeySet();
    private final Set<String> notPublic = ConcurrentHashMap.newKeySet();
    private final LongAdder dropped = new LongAdder();

    private record Key(String host, int port) {}

    private record Seen(Target target, LongAdder times, Decision first) {}

    /**
     * A target that was seen.
     *
     * @param times how often
     * @param decision what the policy said of it when it was first seen
     */
    public record Observed(Target target, long times, Decision decision) {}

    AuditTrail() {
        this(MOST);
    }

    AuditTrail(int most) {
        this.most = most;
    }

    void seen(Target target, Decision decision) {
        if (target.odd()) {
            return; // refused as ever, and nothing that a list could allow
        }
        Key key = new Key(target.host(), target.port());
        Seen seen = targets.get(key);
        if (seen == null) {
            if (!hasRoom(targets.size(), key.host)) {
                dropped.increment();
                return;
            }
            Seen made = new Seen(target, new LongAdder(), decision);
            seen = targets.putIfAbsent(key, made);
            if (seen == null) {
                seen = made;
                take(key.host);
                if (!decision.isAllowed()) {
                    log.info("audit: {} would be refused: {} ({})", target, decision.reason(), decision.rule());
                }
            }
        }
        seen.times.increment();
    }

    private boolean hasRoom(int count, String text) {
        return count < most && bytes.get() + cost(text) <= MOST_BYTES;
    }

    private void take(String text) {
        bytes.addAndGet(cost(text));
    }

    private static long cost(String text) {
        return (long) ITEM_BYTES + text.length();
    }

    /** A host led to an address that is not public, and was refused. */
    void notPublic(String host) {
        if (hasRoom(notPublic.size(), host) && notPublic.add(host)) {
            take(host);
        }
    }

    /** A host led to an address that would be refused. */
    void address(String host, int port, String reason) {
        remark(host + ":" + port + " would be refused: " + reason);
    }

    /** Logs something unless it was logged before, or much else was. */
    void remark(String text) {
        if (remarks.contains(text)) {
            return;
        }
        if (!hasRoom(remarks.size(), text)) {
            dropped.increment();
        } else if (remarks.add(text)) {
            take(text);
            log.info("audit: {}", text);
        }
    }

    /** Returns what was seen, most often first. */
    public List<Observed> observed() {
        List<Observed> all = new ArrayList<>();
        for (Map.Entry<Key, Seen> entry : targets.entrySet()) {
            Seen seen = entry.getValue();
            all.add(new Observed(seen.target, seen.times.sum(), seen.first));
        }
        all.sort((a, b) -> a.times != b.times
                ? Long.compare(b.times, a.times)
                : a.target.toString().compareTo(b.target.toString()));
        return all;
    }

    /** Returns the hosts that led to addresses which are not public. */
    public Set<String> notPublic() {
        return new TreeSet<>(notPublic);
    }

    /** Returns how many were not noted for want of room. */
    public long dropped() {
        return dropped.sum();
    }
}
