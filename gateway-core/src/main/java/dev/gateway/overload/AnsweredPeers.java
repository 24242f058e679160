package dev.gateway.overload;

import io.netty.util.concurrent.FastThreadLocal;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The peers of one event loop that have their answer, but are still sending. The gateway reads what they send only so that
 * they see the answer. So when memory or descriptors run out, they give way before all others, the longest answered first.
 * One object for each loop, used by that loop only.
 */
public final class AnsweredPeers {
    private static final FastThreadLocal<AnsweredPeers> OF_THIS_LOOP = new FastThreadLocal<>() {
        @Override
        protected AnsweredPeers initialValue() {
            return new AnsweredPeers();
        }
    };

    private final Set<Member> members = new LinkedHashSet<>();

    /** Returns the peers of the current event loop. */
    public static AnsweredPeers ofThisLoop() {
        return OF_THIS_LOOP.get();
    }

    /** A connection or a stream of such a peer. */
    public interface Member {
        /** Reads no more, and removes itself; returns whether a connection has been closed. */
        boolean giveWay();
    }

    /** It has its answer, and is still sending. */
    public void add(Member member) {
        members.add(member);
    }

    /** It sends no more. */
    public void remove(Member member) {
        members.remove(member);
    }

    /**
     * Makes the longest answered give way, until enough connections have been closed.
     *
     * @param connections how many are enough
     * @param most how many members may give way
     * @return how many connections have been closed
     */
    int giveWay(int connections, int most) {
        int closed = 0;
        for (int i = 0; i < most && closed < connections && !members.isEmpty(); i++) {
            Member first = members.iterator().next();
            members.remove(first);
            closed += first.giveWay() ? 1 : 0;
        }
        return closed;
    }
}
