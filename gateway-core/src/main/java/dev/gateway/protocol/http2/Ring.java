package dev.gateway.protocol.http2;

import org.jspecify.annotations.Nullable;

/** A linked queue whose members each can leave at once, wherever they stand; it allocates nothing. */
final class Ring<T> {
    private final Link<T> ends = new Link<>(null);

    boolean isEmpty() {
        return ends.next == ends;
    }

    /** Returns who has been in it longest, or null. */
    @Nullable
    T first() {
        return ends.next.member;
    }

    /** Adds at the end. */
    void add(Link<T> link) {
        Link<T> last = ends.previous;
        last.next = link;
        link.previous = last;
        link.next = ends;
        ends.previous = link;
    }

    /** A member's place in one ring at a time. */
    static final class Link<T> {
        private final @Nullable T member; // null for the link that joins both ends
        private Link<T> previous = this;
        private Link<T> next = this;

        Link(@Nullable T member) {
            this.member = member;
        }

        /** Whether nobody stands behind it in its ring. */
        boolean isLast() {
            return next.member == null;
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
