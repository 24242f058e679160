package dev.gateway.exchange;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The open tunnels of one event loop, in the order in which they were opened. Confined to its loop. */
final class OpenTunnels {
    private final Set<Member> members = new LinkedHashSet<>();
    private long opened;

    /** A tunnel. */
    interface Member {
        /** Returns its number, as {@link #add} has returned it. */
        long number();

        /**
         * Returns its state, for the admin listener.
         *
         * @param now by the loop's clock
         */
        OpenTunnel view(long now);
    }

    /** Adds a tunnel, and returns its number. */
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
     * @param after only tunnels with higher numbers than this
     * @param limit the maximum number, from the lowest on
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
