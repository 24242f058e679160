package dev.gateway.message;

import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Upgrade wish: the protocols to which a client would have its connection switch once its request is complete (RFC 9110,
 * section 7.8). The server chooses one by its 101, or answers as if there were no wish. Immutable.
 *
 * @param protocols as the client wrote them, in its order of preference; at least one
 * @param http2Settings the payload of HTTP2-Settings, null for none; only for {@code h2c}
 */
public record UpgradeWish(List<AsciiString> protocols, @Nullable AsciiString http2Settings) {
    private static final AsciiString H2C = new AsciiString("h2c");

    /** Makes a wish. */
    public UpgradeWish {
        protocols = List.copyOf(protocols);
    }

    /** Returns the part of the wish that is allowed, null if nothing is. {@code allowed} has names in lower case. */
    public @Nullable UpgradeWish only(Set<AsciiString> allowed) {
        List<AsciiString> left = new ArrayList<>(protocols.size());
        for (AsciiString protocol : protocols) {
            if (allowed.contains(protocol.toLowerCase())) {
                left.add(protocol);
            }
        }
        return left.isEmpty() ? null : new UpgradeWish(left, find(left, H2C) == null ? null : http2Settings);
    }

    /** Returns this protocol as the client wrote it, null if it is not wished for. */
    public @Nullable AsciiString find(CharSequence protocol) {
        return find(protocols, protocol);
    }

    private static @Nullable AsciiString find(List<AsciiString> protocols, CharSequence wanted) {
        for (AsciiString protocol : protocols) {
            if (protocol.contentEqualsIgnoreCase(wanted)) {
                return protocol;
            }
        }
        return null;
    }

    /** Returns the value of the field Upgrade. */
    public AsciiString text() {
        return protocols.size() == 1 ? protocols.get(0) : new AsciiString(String.join(", ", protocols));
    }
}
