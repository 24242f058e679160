package dev.gateway.protocol.http2;

/** The ways a peer breaks the rules or abuses them, as {@code ConnectionObserver.onViolation} names them. */
enum Http2Violation {
    MALFORMED_MESSAGE("h2_malformed_message"),
    HEADERS_TOO_LARGE("h2_headers_too_large"),
    PROTOCOL_ERROR("h2_protocol_error"),
    RAPID_RESET("h2_rapid_reset"),
    PROVOKED_RESETS("h2_provoked_resets"),
    STRAY_FRAME_FLOOD("h2_stray_frame_flood"),
    CONTINUATION_FLOOD("h2_continuation_flood"),
    SETTINGS_FLOOD("h2_settings_flood"),
    PING_FLOOD("h2_ping_flood"),
    ACK_FLOOD("h2_ack_flood"),
    GOAWAY_FLOOD("h2_goaway_flood"),
    PRIORITY_FLOOD("h2_priority_flood"),
    EMPTY_DATA_FLOOD("h2_empty_data_flood"),
    TINY_DATA_FLOOD("h2_tiny_data_flood"),
    WINDOW_UPDATE_FLOOD("h2_window_update_flood"),
    UNKNOWN_FRAME_FLOOD("h2_unknown_frame_flood"),
    HEADER_BOMB("h2_header_bomb"),
    UNREAD_REPLIES("h2_unread_replies"),
    SLOW_HEADERS("h2_slow_headers"),
    UNFINISHED_INPUT("h2_unfinished_input"),
    STALLED_READER("h2_stalled_reader");

    private final String kind;

    Http2Violation(String kind) {
        this.kind = kind;
    }

    String kind() {
        return kind;
    }
}
