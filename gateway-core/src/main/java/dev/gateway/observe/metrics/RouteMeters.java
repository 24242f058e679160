package dev.gateway.observe.metrics;

import dev.gateway.message.Method;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.counts.Counts;
import dev.gateway.observe.counts.FineHistogram;
import dev.gateway.observe.counts.Histogram;
import dev.gateway.observe.counts.KeyedCounts;
import dev.gateway.stream.Cause;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What is counted of the requests of one event loop that came by one listener and took one route. */
@SuppressWarnings("EnumOrdinal") // positions in arrays that never leave the process
final class RouteMeters {
    static final List<Method> METHODS = List.of(
            Method.GET,
            Method.POST,
            Method.HEAD,
            Method.PUT,
            Method.DELETE,
            Method.OPTIONS,
            Method.PATCH,
            Method.CONNECT,
            Method.TRACE);

    private static final Cause[] CAUSES = Cause.values();
    static final int CODE_CLASSES = 6; // 0 is "none"

    private static final int OPENED = 0;
    private static final int CLOSED = 1;

    final KeyedCounts requests = new KeyedCounts();
    private final Counts webSockets = new Counts(2);
    private final KeyedCounts webSocketsEnded = new KeyedCounts();
    final FineHistogram recent = new FineHistogram();
    final @Nullable Histogram[] durations = new @Nullable Histogram[CODE_CLASSES];

    void opened(ExchangeRecord exchange) {
        if (exchange.kind == Kind.WEBSOCKET) {
            webSockets.add(OPENED, 1);
        }
    }

    void completed(ExchangeRecord exchange, long nanos) {
        requests.increment(key(exchange.method, exchange.status, exchange.cause));
        histogram(codeClass(exchange.status)).record(nanos, exchange.sampledTrace);
        recent.record(nanos);
        if (exchange.kind == Kind.WEBSOCKET && exchange.openedNanos != 0) {
            webSocketsEnded.increment(1 << 8 | (exchange.cause == null ? 0 : exchange.cause.ordinal() + 1));
            webSockets.add(CLOSED, 1);
        }
    }

    long webSocketsActive() {
        long closed = webSockets.get(CLOSED);
        return webSockets.get(OPENED) - closed;
    }

    long webSockets() {
        return webSockets.get(OPENED);
    }

    /** Takes how many WebSockets ended for a cause, null if none was needed. */
    interface WebSocketReader {
        void read(@Nullable Cause cause, long count);
    }

    void forEachWebSocketEnded(WebSocketReader reader) {
        webSocketsEnded.forEach((key, count) -> reader.read(cause(key), count));
    }

    private Histogram histogram(int codeClass) {
        Histogram histogram = durations[codeClass];
        if (histogram == null) {
            histogram = new Histogram(Histogram.Buckets.REQUEST);
            durations[codeClass] = histogram;
        }
        return histogram;
    }

    /** Adds how many requests took how long, whatever their status. */
    void addDurationsTo(long[] buckets) {
        for (Histogram histogram : durations) {
            if (histogram != null) {
                histogram.addTo(buckets);
            }
        }
    }

    double durationSeconds() {
        double seconds = 0;
        for (Histogram histogram : durations) {
            seconds += histogram == null ? 0 : histogram.sumSeconds();
        }
        return seconds;
    }

    static int codeClass(int status) {
        return status < 100 || status > 599 ? 0 : status / 100;
    }

    static String codeClassLabel(int codeClass) {
        return codeClass == 0 ? "none" : codeClass + "xx";
    }

    // A key of KeyedCounts: 1, then the method in 4 bits, the status in 10, the cause in 8.
    private static int key(@Nullable Method method, int status, @Nullable Cause cause) {
        return 1 << 22 | methodIndex(method) << 18 | (status & 0x3ff) << 8 | (cause == null ? 0 : cause.ordinal() + 1);
    }

    private static int methodIndex(@Nullable Method method) {
        for (int i = 0; i < METHODS.size(); i++) {
            if (METHODS.get(i).equals(method)) {
                return i;
            }
        }
        return METHODS.size();
    }

    /** Methods of clients' own making are one label: clients must not make metrics. */
    static String method(int key) {
        int index = key >>> 18 & 0xf;
        return index == METHODS.size() ? "OTHER" : METHODS.get(index).toString();
    }

    static int status(int key) {
        return key >>> 8 & 0x3ff;
    }

    /** Returns the ordinal of the cause, negative if there is none. */
    static int causeIndex(int key) {
        return (key & 0xff) - 1;
    }

    static @Nullable Cause cause(int key) {
        int cause = key & 0xff;
        return cause == 0 ? null : CAUSES[cause - 1];
    }
}
