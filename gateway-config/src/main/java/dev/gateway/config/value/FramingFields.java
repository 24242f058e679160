package dev.gateway.config.value;

import java.util.Set;

/** Header fields that the gateway itself decides about, because framing and routing depend on them. */
public final class FramingFields {
    /** Their names in lower case. */
    public static final Set<String> NAMES = Set.of(
            "connection",
            "content-length",
            "host",
            "keep-alive",
            "proxy-connection",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade");

    private FramingFields() {}
}
