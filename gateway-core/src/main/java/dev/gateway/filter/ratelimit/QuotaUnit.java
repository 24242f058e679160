package dev.gateway.filter.ratelimit;

import org.jspecify.annotations.Nullable;

/** Quota unit: what a limit counts. */
public enum QuotaUnit {
    REQUESTS(null),
    CONCURRENT_REQUESTS("concurrent-requests"),
    CONTENT_BYTES("content-bytes");

    private final @Nullable String registered;

    QuotaUnit(@Nullable String registered) {
        this.registered = registered;
    }

    /** Returns its name in {@code RateLimit-Policy}, null for the one that needs none. */
    @Nullable
    String registered() {
        return registered;
    }
}
