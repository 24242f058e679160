package dev.gateway.stream;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import io.netty.util.AsciiString;
import java.security.SecureRandom;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import java.util.StringJoiner;

/**
 * Signs requests by {@code Via} with a name that no other proxy has, and knows those that come back so signed: they would
 * come back for ever (RFC 9110, section 7.6.3). Immutable, shared by all event loops.
 */
public final class ViaSignature {
    private static final int RANDOM_BYTES = 6;

    private final AsciiString name;
    private final Map<HttpVersion, AsciiString> elements = new EnumMap<>(HttpVersion.class);

    private ViaSignature(String name) {
        this.name = new AsciiString(name);
        for (HttpVersion version : HttpVersion.values()) {
            elements.put(version, new AsciiString(version.number() + " " + name));
        }
    }

    /** Makes a signature, whose name nobody else has. */
    public static ViaSignature random() {
        byte[] bytes = new byte[RANDOM_BYTES];
        new SecureRandom().nextBytes(bytes);
        return new ViaSignature("gateway-" + HexFormat.of().formatHex(bytes));
    }

    /** Whether a request has been signed before; wherever the name stands: nobody else has it. */
    public boolean isIn(Fields fields) {
        for (int i = fields.find(FieldName.VIA, 0); i >= 0; i = fields.find(FieldName.VIA, i + 1)) {
            if (fields.value(i).contains(name)) {
                return true;
            }
        }
        return false;
    }

    /** Signs a request that came by this version. */
    public void sign(Fields fields, HttpVersion version) {
        AsciiString element = Objects.requireNonNull(elements.get(version));
        int first = fields.find(FieldName.VIA, 0);
        if (first < 0) {
            fields.add(FieldName.VIA, element);
            return;
        }
        StringJoiner via = new StringJoiner(", "); // one line, because some proxies hand on no more than that
        for (int i = first; i >= 0; i = fields.find(FieldName.VIA, i + 1)) {
            via.add(fields.value(i));
        }
        fields.set(FieldName.VIA, via.add(element).toString());
    }

    @Override
    public String toString() {
        return name.toString();
    }
}
