package dev.gateway.filter;

import java.util.Locale;

/** What becomes of the copy of a request: the closed list for metrics. */
public enum MirrorResult {
    /** Answered with 2xx. */
    SUCCESS("2xx"),
    /** Answered with 3xx. */
    REDIRECT("3xx"),
    /** Answered with 4xx. */
    CLIENT_ERROR("4xx"),
    /** Answered with 5xx, or with a number that is no final status. */
    SERVER_ERROR("5xx"),
    /** No endpoint of its upstream may be used. */
    NO_ENDPOINT,
    /** Its upstream has reached its limits. */
    LIMIT,
    /** No connection could be made. */
    UNREACHABLE,
    /** The connection broke, or what came was not HTTP. */
    BROKEN,
    /** No answer began in time. */
    TIMEOUT,
    /** Its upstream took the body too slowly. */
    SLOW,
    /** The gateway was short of memory, or of another resource. */
    OVERLOAD,
    /** The client has gone, or the request itself ended before all of it was sent. */
    ABORTED;

    private final String label;

    MirrorResult() {
        this.label = name().toLowerCase(Locale.ROOT);
    }

    MirrorResult(String label) {
        this.label = label;
    }

    /** Returns its name in metrics. */
    public String label() {
        return label;
    }

    /** Returns the result of an answer with this status. */
    public static MirrorResult of(int status) {
        return switch (status / 100) {
            case 2 -> SUCCESS;
            case 3 -> REDIRECT;
            case 4 -> CLIENT_ERROR;
            default -> SERVER_ERROR;
        };
    }
}
