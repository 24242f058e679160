package dev.gateway.upstream.dial;

import dev.gateway.config.ConnectConfig.Proxy.Kind;
import dev.gateway.config.upstream.UpstreamConfig.Tls;
import dev.gateway.format.AccountFile.NameAndPassword;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Parent proxy: a proxy that connections go through.
 *
 * @param host its name, or an IP literal without brackets
 * @param credentials what the gateway authenticates with, or null
 * @param tls how an HTTPS proxy is verified, null for others
 */
public record ParentProxy(Kind kind, String host, int port, @Nullable NameAndPassword credentials, @Nullable Tls tls) {
    /** Whether it forwards plain HTTP requests, too, not only tunnels. */
    public boolean isHttp() {
        return kind != Kind.SOCKS5;
    }

    /** Returns its URL. */
    @Override
    public String toString() {
        String shown = host.indexOf(':') < 0 ? host : "[" + host + "]";
        return kind.name().toLowerCase(Locale.ROOT) + "://" + shown + ":" + port;
    }
}
