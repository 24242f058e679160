package dev.gateway.config.yaml.type;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import dev.gateway.format.Cidr;
import dev.gateway.format.Durations;
import dev.gateway.format.IpLiteral;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The scalar types of a configuration. */
public final class Types {
    public static final String TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
    private static final int MAX_PORT = 65_535;
    private static final String LABEL = "[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?";
    public static final String DNS_NAME = LABEL + "(\\." + LABEL + ")*\\.?";
    private static final String IPV6 = "[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]*:[0-9A-Fa-f.]*";

    public static final ScalarType<Boolean> BOOLEAN = new ScalarType<>(
            ScalarType.Form.BARE,
            Map.of("type", "boolean"),
            false,
            (text, site) -> switch (text) {
                case "true" -> true;
                case "false" -> false;
                case "yes", "on" ->
                    throw new InvalidException("expected true or false, not '" + text + "': write true");
                case "no", "off" ->
                    throw new InvalidException("expected true or false, not '" + text + "': write false");
                default -> throw new InvalidException("expected true or false, not " + MessageText.quote(text));
            },
            value -> value);

    public static final ScalarType<Duration> DURATION = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    strings(Durations.PATTERN),
                    Duration.ZERO,
                    (text, site) -> Amounts.duration(text),
                    Durations::print)
            .named("duration", "Whole numbers with the units h, m, s and ms, such as 30s, 1m30s or 500ms.");

    public static final ScalarType<Long> SIZE = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    Map.of("anyOf", List.of(Map.of("type", "integer", "minimum", 0), strings(Amounts.SIZE_PATTERN))),
                    0L,
                    (text, site) -> Amounts.size(text),
                    Amounts::printSize)
            .named(
                    "size",
                    "A number of bytes, or a number with B, KiB, MiB, GiB or TiB, such as 64KiB. 1KiB is 1024 bytes.");

    /** A share of the whole, from 0 to 1. */
    public static final ScalarType<Double> SHARE = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    Map.of(
                            "anyOf",
                            List.of(
                                    strings(Shares.SHARE_PATTERN),
                                    Map.of("type", "number", "minimum", 0, "maximum", 1))),
                    1.0,
                    Shares::share,
                    Shares::print)
            .named("share", "A percentage from 0% to 100% with up to four decimals, such as 5%.");

    /** A ratio that its owner, such as OpenTelemetry, writes as a number. */
    public static final ScalarType<Double> FRACTION = new ScalarType<>(
                    ScalarType.Form.BARE,
                    Map.of("type", "number", "minimum", 0, "maximum", 1),
                    1.0,
                    (text, site) -> {
                        if (text.matches("0(\\.[0-9]{1,6})?|1(\\.0{1,6})?")) {
                            return Double.parseDouble(text);
                        }
                        throw new InvalidException("expected a share from 0 to 1 such as 0.05, not "
                                + MessageText.quote(text) + ScalarParsers.ofHundred(text));
                    },
                    value -> new BigDecimal(Double.toString(value)).stripTrailingZeros())
            .named("ratio", "A number from 0 to 1 with up to six decimals, such as 0.05.");

    public static final ScalarType<String> NAME = word(
                    "[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?",
                    "a name of up to 63 letters, digits, '-', '_' or '.' that begins and ends with a letter or digit")
            .named(
                    "name",
                    "Up to 63 letters, digits, '-', '_' and '.'. The first and the last are a letter or a digit.");

    public static final ScalarType<String> TEXT = text("[\\s\\S]*", "text");

    /** A text of one line, such as the name of a claim. */
    public static final ScalarType<String> LINE = word("[^\\x00-\\x1f\\x7f]+", "text without control characters");

    public static final ScalarType<String> METHOD = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    texts("[A-Z0-9!#$%&'*+.^_`|~-]+"),
                    "GET",
                    (text, site) -> {
                        if (text.length() < 100 && text.matches("[A-Z]+( *[|,] *[A-Z]+)+")) {
                            throw new InvalidException(
                                    "expected one method, not " + MessageText.quote(text) + ": write each alone");
                        } else if (text.matches("[A-Z0-9!#$%&'*+.^_`|~-]+")) {
                            return text;
                        }
                        String upper = text.toUpperCase(Locale.ROOT);
                        throw new InvalidException(
                                "expected a method in upper case such as GET, not " + MessageText.quote(text)
                                        + (upper.matches("[A-Z]+") ? ": did you mean '" + upper + "'?" : ""));
                    },
                    value -> value)
            .named("method", "A request method in upper case, such as GET.");

    public static final ScalarType<String> HEADER_NAME = word(
                    TOKEN, "a header name: letters, digits and !#$%&'*+-.^_`|~ only")
            .named("header name", "Letters, digits and !#$%&'*+-.^_`|~. Letter case does not matter.");

    /** Its messages show nothing of it, as it may be a secret. */
    public static final ScalarType<String> HEADER_VALUE = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    texts("([^\\u0000- \\u007f]([^\\u0000-\\u0008\\u000a-\\u001f\\u007f]*[^\\u0000- \\u007f])?)?"),
                    "",
                    (text, site) -> ScalarParsers.headerValue(text),
                    Variables::escape,
                    true)
            .named(
                    "header value",
                    "Text without line breaks and other control characters, and without a space at either end.");

    /** What stands before a header's value; it may end with a space. Its messages show nothing of it, either. */
    public static final ScalarType<String> HEADER_VALUE_PREFIX = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    texts("([!-~][ -~]*)?"),
                    "",
                    (text, site) -> {
                        if (!text.matches("([!-~][ -~]*)?")) {
                            throw InvalidException.withoutValue(
                                    "expected printable ASCII characters, the first not a space");
                        }
                        return text;
                    },
                    Variables::escape,
                    true)
            .named("header value prefix", "Printable ASCII characters. The last may be a space, the first may not.");

    /** What is dialed: a name or an address. */
    public static final ScalarType<String> HOST = host("a host name or an IP address")
            .named("host", "A host name or an IP address, without a port. IPv6 addresses have no brackets.");

    /** What is bound: a name or an address. */
    public static final ScalarType<String> ADDRESS =
            host("an IP address such as 0.0.0.0, :: or 127.0.0.1, or a host name")
                    .named("address", "An IP address to bind, such as 127.0.0.1, 0.0.0.0 or ::, or a host name.");

    /** A name without wildcard. */
    public static final ScalarType<String> EXACT_HOSTNAME = lowerCase(DNS_NAME, "a host name such as shop.example.com")
            .explained(text -> ScalarParsers.hostHint(text, false))
            .named("host name", "A DNS name such as shop.example.com, without a port.");

    /** A name, or that of the request. */
    public static final ScalarType<String> SERVER_NAME = lowerCase(
                    DNS_NAME + "|\\{host\\}", "a host name such as shop.example.com, or {host} for that of the request")
            .named("server name", "A DNS name such as shop.example.com, or {host} for the host of each request.");

    public static final String HOSTNAME_PATTERN = "(\\*\\.)?" + DNS_NAME;

    public static final ScalarType<String> HOSTNAME = lowerCase(
                    HOSTNAME_PATTERN, "a host name such as shop.example.com or *.example.com, without port or scheme")
            .explained(text -> ScalarParsers.hostHint(text, true));

    private static final Cidr LOOPBACK = Objects.requireNonNull(Cidr.parse("127.0.0.1"));

    public static final ScalarType<Cidr> CIDR = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    strings("[0-9A-Fa-f:.]+(/[0-9]{1,3})?"),
                    LOOPBACK,
                    (text, site) -> {
                        Cidr cidr = Cidr.parseMasked(text);
                        if (cidr == null) {
                            throw new InvalidException("expected an address block such as 10.0.0.0/8 or fd00::/8, not "
                                    + MessageText.quote(text) + ScalarParsers.blockHint(text));
                        }
                        ScalarParsers.warnOfOverhang(text, cidr, site);
                        return cidr;
                    },
                    Cidr::toString)
            .named("address block", "An IP address, or a CIDR block such as 10.0.0.0/8 or fd00::/8.");

    /** A DNS server. */
    public static final ScalarType<InetSocketAddress> NAME_SERVER = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    strings("([0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?"),
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), ScalarParsers.DNS_PORT),
                    (text, site) -> ScalarParsers.nameServer(text),
                    server -> {
                        String host = server.getAddress().getHostAddress();
                        String bracketed = host.indexOf(':') >= 0 ? "[" + host + "]" : host;
                        return server.getPort() == ScalarParsers.DNS_PORT
                                ? bracketed
                                : bracketed + ":" + server.getPort();
                    })
            .named("name server", "The address of a DNS server: 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53].");

    /** A file; what is relative starts at the directory of the file that has it. */
    public static final ScalarType<Path> PATH = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    texts("[\\s\\S]+"),
                    Path.of("/"),
                    (text, site) -> {
                        if (text.startsWith("unix:/") || text.startsWith("file:/")) {
                            throw new InvalidException("expected a file name, not " + MessageText.quote(text)
                                    + ": write " + MessageText.quote(text.replaceFirst("^[a-z]+:(//)?", "")));
                        }
                        try {
                            if (!text.isEmpty()) {
                                return site.scope()
                                        .directory(site.position())
                                        .resolve(text)
                                        .toAbsolutePath()
                                        .normalize();
                            }
                        } catch (InvalidPathException e) {
                            throw new InvalidException("not a file name: " + e.getReason());
                        }
                        throw new InvalidException("expected a file name, not an empty text");
                    },
                    Path::toString)
            .named("file", "A file name. A relative one starts at the directory of the file that has it.");

    private Types() {}

    /** A whole number. */
    public static ScalarType<Integer> integer(int minimum, int maximum) {
        return new ScalarType<>(
                ScalarType.Form.BARE,
                Map.of("type", "integer", "minimum", minimum, "maximum", maximum),
                minimum,
                (text, site) -> {
                    if (text.matches("-?(0|[1-9][0-9]{0,9})")) {
                        long value = Long.parseLong(text);
                        if (value >= minimum && value <= maximum) {
                            return (int) value;
                        }
                    }
                    boolean percent = maximum == 100 && text.matches("[1-9]?[0-9]%|100%");
                    throw new InvalidException("expected a whole number from " + minimum + " to " + maximum + ", not "
                            + MessageText.quote(text)
                            + (percent ? ": write " + text.substring(0, text.length() - 1) : ""));
                },
                value -> value);
    }

    /** A whole percentage. */
    public static ScalarType<Integer> percentage(int minimum, int maximum) {
        return new ScalarType<>(
                ScalarType.Form.TEXT,
                Map.of(
                        "anyOf",
                        List.of(
                                strings(Shares.pattern(maximum)),
                                Map.of("type", "integer", "minimum", minimum, "maximum", maximum))),
                minimum,
                (text, site) -> Shares.percentage(text, minimum, maximum, site),
                value -> value + "%");
    }

    /** A text that matches as a whole, of which a secret may be a part. */
    public static ScalarType<String> text(String pattern, String expected) {
        return text(pattern, expected, true);
    }

    /** A name or a place, as a text that matches as a whole. */
    public static ScalarType<String> word(String pattern, String expected) {
        return text(pattern, expected, false);
    }

    private static ScalarType<String> text(String pattern, String expected, boolean free) {
        java.util.regex.Pattern compiled = java.util.regex.Pattern.compile(pattern);
        return new ScalarType<>(
                ScalarType.Form.TEXT,
                titled(expected, texts(pattern)),
                "",
                (text, site) -> {
                    if (!compiled.matcher(text).matches()) {
                        throw new InvalidException("expected " + expected + ", not " + MessageText.quote(text));
                    }
                    return text;
                },
                Variables::escape,
                free);
    }

    /** A URL that matches as a whole and names a host. */
    public static ScalarType<String> url(String pattern, String expected) {
        ScalarType<String> text = text(pattern, expected);
        return new ScalarType<>(
                ScalarType.Form.TEXT,
                titled(expected, texts(pattern)),
                "",
                (written, site) -> {
                    String url = text.parse(written, site);
                    try {
                        URI uri = new URI(url);
                        if (uri.getHost() == null) {
                            throw new InvalidException(
                                    "expected " + expected + ", which names a host, not " + MessageText.quote(url));
                        }
                        if (uri.getPort() == 0 || uri.getPort() > MAX_PORT) {
                            throw new InvalidException(
                                    "expected a port from 1 to " + MAX_PORT + " in the URL, not " + uri.getPort());
                        }
                        return url;
                    } catch (URISyntaxException e) {
                        throw new InvalidException("expected " + expected + ", not " + MessageText.quote(url));
                    }
                },
                Variables::escape);
    }

    /** One of some words. */
    public static <E> ScalarType<E> words(Map<String, E> words, Map<String, String> reserved) {
        return words(words, reserved, Map.of());
    }

    /**
     * One of some words.
     *
     * @param foreign what others call them, for hints only, in lower case and without dashes: the word that is meant, or a
     *     hint of its own
     */
    public static <E> ScalarType<E> words(
            Map<String, E> words, Map<String, String> reserved, Map<String, String> foreign) {
        return words(words, reserved, foreign, text -> "expected one of " + String.join(", ", words.keySet()));
    }

    /**
     * One of some words.
     *
     * @param foreign what others call them, as above
     * @param otherwise returns what to say of a text that is like none of them
     */
    public static <E> ScalarType<E> words(
            Map<String, E> words,
            Map<String, String> reserved,
            Map<String, String> foreign,
            Function<String, String> otherwise) {
        Map<E, String> names = new LinkedHashMap<>();
        words.forEach((word, value) -> names.put(value, word));
        return new ScalarType<>(
                ScalarType.Form.TEXT,
                Map.of("enum", new ArrayList<>(words.keySet())),
                words.values().iterator().next(),
                (text, site) -> {
                    E value = words.get(text);
                    if (value != null) {
                        return value;
                    }
                    String later = reserved.get(text);
                    if (later != null) {
                        throw new InvalidException("'" + text + "' (" + later + ") is not available yet: use one of "
                                + String.join(", ", words.keySet()));
                    }
                    String hint = Suggestions.hint(text, words.keySet(), foreign);
                    throw new InvalidException("unknown value " + MessageText.quote(text)
                            + (hint != null ? hint : ": " + otherwise.apply(text)));
                },
                value -> names.getOrDefault(value, String.valueOf(value)));
    }

    /** Returns the hint that names the word which was probably meant, empty if none is like it. */
    public static String hint(String written, Set<String> words, Map<String, String> foreign) {
        String hint = Suggestions.hint(written, words, foreign);
        return hint == null ? "" : hint;
    }

    /** One of some words, in their order. */
    @SafeVarargs
    @SuppressWarnings("varargs") // the array is only read
    public static <E> ScalarType<E> words(Map.Entry<String, E>... words) {
        return words(ordered(words), Map.of());
    }

    /** Returns a map that keeps the order of its entries. */
    @SafeVarargs
    public static <E> Map<String, E> ordered(Map.Entry<String, E>... entries) {
        Map<String, E> map = new LinkedHashMap<>();
        for (Map.Entry<String, E> entry : entries) {
            map.put(entry.getKey(), entry.getValue());
        }
        return map;
    }

    /** Returns why a text is not a regular expression in RE2 syntax, or null if it is one. */
    public static @Nullable String regexProblem(String text) {
        try {
            Pattern.compile(text);
            return null;
        } catch (PatternSyntaxException e) {
            return "not a regular expression in RE2 syntax: " + e.getDescription()
                    + (Set.of("(?=", "(?!", "(?<").stream().anyMatch(text::contains)
                            ? " (RE2 has no lookahead, lookbehind or back-references)"
                            : "");
        }
    }

    /** Returns the end of a message if somebody means a Unix-domain socket where 'unix' is a key of its own. */
    public static String unixHint(String text) {
        return text.matches("unix:(//)?/.{1,200}")
                ? ": write unix: " + MessageText.shorten(text.replaceFirst("^unix:(//)?", ""))
                : "";
    }

    private static ScalarType<String> host(String expected) {
        java.util.regex.Pattern name = java.util.regex.Pattern.compile(DNS_NAME);
        return new ScalarType<>(
                ScalarType.Form.TEXT,
                strings("(" + DNS_NAME + "|" + IPV6 + ")"),
                "localhost",
                (text, site) -> {
                    boolean numeric = text.matches("[0-9.]+") || text.contains(":");
                    if (numeric
                            ? IpLiteral.parse(text) != null
                            : text.length() <= 253 && name.matcher(text).matches()) {
                        return text;
                    }
                    String hint = "";
                    if (text.contains("://")) {
                        hint = ": leave the scheme out";
                    } else if (text.matches("[^:]*:[0-9]+")) {
                        hint = ": write the port as 'port'";
                    } else if (text.startsWith("[")) {
                        hint = ": leave the brackets out";
                    }
                    throw new InvalidException("expected " + expected + ", not " + MessageText.quote(text) + hint);
                },
                value -> value);
    }

    private static ScalarType<String> lowerCase(String pattern, String expected) {
        java.util.regex.Pattern compiled = java.util.regex.Pattern.compile(pattern);
        return new ScalarType<>(
                ScalarType.Form.TEXT,
                strings(pattern),
                "",
                (text, site) -> {
                    if (text.length() > 253 || !compiled.matcher(text).matches()) {
                        throw new InvalidException("expected " + expected + ", not " + MessageText.quote(text));
                    }
                    String lower = text.toLowerCase(Locale.ROOT);
                    return lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
                },
                value -> value);
    }

    private static Map<String, Object> titled(String title, Map<String, Object> schema) {
        Map<String, Object> titled = new LinkedHashMap<>();
        titled.put("title", title);
        titled.putAll(schema);
        return titled;
    }

    /** What YAML reads as a string. */
    private static Map<String, Object> strings(String pattern) {
        return Map.of("type", "string", "pattern", "^(" + pattern + ")$");
    }

    /** What YAML reads as a string, a number or a boolean, taken as the text that was written. */
    private static Map<String, Object> texts(String pattern) {
        return Map.of("type", List.of("string", "number", "boolean"), "pattern", "^(" + pattern + ")$");
    }

    /** Whether a text is a word by which other products turn something off. */
    public static boolean isOff(String text) {
        return text.matches("off|no|false|none");
    }
}
