package dev.gateway.listener;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Hands a port over by SO_REUSEPORT: how the sockets of a process leave it to those of others that came after, what the
 * kernel is to do with new connections before each is closed. It numbers all of them, and gives the number of one that
 * closes to the last.
 */
final class ReusePortHandover {
    private ReusePortHandover() {}

    /**
     * Which sockets get new connections from here on.
     *
     * @param first the number of the first
     * @param count how many there are; with 0 all stays as it was
     * @param late whether some connections may have come to our other sockets before this step
     */
    record Step(int first, int count, boolean late) {
        static final Step NONE = new Step(0, 0, false);
    }

    /**
     * Returns sockets in the order of their numbers, which is how they are to be closed.
     *
     * @param sockets as they began to listen
     * @param earlier how many of others had begun before, and have been closed in the order of their numbers
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
     * Returns what to do before a socket of ours is closed.
     *
     * @param closed how many of ours have been closed, in the order of their numbers
     * @param ours how many we had
     * @param others how many others have, all of which came after
     */
    static Step step(int closed, int ours, int others) {
        if (others >= ours) {
            // Not ours as long as one of ours is there, whatever the order, and nobody's after: then the kernel
            // spreads.
            return closed == 0 ? new Step(others, others == 0 ? 0 : 1, false) : Step.NONE;
        }
        if (closed == 0) {
            return new Step(ours, Math.min(others, Math.max(1, others - 1)), false); // without the last, which moves
        }
        // Those that have moved to the front by now. While a single one does, the kernel spreads over all.
        return new Step(0, Math.min(closed, others), closed == 1 && others == 1);
    }
}
