package dev.gateway.config.yaml.check;

import dev.gateway.config.AdminConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.listener.BindConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.format.IpLiteral;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** No two listeners may bind the same place; one address may be part of another. */
final class AddressChecks {
    private AddressChecks() {}

    private record Bound(String what, String place, Position position, String address, int port) {}

    static void run(GatewayConfig config, Scope scope) {
        List<Bound> bound = new ArrayList<>();
        for (ListenerConfig listener : config.listeners()) {
            add(bound, "listener '" + listener.name() + "'", listener, listener.bind(), scope);
        }
        AdminConfig admin = config.admin();
        if (admin != null && admin.enabled()) {
            add(bound, "admin", admin, admin.bind(), scope);
        }
    }

    private static void add(List<Bound> bound, String what, Record listener, BindConfig bind, Scope scope) {
        Path unix = bind.unix();
        if (unix != null) {
            String path = unix.toString();
            add(bound, new Bound(what, path, scope.at(listener, "unix"), path, -1), scope);
        } else if (bind.port() > 0) {
            Position at = scope.at(listener, "port");
            add(bound, new Bound(what, "port " + bind.port(), at, bind.address(), bind.port()), scope);
        }
    }

    private static void add(List<Bound> bound, Bound next, Scope scope) {
        for (Bound other : bound) {
            if (other.port == next.port && overlap(other.address, next.address)) {
                scope.problems.error(
                        next.position,
                        next.place + " is already bound by " + other.what + " in "
                                + other.position.seenFrom(next.position));
                return;
            }
        }
        bound.add(next);
    }

    /** A wildcard takes both IPv4 and IPv6: the sockets of the JVM and of Netty are of both kinds. */
    private static boolean overlap(String one, String other) {
        String a = canonical(one);
        String b = canonical(other);
        return a.equals(b) || isWildcard(a) || isWildcard(b);
    }

    private static boolean isWildcard(String address) {
        return address.equals("0:0:0:0:0:0:0:0") || address.equals("0.0.0.0");
    }

    private static String canonical(String address) {
        if (address.equalsIgnoreCase("localhost")) {
            return "127.0.0.1";
        }
        InetAddress literal = IpLiteral.parse(address);
        return literal == null ? address.toLowerCase(Locale.ROOT) : literal.getHostAddress();
    }

    static boolean isLoopback(String address) {
        InetAddress literal = IpLiteral.parse(address);
        return literal == null ? address.equalsIgnoreCase("localhost") : literal.isLoopbackAddress();
    }
}
