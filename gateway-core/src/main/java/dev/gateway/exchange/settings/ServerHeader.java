package dev.gateway.exchange.settings;

import dev.gateway.config.listener.ListenerConfig.ServerHeader.Transformation;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import io.netty.util.AsciiString;

/**
 * What becomes of {@code Server} in responses; filters come before it. Immutable, shared by all event loops.
 *
 * @param name what the gateway itself writes
 */
public record ServerHeader(Transformation transformation, AsciiString name) {
    /** The gateway's own responses have it, others are as they are. */
    public static final ServerHeader DEFAULT =
            new ServerHeader(Transformation.PASS_THROUGH, new AsciiString("gateway"));

    /** Changes a response of an upstream. */
    public void applyTo(Fields fields) {
        if (transformation != Transformation.PASS_THROUGH) {
            sign(fields);
        }
    }

    /** Changes a response of the gateway's own. */
    public void sign(Fields fields) {
        switch (transformation) {
            case PASS_THROUGH, APPEND_IF_ABSENT -> {
                if (!fields.contains(FieldName.SERVER)) {
                    fields.add(FieldName.SERVER, name);
                }
            }
            case OVERWRITE -> fields.set(FieldName.SERVER, name);
            case REMOVE -> fields.remove(FieldName.SERVER);
        }
    }
}
