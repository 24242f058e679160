package dev.gateway.message;

import io.netty.util.AsciiString;

/**
 * Forwarding headers. Tells the upstream where a request came from: {@code X-Forwarded-For}, {@code -Proto}, {@code -Host},
 * {@code -Port} and, if wanted, {@code Forwarded} (RFC 7239). What a trusted proxy said is kept and added to; what anybody
 * else said has been taken out by {@link ProxyFields}. Immutable, shared by all event loops.
 *
 * <p>Applied once to each request after {@link HopByHop} and before filters, which may then change it; attempts do not
 * repeat it.
 */
public final class ForwardedFields {
    private static final AsciiString COMMA = new AsciiString(", ");
    private static final AsciiString FOR = new AsciiString("for=");
    private static final AsciiString FOR_IPV6 = new AsciiString("for=\"[");
    private static final AsciiString END_IPV6 = new AsciiString("]\"");
    private static final AsciiString HOST = new AsciiString(";host=\"");
    private static final AsciiString PROTO = new AsciiString(";proto=");

    private final Mode mode;

    /** Which fields are written. */
    public enum Mode {
        /** {@code X-Forwarded-For}, {@code -Proto}, {@code -Host} and {@code -Port}. */
        X_FORWARDED,
        /** {@code Forwarded} (RFC 7239). */
        FORWARDED,
        BOTH,
        OFF
    }

    /** Makes the rule. */
    public ForwardedFields(Mode mode) {
        this.mode = mode;
    }

    /**
     * Adds the fields.
     *
     * @param peerIp the peer's address without port or brackets, or a word such as {@code unix}
     * @param scheme {@code http} or {@code https}, as the connection is secured
     * @param localPort the port the client connected to, 0 if there is none
     */
    public void apply(RequestHead head, AsciiString peerIp, AsciiString scheme, int localPort) {
        if (mode == Mode.FORWARDED || mode == Mode.BOTH) {
            appendElement(head, peerIp, scheme);
        }
        if (mode == Mode.X_FORWARDED || mode == Mode.BOTH) {
            appendFields(head, peerIp, scheme, localPort);
        }
    }

    /**
     * Returns the hops that a request from a trusted proxy has come by. Only one of the fields counts, because a proxy that
     * writes one hands on what a stranger wrote in the other: {@code X-Forwarded-For}, or if this writes {@code Forwarded}
     * only, that one. The other counts where the first is absent.
     */
    public ForwardedHops hops(Fields fields) {
        FieldName first = mode == Mode.FORWARDED ? FieldName.FORWARDED : FieldName.X_FORWARDED_FOR;
        FieldName second = mode == Mode.FORWARDED ? FieldName.X_FORWARDED_FOR : FieldName.FORWARDED;
        return ForwardedHops.of(fields, fields.contains(first) ? first : second);
    }

    private static void appendFields(RequestHead head, AsciiString peerIp, AsciiString scheme, int localPort) {
        Fields fields = head.fields();
        AsciiString statedProto = fields.first(FieldName.X_FORWARDED_PROTO);
        appendPeer(fields, peerIp);
        if (statedProto == null) {
            fields.add(FieldName.X_FORWARDED_PROTO, scheme);
        }
        if (!head.authority().isEmpty() && !fields.contains(FieldName.X_FORWARDED_HOST)) {
            fields.add(FieldName.X_FORWARDED_HOST, head.authority());
        }
        if (!fields.contains(FieldName.X_FORWARDED_PORT)) {
            // A proxy that names the scheme but no port: its clients' port is not ours, most likely the scheme's.
            int port = statedProto == null && localPort > 0
                    ? localPort
                    : defaultPort(statedProto == null ? scheme : statedProto);
            fields.add(
                    FieldName.X_FORWARDED_PORT,
                    new AsciiBuilder(5).addDecimal(port).build());
        }
    }

    private static int defaultPort(AsciiString scheme) {
        return scheme.contentEqualsIgnoreCase(Scheme.HTTPS) ? 443 : 80;
    }

    private static void appendPeer(Fields fields, AsciiString peerIp) {
        if (!fields.contains(FieldName.X_FORWARDED_FOR)) {
            fields.add(FieldName.X_FORWARDED_FOR, peerIp);
            return;
        }
        // One line, because many recipients read only the first or the last one.
        AsciiBuilder line = new AsciiBuilder(64);
        addList(line, fields, FieldName.X_FORWARDED_FOR);
        fields.set(FieldName.X_FORWARDED_FOR, line.add(peerIp).build());
    }

    private static void appendElement(RequestHead head, AsciiString peerIp, AsciiString scheme) {
        AsciiBuilder line = new AsciiBuilder(96);
        addList(line, head.fields(), FieldName.FORWARDED);
        if (peerIp.indexOf(':', 0) >= 0) {
            line.add(FOR_IPV6).add(peerIp).add(END_IPV6);
        } else if (!peerIp.isEmpty() && peerIp.charAt(0) >= '0' && peerIp.charAt(0) <= '9') {
            line.add(FOR).add(peerIp);
        } else {
            line.add(FOR).add('_').add(peerIp); // an obfuscated identifier (RFC 7239, section 6.3)
        }
        if (!head.authority().isEmpty()) {
            line.add(HOST).add(head.authority()).add('"'); // a valid authority holds nothing to escape
        }
        head.fields().set(FieldName.FORWARDED, line.add(PROTO).add(scheme).build());
    }

    private static void addList(AsciiBuilder line, Fields fields, FieldName name) {
        for (int i = fields.find(name, 0); i >= 0; i = fields.find(name, i + 1)) {
            if (fields.valueLength(i) > 0) {
                line.add(fields.value(i)).add(COMMA);
            }
        }
    }
}
