package dev.gateway.exchange;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The tunnels of one event loop that are open now, in the order in which they were opened. Confined to its loop. */
final class OpenTunnels {
    private final Set<Member> members = new LinkedHashSet<>();
    private long opened;

    /** A tunnel. */
    interface Member {
        /** Returns what {@link #add} has returned for it. */
        long number();

        /**
         * Returns what the admin listener shows of it.
         *
         * @param now by the loop's clock
         */
        OpenTunnel view(long now);
    }

    /** Takes note of a tunnel, and returns its number. */
    long add(Member tunnel) {
        members.add(tunnel);
        return ++opened;
    }

    void remove(Member tunnel) {
        members.remove(tunnel);
    }

    /**
     * Returns some of them.
     *
     * @param after those numbered after this one
     * @param limit how many at most, the first in order
     * @param now by the loop's clock
     */
    List<OpenTunnel> list(long after, int limit, long now) {
        return members.stream()
                .filter(tunnel -> tunnel.number() > after)
                .limit(limit)
                .map(tunnel -> tunnel.view(now))
                .toList();
    }
}
