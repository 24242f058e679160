package dev.gateway.stream;

import java.util.Locale;

/**
 * Failure cause. Why an exchange or tunnel failed: the one closed list, the same in access log, metrics, traces and {@code
 * Proxy-Status}. Each has the status answered where an answer is still possible.
 */
public enum Cause {
    NO_ROUTE(404),
    NO_HEALTHY_ENDPOINT(503),
    DNS_FAILED(502),
    CONNECT_FAILED(502),
    CONNECT_TIMEOUT(504),
    TLS_FAILED(502),
    PENDING_OVERFLOW(503),
    PENDING_TIMEOUT(503),
    UPSTREAM_RESET_BEFORE_HEADERS(502),
    UPSTREAM_RESET_IN_BODY(502),
    UPSTREAM_PROTOCOL_ERROR(502),
    UPSTREAM_TIMEOUT(504),
    RETRY_LIMIT(502),
    RETRY_BUDGET(502),
    CLIENT_CLOSED(499),
    CLIENT_TIMEOUT(408),
    CLIENT_PROTOCOL_ERROR(400),
    BODY_TOO_LARGE(413),
    RATE_LIMITED(429),
    AUTHZ_DENIED(403),
    /** The server that decides about requests did not. */
    AUTHZ_ERROR(503),
    /** A filter of a plugin threw an exception, or broke its contract. */
    FILTER_ERROR(500),
    PROXY_AUTH(407),
    POLICY_PORT(403),
    POLICY_HOST(403),
    POLICY_ADDRESS(403),
    POLICY_SNI(403),
    LOOP_DETECTED(508),
    OVERLOAD(503),
    DRAIN(503),
    IDLE_TIMEOUT(504),
    MAX_DURATION(504),
    ADMIN_CLOSED(503),
    /** A defect of the gateway, logged with its stack trace; tests assert that it is never seen. */
    UNKNOWN(500);

    private final String label = name().toLowerCase(Locale.ROOT);
    private final int status;

    Cause(int status) {
        this.status = status;
    }

    /** Returns the word for logs, labels and headers, such as {@code no_route}. */
    public String label() {
        return label;
    }

    /** Returns the status to answer, unless the failure names a more exact one. */
    public int status() {
        return status;
    }
}
