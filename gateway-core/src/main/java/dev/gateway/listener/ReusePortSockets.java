package dev.gateway.listener;

import dev.gateway.net.transport.ReusePortGroup;
import io.netty.channel.Channel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sockets of a listener at a port that it shares by {@code SO_REUSEPORT}. Other processes may listen there, too, and
 * this decides which of all sockets get new connections. The kernel numbers the sockets in their order of arrival. When one
 * closes, the last one gets its number. Same threads as its {@link Acceptor}.
 */
final class ReusePortSockets {
    private static final Logger log = LoggerFactory.getLogger(ReusePortSockets.class);

    private final InetSocketAddress address;
    private final List<Channel> sockets;
    private final Set<String> earlier; // sockets of others that were there before ours
    private final Set<String> ours;

    /**
     * Makes it from sockets that were just bound.
     *
     * @param earlier the sockets that listened there before
     */
    ReusePortSockets(InetSocketAddress address, List<Channel> sockets, Set<String> earlier) {
        this.address = address;
        this.sockets = List.copyOf(sockets);
        this.earlier = earlier;
        this.ours = new HashSet<>(listening(address));
        ours.removeAll(earlier);
    }

    /** Returns the sockets that listen at an address, by numbers of the kernel. */
    static Set<String> listening(InetSocketAddress address) {
        try {
            return ReusePortGroup.listening(address);
        } catch (IOException e) {
            log.warn("Cannot find out who listens at {}: {}", address, e.toString());
            return Set.of();
        }
    }

    private Set<String> others() {
        Set<String> others = new HashSet<>(listening(address));
        others.removeAll(ours);
        return others;
    }

    /**
     * Leaves all connections to the earlier sockets until {@link #join}, which may never be called.
     *
     * @param socket our first socket, just after it was bound
     */
    static void holdBack(Channel socket, InetSocketAddress address, Set<String> earlier) {
        steer(socket, address, 0, earlier.size());
    }

    /** Whether no other process listens at the port. */
    boolean isAlone() {
        return others().isEmpty();
    }

    /** Begins to take all new connections, or a share of them. */
    void join(boolean all) {
        if (!others().containsAll(earlier)) {
            ReusePortGroup.spread(sockets.get(0)); // our numbers are no longer known
        } else if (earlier.isEmpty()) {
            ReusePortGroup.spread(sockets.get(0)); // ends what a former process may have set in the kernel
        } else if (all) {
            steer(earlier.size(), sockets.size());
        } else {
            steer(0, earlier.size() + sockets.size());
        }
    }

    /**
     * Leaves new connections to the other processes. Connections that are on their way still arrive here.
     *
     * @return whether there is another process
     */
    boolean giveWay() {
        Set<String> others = others();
        if (cameAfter(others)) {
            steer(sockets.size(), others.size());
        } else if (others.equals(earlier)) {
            steer(0, others.size());
        }
        return !others.isEmpty();
    }

    /**
     * Closes the sockets one after the other, each when new connections go elsewhere: closing resets the connections that
     * wait in it.
     *
     * @param accept has the event loops accept waiting connections
     */
    void leave(Runnable accept) {
        Set<String> others = others();
        boolean first = cameAfter(others);
        if (!first && others.equals(earlier)) {
            steer(0, others.size());
        }
        List<Channel> numbered = ReusePortHandover.numbered(sockets, earlier.size());
        for (int i = 0; i < numbered.size(); i++) {
            ReusePortHandover.Step step =
                    first ? ReusePortHandover.step(i, numbered.size(), others.size()) : ReusePortHandover.Step.NONE;
            steer(numbered.get(i), address, step.first(), step.count());
            if (i == 0 || step.late()) {
                accept.run();
            }
            numbered.get(i).close().awaitUninterruptibly();
        }
    }

    /** Whether all other sockets are newer than ours. If some are older and some newer, their numbers are not known. */
    private boolean cameAfter(Set<String> others) {
        return Collections.disjoint(others, earlier);
    }

    private void steer(int first, int count) {
        steer(sockets.get(0), address, first, count);
    }

    private static void steer(Channel socket, InetSocketAddress address, int first, int count) {
        if (count == 0) {
            return;
        }
        try {
            ReusePortGroup.steer(socket, first, count);
        } catch (IOException e) {
            log.warn("Cannot steer connections to {} to another process: {}", address, e.toString());
        }
    }
}
