package dev.gateway.message.forwarded;

import dev.gateway.config.listener.ListenerConfig.ForwardedHeaders;
import dev.gateway.message.AsciiBuilder;
import dev.gateway.message.ClientTarget;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.HopByHop;
import dev.gateway.message.ProxyFields;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Forwarding headers. Tells the upstream where a request came from: {@code X-Forwarded-For}, {@code -Proto}, {@code -Host},
 * {@code -Port} and, if wanted, {@code Forwarded} (RFC 7239). What trusted proxies said is kept and added to, see {@link
 * ForwardedClaims}; what anybody else said has been taken out by {@link ProxyFields}. Immutable, shared by all event loops.
 *
 * <p>Applied once to each request after {@link HopByHop} and before filters, which may then change it; attempts do not
 * repeat it.
 */
public final class ForwardedFields {
    private static final AsciiString COMMA = new AsciiString(", ");
    private static final AsciiString FOR = new AsciiString("for=");
    private static final AsciiString HOST = new AsciiString(";host=\"");
    private static final AsciiString PROTO = new AsciiString(";proto=");

    private final ForwardedHeaders mode;

    /** Makes the rule. */
    public ForwardedFields(ForwardedHeaders mode) {
        this.mode = mode;
    }

    /**
     * Adds the fields. What trusted proxies have said stays, in whichever form is written; the form that is not written goes.
     *
     * @param peerIp the peer's address without port or brackets, or a word such as {@code unix}
     * @param scheme {@code http} or {@code https}, as the connection is secured
     * @param target what the client used
     * @param claims what trusted proxies have said, null if the peer is not a trusted proxy
     */
    public void apply(
            RequestHead head,
            AsciiString peerIp,
            AsciiString scheme,
            ClientTarget target,
            @Nullable ForwardedClaims claims) {
        if (mode == ForwardedHeaders.OFF) {
            return;
        }
        Fields fields = head.fields();
        AsciiString listed = mode == ForwardedHeaders.FORWARDED ? null : list(fields, peerIp, claims);
        AsciiString standard =
                mode == ForwardedHeaders.X_FORWARDED ? null : standard(head, peerIp, scheme, target, claims);
        if (standard != null) {
            fields.set(FieldName.FORWARDED, standard);
        } else if (claims != null) {
            fields.remove(FieldName.FORWARDED);
        }
        if (listed != null) {
            fields.set(FieldName.X_FORWARDED_FOR, listed);
            fields.set(FieldName.X_FORWARDED_PROTO, target.scheme());
            if (target.authority().isEmpty()) {
                fields.remove(FieldName.X_FORWARDED_HOST);
            } else {
                fields.set(FieldName.X_FORWARDED_HOST, target.authority());
            }
            fields.set(FieldName.X_FORWARDED_PORT, target.port());
        } else if (claims != null) {
            ProxyFields.removeForwardedLists(fields);
        }
    }

    /**
     * Removes the form that is not read, which the client itself may have written: a proxy that writes one form hands on the
     * other. Returns whether there was any.
     */
    public static boolean removeUnread(Fields fields, ForwardedClaims claims) {
        return claims.isStandard() ? ProxyFields.removeForwardedX(fields) : fields.remove(FieldName.FORWARDED);
    }

    /**
     * Returns the hops that a request from a trusted proxy has come by. Only one of the fields counts, because a proxy that
     * writes one hands on what a stranger wrote in the other: {@code X-Forwarded-For}, or if this writes {@code Forwarded}
     * only, that one. The other counts where only that is present.
     */
    public ForwardedHops hops(Fields fields) {
        FieldName first = mode == ForwardedHeaders.FORWARDED ? FieldName.FORWARDED : FieldName.X_FORWARDED_FOR;
        FieldName second = mode == ForwardedHeaders.FORWARDED ? FieldName.X_FORWARDED_FOR : FieldName.FORWARDED;
        return ForwardedHops.of(fields, fields.contains(first) || !fields.contains(second) ? first : second);
    }

    /** Returns the hops as {@code X-Forwarded-For}: one line, because many recipients read only the first or the last one. */
    private static AsciiString list(Fields fields, AsciiString peerIp, @Nullable ForwardedClaims claims) {
        if (claims == null || claims.place() == 0) {
            return peerIp;
        }
        AsciiBuilder line = new AsciiBuilder(64);
        if (claims.isStandard()) {
            for (String hop : ForwardedHops.all(fields, FieldName.FORWARDED)) {
                line.add(new AsciiString(ForwardedNode.listed(hop))).add(COMMA);
            }
        } else {
            addList(line, fields, FieldName.X_FORWARDED_FOR);
        }
        return line.add(peerIp).build();
    }

    /** Returns the hops as {@code Forwarded}. */
    private static AsciiString standard(
            RequestHead head,
            AsciiString peerIp,
            AsciiString scheme,
            ClientTarget target,
            @Nullable ForwardedClaims claims) {
        AsciiBuilder line = new AsciiBuilder(96);
        int place = claims == null ? 0 : claims.place();
        if (claims != null && claims.isStandard()) {
            addList(line, head.fields(), FieldName.FORWARDED);
        } else if (place > 0) {
            List<String> hops = ForwardedHops.all(head.fields(), FieldName.X_FORWARDED_FOR);
            for (int i = 0; i < hops.size(); i++) {
                addElement(line, hops.get(i));
                if (hops.size() - i == place) {
                    addTarget(line, target.authority(), target.scheme());
                }
                line.add(COMMA);
            }
        }
        addElement(line, peerIp.toString());
        boolean peerIsClient = place == 0;
        addTarget(line, peerIsClient ? target.authority() : head.authority(), peerIsClient ? target.scheme() : scheme);
        return line.build();
    }

    private static void addElement(AsciiBuilder line, String hop) {
        line.add(FOR).add(new AsciiString(ForwardedNode.standard(hop)));
    }

    private static void addTarget(AsciiBuilder line, AsciiString authority, AsciiString scheme) {
        if (!authority.isEmpty()) {
            line.add(HOST).add(authority).add('"'); // a valid authority holds nothing to escape
        }
        line.add(PROTO).add(scheme);
    }

    private static void addList(AsciiBuilder line, Fields fields, FieldName name) {
        for (int i = fields.find(name, 0); i >= 0; i = fields.find(name, i + 1)) {
            AsciiString value = fields.value(i);
            if (!value.isEmpty()) {
                line.add(value).add(COMMA);
            }
        }
    }
}
