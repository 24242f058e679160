package dev.gateway.observe.metrics;

import dev.gateway.observe.metrics.ConnectionMeters.Count;
import dev.gateway.stream.HttpVersion;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The sums of all event loops, and samples of them. Any thread may ask. */
@SuppressWarnings("EnumOrdinal") // positions in arrays that never leave the process
final class Statistics {
    private static final int WINDOW_SECONDS = 10;

    private final List<LoopMetrics> loops;
    private final long startNanos = System.nanoTime();
    private final RecentRequests recent;
    private final long[] sampledRequests = new long[WINDOW_SECONDS + 1]; // a ring, guarded by this
    private final long[] sampledNanos = new long[WINDOW_SECONDS + 1];
    private int samples;

    Statistics(List<LoopMetrics> loops) {
        this.loops = loops;
        this.recent = new RecentRequests(loops);
    }

    void sample() {
        recent.sample();
        sampleRequests();
    }

    private synchronized void sampleRequests() {
        int slot = samples % sampledRequests.length;
        sampledRequests[slot] = requests();
        sampledNanos[slot] = System.nanoTime();
        samples++;
    }

    List<LoopMetrics> loops() {
        return loops;
    }

    /** Returns what there was in the last seconds. */
    RecentRequests.Window recent() {
        return recent.window();
    }

    double uptimeSeconds() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos) / 1000.0;
    }

    private long requests() {
        long sum = 0;
        for (LoopMetrics loop : loops) {
            for (ListenerMeters listener : loop.listeners().values()) {
                sum += listener.requests();
            }
        }
        return sum;
    }

    /** Over the last seconds that were sampled, else since the start. */
    private synchronized double requestsPerSecond(long requests) {
        long now = System.nanoTime();
        long since = startNanos;
        long before = 0;
        if (samples > 0) {
            int oldest = samples <= sampledRequests.length ? 0 : samples % sampledRequests.length;
            since = sampledNanos[oldest];
            before = sampledRequests[oldest];
        }
        return now - since <= 0 ? 0 : (requests - before) * 1e9 / (now - since);
    }

    Map<String, Number> values() {
        long requests = 0;
        long requestsActive = 0;
        long handlerErrors = 0;
        long replyErrors = 0;
        long opened = 0;
        long active = 0;
        long h2Cleartext = 0;
        long h2Tls = 0;
        long tunnels = 0;
        long tunnelsActive = 0;
        long webSockets = 0;
        long webSocketsActive = 0;
        long[] counts = new long[Count.values().length];
        for (LoopMetrics loop : loops) {
            for (ListenerMeters listener : loop.listeners().values()) {
                requests += listener.requests();
                requestsActive += listener.requestsActive();
                handlerErrors += listener.handlerErrors();
                replyErrors += listener.replyErrors();
                tunnels += listener.tunnels.total();
                tunnelsActive += listener.tunnels.active();
                for (RouteMeters route : listener.routes().values()) {
                    webSockets += route.webSockets();
                    webSocketsActive += route.webSocketsActive();
                }
                for (HttpVersion version : HttpVersion.values()) {
                    opened += listener.opened(version, false) + listener.opened(version, true);
                    active += listener.active(version, false) + listener.active(version, true);
                }
                h2Cleartext += listener.opened(HttpVersion.HTTP_2, false);
                h2Tls += listener.opened(HttpVersion.HTTP_2, true);
                for (Count count : Count.values()) {
                    counts[count.ordinal()] += listener.get(count);
                }
            }
        }
        Map<String, Number> values = new LinkedHashMap<>();
        values.put("uptimeSeconds", (long) uptimeSeconds());
        values.put("connectionsActive", active);
        values.put("connectionsTotal", opened);
        values.put("requestsActive", requestsActive);
        values.put("requestsTotal", requests);
        values.put("requestsPerSecond", Math.round(requestsPerSecond(requests) * 10) / 10.0);
        values.put("tunnelsActive", tunnelsActive);
        values.put("tunnelsTotal", tunnels);
        values.put("websocketsActive", webSocketsActive);
        values.put("websocketsTotal", webSockets);
        values.put("handlerErrors", handlerErrors);
        values.put("socketErrors", counts[Count.SOCKET_ERROR.ordinal()]);
        values.put("handshakeErrors", counts[Count.HANDSHAKE_FAILED.ordinal()]);
        values.put("connectionsRefusedOverLimit", counts[Count.REFUSED.ordinal()]);
        values.put("idleCloses", counts[Count.IDLE_CLOSED.ordinal()]);
        values.put("replyErrors", replyErrors);
        values.put("bytesReceived", counts[Count.RECEIVED_BYTES.ordinal()]);
        values.put("bytesSent", counts[Count.SENT_BYTES.ordinal()]);
        values.put("h2ConnectionsTls", h2Tls);
        values.put("h2ConnectionsCleartext", h2Cleartext);
        long streams = counts[Count.H2_STREAMS_OPENED.ordinal()];
        values.put("h2StreamsTotal", streams);
        values.put("h2StreamsActive", streams - counts[Count.H2_STREAMS_CLOSED.ordinal()]);
        long framesReceived = counts[Count.H2_FRAMES_RECEIVED.ordinal()];
        long framesSent = counts[Count.H2_FRAMES_SENT.ordinal()];
        long frameBytesReceived = counts[Count.H2_FRAME_BYTES_RECEIVED.ordinal()];
        long frameBytesSent = counts[Count.H2_FRAME_BYTES_SENT.ordinal()];
        values.put("h2FramesReceived", framesReceived);
        values.put("h2FramesSent", framesSent);
        values.put("h2BytesReceived", frameBytesReceived);
        values.put("h2BytesSent", frameBytesSent);
        long frames = framesReceived + framesSent;
        values.put("h2MeanFrameBytes", frames == 0 ? 0 : (frameBytesReceived + frameBytesSent) / frames);
        values.put("h2Flushes", counts[Count.H2_FLUSHES.ordinal()]);
        values.put("h2FlowControlPauses", counts[Count.H2_FLOW_CONTROL_PAUSES.ordinal()]);
        values.put("h2PingsReceived", counts[Count.H2_PINGS_RECEIVED.ordinal()]);
        values.put("h2PingsSent", counts[Count.H2_PINGS_SENT.ordinal()]);
        return values;
    }
}
