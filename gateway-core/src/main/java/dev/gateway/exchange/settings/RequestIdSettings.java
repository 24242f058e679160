package dev.gateway.exchange.settings;

import dev.gateway.config.listener.ListenerConfig.RequestId.Format;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;

/**
 * How requests are told apart. Immutable, shared by all event loops.
 *
 * @param header the field that has the ID
 */
public record RequestIdSettings(FieldName header, Format format) {
    /** The usual field, and the shortest form. */
    public static final RequestIdSettings DEFAULT = new RequestIdSettings(FieldName.X_REQUEST_ID, Format.HEX);

    /**
     * Removes what somebody may take for the ID of a request: the usual field, whatever the listener has instead.
     *
     * @return whether there was any
     */
    public boolean removeFrom(Fields fields) {
        boolean usual = fields.remove(FieldName.X_REQUEST_ID);
        return fields.remove(header) || usual;
    }
}
