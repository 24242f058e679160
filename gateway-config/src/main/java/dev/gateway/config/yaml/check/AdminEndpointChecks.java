package dev.gateway.config.yaml.check;

import dev.gateway.config.AdminConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.listener.BindConfig;
import dev.gateway.config.upstream.EndpointConfig;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.format.IpLiteral;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** No upstream may lead to the admin listener, whose pages are for this machine: clients of the gateway may be anybody. */
final class AdminEndpointChecks {
    private static final String REASON = " is the admin listener of this gateway, which cannot be an endpoint";

    private AdminEndpointChecks() {}

    static void run(GatewayConfig config, Scope scope) {
        AdminConfig admin = Objects.requireNonNull(config.withAdmin().admin());
        if (!admin.enabled()) {
            return;
        }
        for (UpstreamConfig upstream : config.upstreams()) {
            for (EndpointConfig endpoint : upstream.endpoints()) {
                check(endpoint, admin, scope);
            }
        }
    }

    private static void check(EndpointConfig endpoint, AdminConfig admin, Scope scope) {
        BindConfig bind = admin.bind();
        EndpointConfig.Place place = endpoint.place();
        if (place instanceof EndpointConfig.Unix unix && isSame(unix.path(), bind.unix())) {
            scope.problems.error(scope.at(endpoint, place.key()), unix.path() + REASON);
        } else if (place.port() != 0 && bind.hasPort(place.port()) && leadsTo(place.subject(), bind.address())) {
            report(endpoint, place.subject(), place.port(), admin, scope);
        }
    }

    private static void report(EndpointConfig endpoint, String host, int port, AdminConfig admin, Scope scope) {
        scope.problems.error(
                scope.at(endpoint, "port"),
                "port " + port + " of " + host + REASON
                        + (admin.chosen() ? "" : ": give 'admin' another port, or write 'admin: {enabled: false}'"));
    }

    /** A link is seen here if the gateway runs already, and else when it connects. */
    private static boolean isSame(Path file, @Nullable Path bound) {
        if (bound == null) {
            return false;
        }
        try {
            return file.toAbsolutePath()
                            .normalize()
                            .equals(bound.toAbsolutePath().normalize())
                    || Files.isSameFile(file, bound);
        } catch (IOException e) {
            return false; // one of them does not exist
        }
    }

    /** What other names and addresses lead to is seen when the gateway connects. */
    private static boolean leadsTo(String host, String bound) {
        InetAddress listener = address(bound);
        InetAddress endpoint = address(host);
        if (listener == null || endpoint == null) {
            return host.equalsIgnoreCase(bound);
        }
        return listener.equals(endpoint)
                || (endpoint.isAnyLocalAddress() && listener.isLoopbackAddress())
                || (listener.isAnyLocalAddress() && (endpoint.isLoopbackAddress() || endpoint.isAnyLocalAddress()));
    }

    private static @Nullable InetAddress address(String host) {
        return IpLiteral.parse(host.equalsIgnoreCase("localhost") ? "127.0.0.1" : host);
    }
}
