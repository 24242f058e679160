package dev.gateway.observe.metrics;

import dev.gateway.observe.counts.Counts;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.HandshakeFailure;
import dev.gateway.stream.HttpVersion;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** What is counted of the connections of one event loop and one side: a listener, or an upstream. */
@SuppressWarnings("EnumOrdinal") // positions in arrays that never leave the process
class ConnectionMeters implements ConnectionObserver {
    /** What is counted; where there are two directions, what the gateway received comes first. */
    enum Count {
        REFUSED,
        DENIED,
        SHED,
        ACCEPT_PAUSED,
        IDLE_CLOSED,
        HANDSHAKE_FAILED,
        SOCKET_ERROR,
        RECEIVED_BYTES,
        SENT_BYTES,
        H2_STREAMS_OPENED,
        H2_STREAMS_CLOSED,
        H2_FRAMES_RECEIVED,
        H2_FRAMES_SENT,
        H2_FRAME_BYTES_RECEIVED,
        H2_FRAME_BYTES_SENT,
        H2_RESETS_RECEIVED,
        H2_RESETS_SENT,
        H2_PINGS_RECEIVED,
        H2_PINGS_SENT,
        H2_GOAWAYS_RECEIVED,
        H2_GOAWAYS_SENT,
        H2_WINDOW_UPDATES_RECEIVED,
        H2_WINDOW_UPDATES_SENT,
        H2_FLOW_CONTROL_PAUSES,
        H2_FLUSHES
    }

    private static final int VERSIONS = HttpVersion.values().length;
    private static final int FRAME_HEADER = 9;
    // Frame types of RFC 9113, section 6.
    private static final int RST_STREAM = 3;
    private static final int PING = 6;
    private static final int GOAWAY = 7;
    private static final int WINDOW_UPDATE = 8;

    private final Counts counts = new Counts(Count.values().length);
    private final Counts opened = new Counts(VERSIONS * 2);
    private final Counts closed = new Counts(VERSIONS * 2);
    private final Counts handshakes = new Counts(HandshakeFailure.values().length); // that failed
    private final Map<String, Counts> violations = new ConcurrentHashMap<>(); // only the loop adds; kinds are few

    private static int kind(HttpVersion version, boolean tls) {
        return version.ordinal() * 2 + (tls ? 1 : 0);
    }

    long get(Count count) {
        return counts.get(count.ordinal());
    }

    long opened(HttpVersion version, boolean tls) {
        return opened.get(kind(version, tls));
    }

    long active(HttpVersion version, boolean tls) {
        // Closed first: it never exceeds what was opened before it was read.
        long gone = closed.get(kind(version, tls));
        return opened.get(kind(version, tls)) - gone;
    }

    /** Returns how many handshakes failed for a reason. */
    long handshakesFailed(HandshakeFailure reason) {
        return handshakes.get(reason.ordinal());
    }

    Map<String, Counts> violations() {
        return violations;
    }

    private void count(Count count, long n) {
        counts.add(count.ordinal(), n);
    }

    @Override
    public void onOpened(HttpVersion version, boolean tls) {
        opened.add(kind(version, tls), 1);
    }

    @Override
    public void onClosed(HttpVersion version, boolean tls) {
        closed.add(kind(version, tls), 1);
    }

    @Override
    public void onConnectionRefused() {
        count(Count.REFUSED, 1);
    }

    @Override
    public void onConnectionDenied() {
        count(Count.DENIED, 1);
    }

    @Override
    public void onConnectionShed() {
        count(Count.SHED, 1);
    }

    @Override
    public void onAcceptPaused() {
        count(Count.ACCEPT_PAUSED, 1);
    }

    @Override
    public void onIdleClosed() {
        count(Count.IDLE_CLOSED, 1);
    }

    @Override
    public void onHandshakeFailed(HandshakeFailure reason) {
        count(Count.HANDSHAKE_FAILED, 1);
        handshakes.add(reason.ordinal(), 1);
    }

    @Override
    public void onSocketError() {
        count(Count.SOCKET_ERROR, 1);
    }

    @Override
    public void onReceived(long bytes) {
        count(Count.RECEIVED_BYTES, bytes);
    }

    @Override
    public void onSent(long bytes) {
        count(Count.SENT_BYTES, bytes);
    }

    @Override
    public void onViolation(String kind) {
        violations.computeIfAbsent(kind, k -> new Counts(1)).add(0, 1);
    }

    @Override
    public void onStreamOpened() {
        count(Count.H2_STREAMS_OPENED, 1);
    }

    @Override
    public void onStreamClosed() {
        count(Count.H2_STREAMS_CLOSED, 1);
    }

    @Override
    public void onFrameReceived(int type, int length) {
        count(Count.H2_FRAMES_RECEIVED, 1);
        count(Count.H2_FRAME_BYTES_RECEIVED, FRAME_HEADER + length);
        switch (type) {
            case RST_STREAM -> count(Count.H2_RESETS_RECEIVED, 1);
            case PING -> count(Count.H2_PINGS_RECEIVED, 1);
            case GOAWAY -> count(Count.H2_GOAWAYS_RECEIVED, 1);
            case WINDOW_UPDATE -> count(Count.H2_WINDOW_UPDATES_RECEIVED, 1);
            default -> {}
        }
    }

    @Override
    public void onFrameSent(int type, int length) {
        count(Count.H2_FRAMES_SENT, 1);
        count(Count.H2_FRAME_BYTES_SENT, FRAME_HEADER + length);
        switch (type) {
            case RST_STREAM -> count(Count.H2_RESETS_SENT, 1);
            case PING -> count(Count.H2_PINGS_SENT, 1);
            case GOAWAY -> count(Count.H2_GOAWAYS_SENT, 1);
            case WINDOW_UPDATE -> count(Count.H2_WINDOW_UPDATES_SENT, 1);
            default -> {}
        }
    }

    @Override
    public void onFlowControlPaused() {
        count(Count.H2_FLOW_CONTROL_PAUSES, 1);
    }

    @Override
    public void onFlushed() {
        count(Count.H2_FLUSHES, 1);
    }
}
