package dev.gateway.config.yaml.type;

import dev.gateway.format.Cidr;
import dev.gateway.format.IpLiteral;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How the longer scalars of {@link Types} are read. */
public final class ScalarParsers {
    static final int DNS_PORT = 53;

    /** No hint is made of a longer text: nobody has written it by hand, and patterns take long and deep to match it. */
    private static final int MAX_HINTED = 300;

    private ScalarParsers() {}

    static String headerValue(String text) throws InvalidException {
        int c;
        for (int i = 0; i < text.length(); i += Character.charCount(c)) {
            c = text.codePointAt(i);
            boolean edge = i == 0 || i == text.length() - 1;
            String problem = c == '\n' || c == '\r'
                    ? "a line break"
                    : edge && (c == ' ' || c == '\t')
                            ? "a space"
                            : (c < ' ' && c != '\t') || c == 0x7f || Character.getType(c) == Character.SURROGATE
                                    ? "U+" + Integer.toHexString(0x10000 | c).substring(1)
                                    : null;
            if (problem != null) {
                throw InvalidException.withoutValue(
                        "expected a header value: no line breaks or other control characters, no space at either end;"
                                + " character " + (i + 1) + " is " + problem);
            }
        }
        return text;
    }

    /** Returns a hint that writes a percentage as a share of the whole, empty if the text is no percentage. */
    static String ofHundred(String text) {
        Matcher percentage = Pattern.compile("([1-9][0-9]?)%?").matcher(text);
        return percentage.matches()
                ? ": write "
                        + new BigDecimal(percentage.group(1))
                                .movePointLeft(2)
                                .stripTrailingZeros()
                                .toPlainString()
                : "";
    }

    /** Somebody who writes an address with a prefix may mean the address. */
    public static void warnOfOverhang(String text, Cidr block, ScalarType.Site site) {
        int slash = text.indexOf('/');
        InetAddress address = slash < 0 ? null : IpLiteral.parse(text.substring(0, slash));
        if (address != null && !block.network().equals(address)) {
            site.scope()
                    .problems
                    .warning(
                            site.position(),
                            site.label() + ": " + MessageText.quote(text) + " is all of " + block
                                    + ": write it so, or the address alone");
        }
    }

    /** Returns a hint for a word or a range in place of an address block; empty for any other text. */
    static String blockHint(String text) {
        if (text.length() > MAX_HINTED) {
            return "";
        }
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "all", "any", "*", "0/0" -> ": write 0.0.0.0/0 and ::/0";
            case "private", "private_ranges" -> ": write 10.0.0.0/8, 172.16.0.0/12 and 192.168.0.0/16";
            case "localhost", "loopback" -> ": write 127.0.0.0/8 and ::1";
            default ->
                text.matches("[0-9.]+ *- *[0-9.]+")
                        ? ": write blocks, there are no ranges"
                        : text.matches("([A-Za-z][A-Za-z0-9-]*\\.)+[A-Za-z]+") ? ": names are not looked up here" : "";
        };
    }

    /**
     * Returns a hint for a host name with a scheme, a port or a path; empty for any other text.
     *
     * @param wildcard whether the name may begin with one
     */
    static String hostHint(String text, boolean wildcard) {
        if (text.length() > MAX_HINTED) {
            return "";
        }
        if (wildcard && text.equals("*")) {
            return ": remove it for all hosts";
        } else if (wildcard && text.matches("\\.[A-Za-z0-9.-]+")) {
            return ": did you mean '*" + text + "'?";
        } else if (wildcard && text.matches("[~^].*|.*[\\\\()|$].*")) {
            return ": there are no expressions: write each name, or *.example.com for all names below a domain";
        } else if (wildcard && text.replaceFirst("^https?://", "").lastIndexOf('*') > 0) {
            return ": '*' stands only at the beginning: write each name";
        }
        Matcher url = Pattern.compile("(?:https?://)?([A-Za-z0-9.-]*[A-Za-z0-9])(?::[0-9]+)?(?:/[^0-9]*)?")
                .matcher(text);
        return url.matches() && url.group(1).matches(Types.DNS_NAME) ? ": did you mean '" + url.group(1) + "'?" : "";
    }

    static InetSocketAddress nameServer(String text) throws InvalidException {
        int colon = text.lastIndexOf(':') > text.lastIndexOf(']') ? text.lastIndexOf(':') : text.length();
        String host = text.substring(0, colon);
        String bare = host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
        InetAddress address = host.equals(bare) == bare.indexOf(':') < 0 ? IpLiteral.parse(bare) : null;
        String port = colon == text.length() ? Integer.toString(DNS_PORT) : text.substring(colon + 1);
        if (address == null
                || !port.matches("[0-9]{1,5}")
                || Integer.parseInt(port) < 1
                || Integer.parseInt(port) > 65535) {
            throw new InvalidException(
                    "expected the address of a DNS server such as 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53], not "
                            + MessageText.quote(text));
        }
        return new InetSocketAddress(address, Integer.parseInt(port));
    }
}
