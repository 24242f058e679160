package dev.gateway.exchange.tunnel;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The open tunnels of one event loop, in the order in which they were opened. Confined to its loop. */
public final class OpenTunnels {
    private final Set<Member> members = new LinkedHashSet<>();
    private long opened;

    /** A tunnel. */
    public interface Member {
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
    public long add(Member tunnel) {
        members.add(tunnel);
        return ++opened;
    }

    /** A tunnel has ended. */
    public void remove(Member tunnel) {
        members.remove(tunnel);
    }

    /**
     * Returns some of them.
     *
     * @param after only tunnels with higher numbers than this
     * @param limit the maximum number, from the lowest on
     * @param now by the loop's clock
     */
    public List<OpenTunnel> list(long after, int limit, long now) {
        return members.stream()
                .filter(tunnel -> tunnel.number() > after)
                .limit(limit)
                .map(tunnel -> tunnel.view(now))
                .toList();
    }
}
