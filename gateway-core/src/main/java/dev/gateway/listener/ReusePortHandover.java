package dev.gateway.listener;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Hands a port over by SO_REUSEPORT: how the sockets of a process leave it to newer sockets of other processes. Computes
 * which sockets must get new connections before each socket is closed. The kernel numbers the sockets at a port. When one
 * closes, the last one gets its number.
 */
final class ReusePortHandover {
    private ReusePortHandover() {}

    /**
     * Which sockets get new connections from now on.
     *
     * @param first the number of the first socket
     * @param count the number of sockets; 0 changes nothing
     * @param late whether connections may have arrived at our other sockets before this step
     */
    record Step(int first, int count, boolean late) {
        static final Step NONE = new Step(0, 0, false);
    }

    /**
     * Returns our sockets in the order of their numbers, in which they must be closed.
     *
     * @param sockets our sockets in the order in which they began to listen
     * @param earlier how many sockets of others were there before, and have been closed in the order of their numbers
     */
    static <T> List<T> numbered(List<T> sockets, int earlier) {
        List<@Nullable T> all = new ArrayList<>();
        for (int i = 0; i < earlier; i++) {
            all.add(null);
        }
        all.addAll(sockets);
        for (int i = 0; i < earlier; i++) {
            close(all, i);
        }
        List<T> ours = new ArrayList<>();
        for (T each : all) {
            if (each != null) {
                ours.add(each);
            }
        }
        return ours;
    }

    private static <T> void close(List<T> all, int number) {
        T last = all.remove(all.size() - 1);
        if (number < all.size()) {
            all.set(number, last);
        }
    }

    /**
     * Returns which sockets must get new connections before one of our sockets is closed.
     *
     * @param closed how many of our sockets have been closed, in the order of their numbers
     * @param ours how many sockets we had
     * @param others how many sockets others have; all are newer than ours
     */
    static Step step(int closed, int ours, int others) {
        if (others >= ours) {
            // Other sockets get the connections as long as one of ours is open, in any order. After that, the kernel
            // distributes them.
            return closed == 0 ? new Step(others, others == 0 ? 0 : 1, false) : Step.NONE;
        }
        if (closed == 0) {
            return new Step(ours, Math.min(others, Math.max(1, others - 1)), false); // not the last one, which moves
        }
        // Those that have moved to the front by now. While the only one moves, the kernel uses all sockets.
        return new Step(0, Math.min(closed, others), closed == 1 && others == 1);
    }
}
