package dev.gateway.config.yaml.schema.connect;

import dev.gateway.config.Destination;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.ScalarParsers;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.format.Cidr;
import dev.gateway.format.PortRange;
import java.net.IDN;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** How hosts and ports of tunnels are written. */
public final class DestinationTypes {
    private static final String SCHEMA_PATTERN = "\\*|\\.?" + Types.DNS_NAME + "|[0-9A-Fa-f:.]+(/[0-9]{1,3})?";
    private static final Pattern NAME = Pattern.compile(Types.DNS_NAME);

    /** What ends in a number is an address to some who read it, and a name to others. */
    private static final Pattern NUMERIC_END = Pattern.compile("(.*\\.)?(0[xX][0-9A-Fa-f]*|[0-9]+)\\.?");

    private static final Pattern URL = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*://([^/?#]*@)?([^/?#]*).*");
    private static final Pattern WITH_PORT = Pattern.compile("(.+):[0-9*]+");
    private static final Pattern HOST_AND_PORT =
            Pattern.compile("(\\[[0-9A-Fa-f:.]+\\]|[^\\[\\]:/*]+):([1-9][0-9]{0,4})");
    private static final Pattern PORTS = Pattern.compile("([1-9][0-9]{0,4})(-([1-9][0-9]{0,4}))?");

    /** Some hosts. */
    public static final ScalarType<Destination> DESTINATION = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    Map.of("type", "string", "pattern", "^(" + SCHEMA_PATTERN + ")$"),
                    new Destination.Name(new Position("", 1, 1), "placeholder"),
                    (text, site) -> {
                        Destination destination = destination(text, site.position());
                        if (destination instanceof Destination.Block block) {
                            ScalarParsers.warnOfOverhang(text, block.block(), site);
                        }
                        return destination;
                    },
                    Destination::text)
            .named(
                    "destination",
                    "A host name, '.example.com' for a domain and all names below it, an address block such as 10.0.0.0/8, or '*' for all.");

    /** Some hosts, or one of them at one port. */
    public static final ScalarType<Destination> WITH_OR_WITHOUT_PORT = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    Map.of("type", "string", "pattern", "^(" + SCHEMA_PATTERN + "|" + HOST_AND_PORT.pattern() + ")$"),
                    new Destination.Name(new Position("", 1, 1), "placeholder"),
                    (text, site) -> {
                        Destination withPort = withPort(text, site.position());
                        return withPort != null ? withPort : DESTINATION.parse(text, site);
                    },
                    Destination::text)
            .named("destination and port", "A destination, or one host with a port, such as 127.0.0.1:9901.");

    /** A port, or the first and the last of some. */
    public static final ScalarType<PortRange> PORT_RANGE = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    Map.of(
                            "anyOf",
                            List.of(
                                    Map.of("type", "integer", "minimum", 1, "maximum", 65535),
                                    Map.of("type", "string", "pattern", "^" + PORTS.pattern() + "$"))),
                    new PortRange(443, 443),
                    (text, site) -> portRange(text),
                    range -> range.first() == range.last() ? range.first() : range.toString())
            .named("port range", "A port such as 443, or the first and the last of several, such as 8000-8999.");

    private DestinationTypes() {}

    private static Destination destination(String text, Position position) throws InvalidException {
        if (text.equals("*")) {
            return new Destination.Any(position);
        }
        boolean numeric = text.contains(":")
                || text.contains("/")
                || NUMERIC_END.matcher(text).matches();
        Cidr block = numeric ? Cidr.parseMasked(text) : null;
        if (block != null) {
            return new Destination.Block(position, block);
        }
        String name = text.startsWith(".") ? text.substring(1) : text;
        if (numeric || name.length() > 253 || !NAME.matcher(name).matches()) {
            throw new InvalidException(
                    "expected a host name, .example.com, an address block such as 10.0.0.0/8 or '*', not "
                            + MessageText.quote(text) + hint(text));
        }
        String lower = name.toLowerCase(Locale.ROOT);
        String plain = lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
        return text.startsWith(".") ? new Destination.Domain(position, plain) : new Destination.Name(position, plain);
    }

    /** Returns a host at a port; null if the text is something else, or names more than one host. */
    private static @Nullable Destination withPort(String text, Position position) {
        Matcher matcher = HOST_AND_PORT.matcher(text);
        if (!matcher.matches() || Integer.parseInt(matcher.group(2)) > 65535) {
            return null;
        }
        String host = matcher.group(1);
        try {
            Destination one = destination(host.startsWith("[") ? host.substring(1, host.length() - 1) : host, position);
            boolean single = one instanceof Destination.Name
                    || (one instanceof Destination.Block block && block.block().isSingle());
            return single ? new Destination.HostAndPort(position, one, Integer.parseInt(matcher.group(2))) : null;
        } catch (InvalidException e) {
            return null;
        }
    }

    private static String hint(String text) {
        Matcher url = URL.matcher(text);
        if (url.matches()) {
            return ": write the host alone" + suggestion(withoutPort(url.group(2)));
        } else if (text.startsWith("[") && text.indexOf(':') > 0) {
            return suggestion(withoutPort(text));
        } else if (text.startsWith("*.")) {
            return suggestion(text.substring(1));
        } else if (text.matches("([0-9]{1,3}\\.){1,3}\\*")) {
            return ": write a block" + suggestion(blockOf(text));
        } else if (text.indexOf('*') >= 0 || text.matches(".*[\\^$\\\\()\\[|+?].*[a-zA-Z].*")) {
            return ": there are no other wildcards and no regular expressions";
        } else if (text.matches("[0-9.]+-[0-9.]+")) {
            return ": write the blocks of addresses that the range is made of";
        } else if (text.indexOf(':') >= 0
                && WITH_PORT.matcher(text).matches()
                && text.indexOf(':') == text.lastIndexOf(':')) {
            return ": ports are in allowedPorts" + suggestion(withoutPort(text));
        } else if (text.chars().anyMatch(c -> c > 0x7f)) {
            return international(text);
        } else if (text.indexOf('/') < 0 && NUMERIC_END.matcher(text).matches()) {
            return ": write an address with all four of its numbers, none with a leading zero";
        }
        return "";
    }

    private static String suggestion(String text) {
        try {
            return ": did you mean '"
                    + destination(text, new Position("", 1, 1)).text() + "'?";
        } catch (InvalidException e) {
            return "";
        }
    }

    private static String withoutPort(String text) {
        if (text.startsWith("[")) {
            int end = text.indexOf(']');
            return end < 0 ? text : text.substring(1, end);
        }
        Matcher withPort = WITH_PORT.matcher(text);
        return withPort.matches() ? withoutWildcard(withPort.group(1)) : withoutWildcard(text);
    }

    private static String withoutWildcard(String text) {
        return text.startsWith("*.") ? text.substring(1) : text;
    }

    /** Returns 10.1.0.0/16 for 10.1.*. */
    private static String blockOf(String text) {
        int numbers = text.split("\\.").length - 1;
        return text.substring(0, text.length() - 2) + ".0".repeat(4 - numbers) + "/" + numbers * 8;
    }

    private static String international(String text) {
        try {
            String ascii = IDN.toASCII(text.startsWith(".") ? text.substring(1) : text);
            return suggestion(text.startsWith(".") ? "." + ascii : ascii);
        } catch (IllegalArgumentException e) {
            return "";
        }
    }

    private static PortRange portRange(String text) throws InvalidException {
        Matcher ports = PORTS.matcher(text);
        if (ports.matches()) {
            int first = Integer.parseInt(ports.group(1));
            int last = ports.group(3) == null ? first : Integer.parseInt(ports.group(3));
            if (first <= last && last <= 65535) {
                return new PortRange(first, last);
            }
            if (last < first) {
                throw new InvalidException(
                        "the last port comes before the first: did you mean '" + last + "-" + first + "'?");
            }
        }
        throw new InvalidException("expected a port from 1 to 65535, or two with a dash such as 8000-8999, not "
                + MessageText.quote(text) + (text.equals("*") ? ": write 1-65535 for all" : ""));
    }
}
