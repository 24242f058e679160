package dev.gateway.protocol.http2;

import java.util.Comparator;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * An urgency level (RFC 9218, section 10): its streams that have bytes to send. Those of use only when complete go one after
 * another, in the order of their requests; the others take turns. Where there are both, the two kinds alternate.
 */
final class UrgencyLevel {
    private final Ring<StreamEntry> turns = new Ring<>();
    private @Nullable TreeSet<StreamEntry> sequence; // null until there is one
    private boolean turnsNext;

    void add(StreamEntry share) {
        if (share.takesTurns) {
            turns.add(share.turn);
        } else {
            if (sequence == null) {
                sequence = new TreeSet<>(Comparator.comparingInt(StreamEntry::id));
            }
            sequence.add(share);
        }
    }

    void remove(StreamEntry share) {
        if (share.takesTurns) {
            share.turn.leave();
        } else if (sequence != null) {
            sequence.remove(share);
        }
    }

    /** Returns whose turn it is, or null; it stays here. */
    @Nullable
    StreamEntry next() {
        StreamEntry first = turns.first();
        if (sequence == null || sequence.isEmpty()) {
            return first;
        }
        turnsNext = !turnsNext;
        return first != null && turnsNext ? first : sequence.first();
    }

    boolean isEmpty() {
        return turns.isEmpty() && (sequence == null || sequence.isEmpty());
    }
}
