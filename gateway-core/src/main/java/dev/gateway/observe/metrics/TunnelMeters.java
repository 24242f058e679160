package dev.gateway.observe.metrics;

import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.counts.Counts;
import dev.gateway.observe.counts.Histogram;
import dev.gateway.observe.counts.KeyedCounts;
import dev.gateway.stream.Cause;
import org.jspecify.annotations.Nullable;

/** What is counted of the tunnels of one event loop that came by one listener, WebSockets being counted by their routes. */
@SuppressWarnings("EnumOrdinal") // positions in arrays that never leave the process
final class TunnelMeters {
    private static final int OPENED = 0;
    private static final int CLOSED = 1;
    private static final int RECEIVED_BYTES = 2;
    private static final int SENT_BYTES = 3;
    private static final int WEBSOCKET_RECEIVED_BYTES = 4;
    private static final int WEBSOCKET_SENT_BYTES = 5;
    private static final int NEVER_OPENED = 6;
    private static final int DENIED = 1 << 8; // in a key of KeyedCounts, beside the cause

    private static final Cause[] CAUSES = Cause.values();

    private final Counts counts = new Counts(7);
    private final KeyedCounts ended = new KeyedCounts();
    final Histogram durations = new Histogram(Histogram.Buckets.CONNECTION);

    /** Takes how often tunnels ended alike. */
    interface Reader {
        void read(boolean denied, @Nullable Cause cause, long count);
    }

    void opened(ExchangeRecord exchange) {
        if (exchange.kind != Kind.WEBSOCKET) {
            counts.add(OPENED, 1);
        }
    }

    void bytes(ExchangeRecord exchange, long received, long sent) {
        boolean websocket = exchange.kind == Kind.WEBSOCKET;
        counts.add(websocket ? WEBSOCKET_RECEIVED_BYTES : RECEIVED_BYTES, received);
        counts.add(websocket ? WEBSOCKET_SENT_BYTES : SENT_BYTES, sent);
    }

    /** A tunnel has ended, or one that was asked for was never opened. */
    void ended(ExchangeRecord exchange) {
        if (exchange.kind == Kind.WEBSOCKET) {
            return;
        }
        int cause = exchange.cause == null ? 0 : exchange.cause.ordinal() + 1;
        ended.increment(1 << 9 | (isDenied(exchange.cause) ? DENIED : 0) | cause);
        if (exchange.openedNanos != 0) {
            durations.record(exchange.endNanos - exchange.openedNanos);
            counts.add(CLOSED, 1);
        } else {
            counts.add(NEVER_OPENED, 1);
        }
    }

    /** Whether it is a policy that ended the tunnel, and not what happened to it. */
    private static boolean isDenied(@Nullable Cause cause) {
        return cause != null
                && switch (cause) {
                    case NO_ROUTE,
                            AUTHZ_DENIED,
                            PROXY_AUTH,
                            POLICY_PORT,
                            POLICY_HOST,
                            POLICY_ADDRESS,
                            POLICY_SNI,
                            LOOP_DETECTED,
                            RATE_LIMITED,
                            OVERLOAD -> true;
                    default -> false;
                };
    }

    void forEachEnded(Reader reader) {
        ended.forEach((key, count) -> {
            int cause = key & 0xff;
            reader.read((key & DENIED) != 0, cause == 0 ? null : CAUSES[cause - 1], count);
        });
    }

    /** Returns how many there ever were; made of what only grows, so that no reader sees it shrink. */
    long total() {
        return counts.get(OPENED) + counts.get(NEVER_OPENED);
    }

    long opened() {
        return counts.get(OPENED);
    }

    long active() {
        long closed = counts.get(CLOSED);
        return counts.get(OPENED) - closed;
    }

    long receivedBytes() {
        return counts.get(RECEIVED_BYTES);
    }

    long sentBytes() {
        return counts.get(SENT_BYTES);
    }

    long webSocketReceivedBytes() {
        return counts.get(WEBSOCKET_RECEIVED_BYTES);
    }

    long webSocketSentBytes() {
        return counts.get(WEBSOCKET_SENT_BYTES);
    }
}
