package dev.gateway.exchange.settings;

import dev.gateway.config.listener.ListenerConfig.RequestId.Format;
import dev.gateway.message.FieldName;

/**
 * How requests are told apart. Immutable, shared by all event loops.
 *
 * @param header the field that has the ID
 */
public record RequestIdSettings(FieldName header, Format format) {
    /** The usual field, and the shortest form. */
    public static final RequestIdSettings DEFAULT = new RequestIdSettings(FieldName.X_REQUEST_ID, Format.HEX);
}
