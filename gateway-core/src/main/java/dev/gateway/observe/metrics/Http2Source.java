package dev.gateway.observe.metrics;

import dev.gateway.observe.metrics.ConnectionMeters.Count;

/** Names what is counted of HTTP/2 on one side of the gateway. */
final class Http2Source {
    private Http2Source() {}

    static void add(Exposition out, String side, ConnectionMeters meters) {
        long closed = meters.get(Count.H2_STREAMS_CLOSED);
        long opened = meters.get(Count.H2_STREAMS_OPENED);
        out.counter("gateway_h2_streams", "HTTP/2 streams opened.", opened, "side", side);
        out.gauge("gateway_h2_streams_active", "HTTP/2 streams open now.", opened - closed, "side", side);
        out.counter(
                "gateway_h2_flow_control_pauses",
                "Times that flow control stopped a stream from writing.",
                meters.get(Count.H2_FLOW_CONTROL_PAUSES),
                "side",
                side);
        out.counter("gateway_h2_flushes", "Flushes of frames.", meters.get(Count.H2_FLUSHES), "side", side);
        frames(
                out,
                "gateway_h2_frames",
                "HTTP/2 frames.",
                side,
                meters,
                Count.H2_FRAMES_RECEIVED,
                Count.H2_FRAMES_SENT);
        frames(
                out,
                "gateway_h2_frame_bytes",
                "Bytes of HTTP/2 frames.",
                side,
                meters,
                Count.H2_FRAME_BYTES_RECEIVED,
                Count.H2_FRAME_BYTES_SENT);
        frames(
                out,
                "gateway_h2_resets",
                "RST_STREAM frames.",
                side,
                meters,
                Count.H2_RESETS_RECEIVED,
                Count.H2_RESETS_SENT);
        frames(
                out,
                "gateway_h2_goaways",
                "GOAWAY frames.",
                side,
                meters,
                Count.H2_GOAWAYS_RECEIVED,
                Count.H2_GOAWAYS_SENT);
        frames(out, "gateway_h2_pings", "PING frames.", side, meters, Count.H2_PINGS_RECEIVED, Count.H2_PINGS_SENT);
        frames(
                out,
                "gateway_h2_window_updates",
                "WINDOW_UPDATE frames.",
                side,
                meters,
                Count.H2_WINDOW_UPDATES_RECEIVED,
                Count.H2_WINDOW_UPDATES_SENT);
    }

    private static void frames(
            Exposition out,
            String name,
            String help,
            String side,
            ConnectionMeters meters,
            Count received,
            Count sent) {
        out.counter(name, help, meters.get(received), "side", side, "direction", "received");
        out.counter(name, help, meters.get(sent), "side", side, "direction", "sent");
    }
}
