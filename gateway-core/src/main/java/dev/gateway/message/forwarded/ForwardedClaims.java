package dev.gateway.message.forwarded;

import dev.gateway.message.Authority;
import dev.gateway.message.ClientTarget;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Scheme;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Forwarded claims: what trusted proxies say of a request, in the one form that is read. Each hop says where the request came
 * from, and some say which scheme and host were used. Made when the hops have been read up to the client. Immutable.
 *
 * @param form {@link FieldName#FORWARDED} or {@link FieldName#X_FORWARDED_FOR}
 * @param place where the client stands among the hops, counted from the last one, which is 1; 0 if no hop was read
 * @param target what the client used
 */
public record ForwardedClaims(FieldName form, int place, ClientTarget target) {
    private static final int MAX_PORT = 65535;

    /** Whether {@code Forwarded} is read. */
    boolean isStandard() {
        return form.equals(FieldName.FORWARDED);
    }

    /**
     * What {@code X-Forwarded-*} says of the client.
     *
     * @param hops counts those of {@code X-Forwarded-For}
     */
    static ForwardedClaims ofLists(
            Fields fields, int place, IntSupplier hops, AsciiString scheme, AsciiString authority) {
        return new ForwardedClaims(
                FieldName.X_FORWARDED_FOR,
                place,
                target(
                        pick(fields, FieldName.X_FORWARDED_PROTO, place, hops),
                        pick(fields, FieldName.X_FORWARDED_HOST, place, hops),
                        pick(fields, FieldName.X_FORWARDED_PORT, place, hops),
                        scheme,
                        authority));
    }

    /** What an element of {@code Forwarded} says of the client; null for what it does not say. */
    static ForwardedClaims ofElement(
            int place, @Nullable String proto, @Nullable String host, AsciiString scheme, AsciiString authority) {
        return new ForwardedClaims(FieldName.FORWARDED, place, target(proto, host, null, scheme, authority));
    }

    private static ClientTarget target(
            @Nullable String proto,
            @Nullable String host,
            @Nullable String port,
            AsciiString scheme,
            AsciiString authority) {
        AsciiString statedScheme = proto == null ? null : scheme(proto);
        AsciiString statedHost = host == null ? null : host(host);
        int statedPort = port == null ? -1 : port(port);
        if (statedPort < 0 && statedHost != null) {
            statedPort = Authority.port(statedHost, -1);
        }
        AsciiString usedScheme = statedScheme == null ? scheme : statedScheme;
        AsciiString usedHost = statedHost == null ? authority : statedHost;
        return new ClientTarget(
                usedScheme,
                usedHost,
                statedPort < 0 ? ClientTarget.port(usedScheme, usedHost) : statedPort,
                statedScheme != null || statedPort >= 0);
    }

    /** Returns the scheme that is meant, null for none. Some proxies write that of WebSockets. */
    private static @Nullable AsciiString scheme(String proto) {
        return switch (proto.toLowerCase(Locale.ROOT)) {
            case "http", "ws" -> Scheme.HTTP;
            case "https", "wss" -> Scheme.HTTPS;
            default -> null;
        };
    }

    private static @Nullable AsciiString host(String text) {
        AsciiString host = new AsciiString(text.getBytes(StandardCharsets.ISO_8859_1), false);
        return Authority.isValid(host) ? host : null;
    }

    private static int port(String text) {
        boolean number = !text.isEmpty() && text.length() <= 5 && text.chars().allMatch(c -> c >= '0' && c <= '9');
        int port = number ? Integer.parseInt(text) : 0;
        return port >= 1 && port <= MAX_PORT ? port : -1;
    }

    /** Returns the element of a list that stands with the client's address, or else the last; null if the list is empty. */
    private static @Nullable String pick(Fields fields, FieldName name, int place, IntSupplier hops) {
        List<String> all = elements(fields, name);
        int size = all.size();
        if (size == 0) {
            return null;
        }
        boolean aligned = size > 1 && place > 0 && place <= size && size == hops.getAsInt();
        return all.get(aligned ? size - place : size - 1);
    }

    /** Returns the elements of all lines of a field that has no quoted strings. */
    private static List<String> elements(Fields fields, FieldName name) {
        List<String> found = new ArrayList<>(1);
        for (int i = fields.find(name, 0); i >= 0; i = fields.find(name, i + 1)) {
            String line = fields.value(i).toString();
            int from = 0;
            while (from <= line.length()) {
                int comma = line.indexOf(',', from);
                int to = comma < 0 ? line.length() : comma;
                String element = line.substring(from, to).strip();
                if (!element.isEmpty()) {
                    found.add(element);
                }
                from = to + 1;
            }
        }
        return found;
    }
}
