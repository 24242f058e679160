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
 * The sockets of a listener at a port that it shares by {@code SO_REUSEPORT}: other processes may listen there, too, and
 * this decides which of all sockets get new connections. The kernel numbers the sockets in the order in which they came,
 * and gives the number of one that closes to the last. Used as its acceptor is.
 */
final class ReusePortSockets {
    private static final Logger log = LoggerFactory.getLogger(ReusePortSockets.class);

    private final InetSocketAddress address;
    private final List<Channel> sockets;
    private final Set<String> earlier; // others' that were there before ours
    private final Set<String> ours;

    /**
     * Makes it of sockets that have just been bound.
     *
     * @param earlier what listened there before
     */
    ReusePortSockets(InetSocketAddress address, List<Channel> sockets, Set<String> earlier) {
        this.address = address;
        this.sockets = List.copyOf(sockets);
        this.earlier = earlier;
        this.ours = new HashSet<>(listening(address));
        ours.removeAll(earlier);
    }

    /** Returns what listens at an address, by numbers that the kernel gives. */
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
     * Lets those that were there before have all connections until {@link #join}, which may never come.
     *
     * @param socket the first of ours, right after it was bound
     */
    static void holdBack(Channel socket, InetSocketAddress address, Set<String> earlier) {
        steer(socket, address, 0, earlier.size());
    }

    /** Whether nobody else listens at the port. */
    boolean isAlone() {
        return others().isEmpty();
    }

    /** Takes all connections, or a share of them. */
    void join(boolean all) {
        if (!others().containsAll(earlier)) {
            ReusePortGroup.spread(sockets.get(0)); // our numbers are no longer known
        } else if (earlier.isEmpty()) {
            ReusePortGroup.spread(sockets.get(0)); // whatever one that left has made the kernel do
        } else if (all) {
            steer(earlier.size(), sockets.size());
        } else {
            steer(0, earlier.size() + sockets.size());
        }
    }

    /**
     * Lets the others have new connections from now on. What is on its way here still comes.
     *
     * @return whether there are any
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
     * Closes the sockets one after the other, each when new connections go elsewhere, since closing resets what waits in it.
     *
     * @param accept lets the event loops accept what has come
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

    /** Whether ours come first. If some were there before and some came after, nobody can tell their numbers. */
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
