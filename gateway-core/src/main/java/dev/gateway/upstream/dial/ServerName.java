package dev.gateway.upstream.dial;

import dev.gateway.message.Authority;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The name that TLS asks for where that is the host of the request. */
public final class ServerName {
    private ServerName() {}

    /** Returns the host that the upstream is told, in the form that certificates have; null if the request has none. */
    public static @Nullable String of(RequestHead head) {
        AsciiString authority = head.authority();
        String host = authority.subSequence(0, Authority.hostLength(authority)).toString();
        if (host.startsWith("[")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.endsWith(".")) {
            host = host.substring(0, host.length() - 1);
        }
        return host.isEmpty() ? null : host.toLowerCase(Locale.ROOT);
    }
}
