package dev.gateway.http2;

import org.jspecify.annotations.Nullable;

/** A queue of shares that each can leave at once, wherever it stands; it allocates nothing. */
final class Ring {
    private final Link ends = new Link(null);

    boolean isEmpty() {
        return ends.next == ends;
    }

    /** Returns who has been in it longest, or null. */
    @Nullable
    StreamEntry first() {
        return ends.next.share;
    }

    /** Adds at the end. */
    void add(Link link) {
        Link last = ends.previous;
        last.next = link;
        link.previous = last;
        link.next = ends;
        ends.previous = link;
    }

    /** A share's place in one ring at a time. */
    static final class Link {
        private final @Nullable StreamEntry share;
        private Link previous = this;
        private Link next = this;

        Link(@Nullable StreamEntry share) {
            this.share = share;
        }

        /** Whether nobody stands behind it in its ring. */
        boolean isLast() {
            return next.share == null;
        }

        /** Leaves the ring, if it is in one. */
        void leave() {
            previous.next = next;
            next.previous = previous;
            previous = this;
            next = this;
        }
    }
}
