package dev.gateway.admin;

import dev.gateway.config.AdminConfig;
import dev.gateway.config.listener.BindConfig;
import dev.gateway.format.IpLiteral;
import dev.gateway.message.Authority;
import dev.gateway.message.FieldName;
import dev.gateway.message.ProxyFields;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Access control of the admin listener: who may see and do what through one admin listener. Immutable.
 *
 * @param tokenFile holds the bearer token, null if there is none
 * @param reach who can connect
 * @param hostnames in lower case: by which names clients may ask, besides addresses and names that nobody can own
 */
public record AdminAccess(@Nullable Path tokenFile, Reach reach, Set<String> hostnames) {
    private static final String LOCALHOST = "localhost";

    /** What no public name ends in, so that no web page can be of such a name. */
    private static final List<String> PRIVATE =
            List.of(".localhost", ".svc", ".local", ".internal", ".lan", ".home.arpa", ".test");

    /** Makes access rules without further names. */
    public AdminAccess(@Nullable Path tokenFile, Reach reach) {
        this(tokenFile, reach, Set.of());
    }

    /** Makes the access rules of the admin listener. */
    public static AdminAccess of(AdminConfig config) {
        return new AdminAccess(config.tokenFile(), reach(config.bind()), Set.copyOf(config.hostnames()));
    }

    private static Reach reach(BindConfig bind) {
        if (bind.unix() != null) {
            return Reach.FILE;
        }
        InetAddress bound = new InetSocketAddress(bind.address(), bind.port()).getAddress();
        return bound != null && bound.isLoopbackAddress() ? Reach.MACHINE : Reach.NETWORK;
    }

    /** Who can connect to a listener. */
    public enum Reach {
        /** Processes of this machine. */
        MACHINE,
        /** Processes that may write to the socket file. */
        FILE,
        /** Other machines. */
        NETWORK
    }

    /** Whom a page is for. */
    enum Audience {
        /** Probes: everybody. */
        ANYBODY,
        /** Programs that collect metrics: everybody but web pages of other sites. */
        WATCHERS,
        /** Those who look closer: with the token, if there is one. */
        READERS,
        /** Those who change something. */
        OPERATORS
    }

    /** Returns why a request is refused, or null if it is not. Reads a file for some; not for event loops then. */
    @Nullable
    AdminResponse refusal(RequestHead head, Audience audience) {
        return switch (audience) {
            case ANYBODY -> null;
            case WATCHERS -> foreignName(head.authority());
            case READERS -> {
                AdminResponse foreign = foreignName(head.authority());
                yield foreign == null && tokenFile != null ? AdminToken.refusal(tokenFile, head, false) : foreign;
            }
            case OPERATORS -> tokenFile != null ? AdminToken.refusal(tokenFile, head, true) : withoutToken(head);
        };
    }

    /** Whether somebody who shows no credentials cannot be let in, which is known without reading a file. */
    boolean wantsCredentialsOf(RequestHead head) {
        return tokenFile != null && head.fields().first(FieldName.AUTHORIZATION) == null;
    }

    private @Nullable AdminResponse withoutToken(RequestHead head) {
        if (reach == Reach.NETWORK) {
            return refused("this needs admin.tokenFile, because other machines can reach the admin listener");
        }
        AsciiString proxy = ProxyFields.hop(head.fields());
        if (proxy != null) {
            return refused("a proxy has passed this on, as " + proxy
                    + " shows, so this needs admin.tokenFile: the proxy's clients may be anybody");
        }
        // A page of another site that a browser has open here can send a plain POST. It cannot add such a field without
        // asking first, which is not answered; nor has it, when its own name leads here, a host name of this machine.
        AsciiString asker = head.fields().first(AdminToken.REQUESTED_BY);
        if (reach == Reach.MACHINE && (asker == null || asker.isEmpty())) {
            return refused("add the header X-Requested-By with your name, which shows that no web page sends this");
        }
        return foreignName(head.authority());
    }

    /** A web page whose own name leads to this listener could read what a browser is shown. */
    private @Nullable AdminResponse foreignName(AsciiString authority) {
        return switch (reach) {
            case FILE -> null; // no browser asks there
            case MACHINE ->
                isLocalName(authority) ? null : refused("ask for localhost or 127.0.0.1, not for " + authority);
            case NETWORK ->
                isNobodysName(authority)
                        ? null
                        : refused("ask for an IP address, or add the name to admin.hostnames, instead of " + authority);
        };
    }

    private static AdminResponse refused(String why) {
        return AdminResponse.text(403, why);
    }

    private static boolean isLocalName(AsciiString authority) {
        Authority parsed = Authority.parse(authority);
        if (parsed == null) {
            return false;
        }
        String host = parsed.host().toString();
        InetAddress address = literal(host);
        return address == null ? host.equalsIgnoreCase(LOCALHOST) : address.isLoopbackAddress();
    }

    private boolean isNobodysName(AsciiString authority) {
        Authority parsed = Authority.parse(authority);
        if (parsed == null) {
            return false;
        }
        String host = parsed.host().toString().toLowerCase(Locale.ROOT);
        return literal(host) != null
                || host.indexOf('.') < 0
                || PRIVATE.stream().anyMatch(host::endsWith)
                || hostnames.contains(host);
    }

    private static @Nullable InetAddress literal(String host) {
        return host.startsWith("[") ? IpLiteral.parse6(host.substring(1, host.length() - 1)) : IpLiteral.parse(host);
    }
}
