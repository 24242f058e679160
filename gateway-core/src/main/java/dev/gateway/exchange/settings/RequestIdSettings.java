package dev.gateway.exchange.settings;

import dev.gateway.config.listener.ListenerConfig.RequestId.Format;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.OddNames;

/**
 * How requests are told apart. Immutable, shared by all event loops.
 *
 * @param header the field that has the ID
 */
public record RequestIdSettings(FieldName header, Format format) {
    /** The usual field, and the shortest form. */
    public static final RequestIdSettings DEFAULT = new RequestIdSettings(FieldName.X_REQUEST_ID, Format.HEX);

    /**
     * Removes what somebody may take for the ID of a request: also the usual field, whatever the listener has instead, and
     * names that differ from that of the listener only in signs. {@code ProxyFields} finds those that resemble the usual one.
     *
     * @return whether there was any
     */
    public boolean removeFrom(Fields fields) {
        boolean usual = fields.remove(FieldName.X_REQUEST_ID);
        return (!header.equals(FieldName.X_REQUEST_ID) && OddNames.removeAlike(fields, header)) || usual;
    }
}
