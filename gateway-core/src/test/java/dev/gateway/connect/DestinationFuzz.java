package dev.gateway.connect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.ConnectConfig.Sni;
import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.format.PortRange;
import dev.gateway.message.Authority;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.RequestRules;
import dev.gateway.message.Scheme;
import io.netty.util.AsciiString;
import io.netty.util.NetUtil;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Fuzz target: the authority of a CONNECT, whose policy allows every public host. No spelling of an address that is not
 * public gets through, whichever way the host is read that the gateway would dial.
 */
final class DestinationFuzz {
    /** RFC 9110, section 7.2, as far as the gateway accepts it; a regular expression, so that it is another reading. */
    private static final Pattern AUTHORITY = Pattern.compile(
            "(?<host>(?=[^:]{1,255}(?::|$))[A-Za-z0-9_~-]+(?:\\.[A-Za-z0-9_~-]+)*\\.?|\\[(?<six>[0-9A-Fa-f:.]+)])(?::(?<port>[0-9]{0,5}))?");

    private static final List<HostRule> DENIED =
            Rules.deny("denied.example", ".below.example", "192.0.0.0/3", "2600::/16");

    private static final ConnectPolicy POLICY = new ConnectPolicy(
            new ConnectPolicy.Settings("all", List.of(new PortRange(1, 65535)), Rules.allow("*"), DENIED, Sni.OFF, 0));

    private static final AddressRules ADDRESSES = new AddressRules(
            new AddressRules.Settings("egress", true, List.of(), List.of(), DENIED, false),
            new OwnListeners(new LocalAddresses(Set::of, () -> 0, Runnable::run)),
            new ConnectTally());

    private static final FakeContext CONTEXT = FakeContext.from("192.0.2.9");

    private DestinationFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        AsciiString authority = new AsciiString(input);
        Matcher matcher = AUTHORITY.matcher(authority.toString());
        boolean valid = matcher.matches() && hasPort(matcher) && isIpv6(matcher.group("six"));
        assertThat(Authority.isValid(authority)).as("valid").isEqualTo(valid);
        Target target = Target.parse(authority, 0);
        if (target == null) {
            return;
        }
        assertThat(valid).isTrue();
        String host = matcher.group("host");
        assertThat(target.port()).isEqualTo(Integer.parseInt(matcher.group("port")));
        assertThat(Target.parse(new AsciiString(authority.toString().toUpperCase(Locale.ROOT)), 0))
                .isEqualTo(target);
        if (!target.odd()) {
            assertThat(Target.parse(new AsciiString(target.toString()), 0)).isEqualTo(target);
            assertThat(Authority.sameHost(authority, target.rewrite(authority)) || target.address() != null)
                    .isTrue();
        }
        RequestHead head =
                new RequestHead(Method.CONNECT, Scheme.HTTP, authority, AsciiString.EMPTY_STRING, new Fields(), 0);
        assertThat(RequestRules.problem(head)).isNull();
        boolean isDenied = isDenied(target);
        Verdict verdict = new ConnectRules(Rules.only(POLICY), policy -> ADDRESSES, new ConnectTally(), false)
                .onRequest(head, CONTEXT);
        if (verdict instanceof Verdict.Refuse) {
            assertThat(isDenied || target.odd() || isForbidden(target.address()))
                    .isTrue();
            return;
        }
        assertThat(verdict).isEqualTo(Verdict.PROCEED);
        assertThat(isDenied).isFalse();
        assertThat(Target.parse(head.authority(), 0))
                .as("what goes on is what was judged")
                .isEqualTo(target);
        assertThat(target.isWritten(head.authority())).isTrue();
        for (String reading : List.of(host, target.host(), host(head.authority()))) {
            InetAddress address = lenient(reading);
            assertThat(isForbidden(address)).as(reading).isFalse();
            assertThat(address == null || address.equals(target.address()))
                    .as(reading)
                    .isTrue();
        }
        if (target.address() == null) {
            assertThat(ADDRESSES.refuseName(target.host(), target.port()) == null
                            || target.host().indexOf('.') < 0
                            || target.host().matches(".*(local|internal|metadata).*"))
                    .isTrue();
        }
    }

    private static boolean hasPort(Matcher authority) {
        String port = authority.group("port");
        return port == null || port.isEmpty() || (Integer.parseInt(port) > 0 && Integer.parseInt(port) < 65536);
    }

    private static boolean isIpv6(@Nullable String text) {
        return text == null || NetUtil.isValidIpV6Address(text);
    }

    private static String host(AsciiString authority) {
        return authority.toString(0, Authority.hostLength(authority));
    }

    /** Whether the list of denied hosts has it, read again. */
    private static boolean isDenied(Target target) {
        InetAddress address = target.address();
        if (address == null) {
            return target.host().matches("denied\\.example|(.*\\.)?below\\.example");
        }
        return isInDeniedBlock(address) || inside(address).stream().anyMatch(DestinationFuzz::isInDeniedBlock);
    }

    private static boolean isInDeniedBlock(InetAddress address) {
        byte[] bytes = address.getAddress();
        return bytes.length == 4 ? (bytes[0] & 0xe0) == 0xc0 : bytes[0] == 0x26 && bytes[1] == 0;
    }

    /** Returns what a lenient reader takes a host for, null for a name. */
    private static @Nullable InetAddress lenient(String host) {
        boolean brackets = host.startsWith("[");
        String text = brackets ? host.substring(1, host.length() - 1) : host;
        return text.indexOf(':') >= 0 ? NetUtil.createInetAddressFromIpAddressString(text) : numbers(text);
    }

    /** Reads an address as {@code inet_aton} of C libraries and the URL standard do: up to four numbers of any base. */
    private static @Nullable InetAddress numbers(String host) {
        String text = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
        String[] parts = text.split("\\.", -1);
        if (parts.length > 4) {
            return null;
        }
        BigInteger address = BigInteger.ZERO;
        for (int i = 0; i < parts.length; i++) {
            BigInteger part = number(parts[i].toLowerCase(Locale.ROOT));
            if (part == null) {
                return null;
            }
            address = i == parts.length - 1 ? address.add(part) : address.add(part.shiftLeft(8 * (3 - i)));
        }
        byte[] bytes = address.toByteArray();
        byte[] last = new byte[4];
        System.arraycopy(
                bytes, Math.max(0, bytes.length - 4), last, Math.max(0, 4 - bytes.length), Math.min(4, bytes.length));
        return address(last);
    }

    private static @Nullable BigInteger number(String part) {
        boolean hex = part.startsWith("0x");
        String digits = hex ? part.substring(2) : part;
        if (digits.isEmpty()) {
            return hex ? BigInteger.ZERO : null;
        } else if (hex) {
            return digits.matches("[0-9a-f]+") ? new BigInteger(digits, 16) : null;
        } else if (digits.matches("0[0-7]+")) {
            return new BigInteger(digits, 8);
        }
        return digits.matches("[0-9]+") ? new BigInteger(digits) : null;
    }

    private static InetAddress address(byte... bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }

    /** Whether an address is not public, or leads to one that is not, by the JDK's classes and some blocks. */
    private static boolean isForbidden(@Nullable InetAddress address) {
        if (address == null) {
            return false;
        }
        byte[] bytes = address.getAddress();
        if (address.isAnyLocalAddress()
                || address.isLoopbackAddress()
                || address.isLinkLocalAddress()
                || address.isSiteLocalAddress()
                || address.isMulticastAddress()) {
            return true;
        } else if (bytes.length == 4) {
            return isSpecial(bytes[0] & 0xff, bytes[1] & 0xff, bytes[2] & 0xff, bytes[3] & 0xff);
        }
        boolean global = (bytes[0] & 0xe0) == 0x20 && !isForSpecialUse(bytes);
        return (!global && !isTranslated(bytes)) || inside(address).stream().anyMatch(DestinationFuzz::isForbidden);
    }

    private static boolean isTranslated(byte... bytes) {
        return startsWith(bytes, 0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0);
    }

    /** Returns the addresses of IPv4 in a global one of IPv6: NAT64, 6to4, Teredo's server and client, ISATAP. */
    private static List<InetAddress> inside(InetAddress address) {
        byte[] bytes = address.getAddress();
        List<InetAddress> found = new ArrayList<>();
        if (bytes.length == 4) {
            return found;
        } else if (isTranslated(bytes)) {
            found.add(inside(bytes, 12));
        } else if (startsWith(bytes, 0x20, 2)) {
            found.add(inside(bytes, 2));
        } else if (startsWith(bytes, 0x20, 1, 0, 0)) {
            found.add(inside(bytes, 4));
            found.add(address((byte) ~bytes[12], (byte) ~bytes[13], (byte) ~bytes[14], (byte) ~bytes[15]));
        }
        if ((bytes[8] & 0xfd) == 0 && bytes[9] == 0 && bytes[10] == 0x5e && (bytes[11] & 0xff) == 0xfe) {
            found.add(inside(bytes, 12));
        }
        return found;
    }

    private static boolean isForSpecialUse(byte... bytes) {
        boolean protocols = startsWith(bytes, 0x20, 1) && (bytes[2] & 0xfe) == 0 && (bytes[2] | bytes[3]) != 0;
        boolean documentation =
                startsWith(bytes, 0x20, 1, 0xd, 0xb8) || (startsWith(bytes, 0x3f, 0xff) && (bytes[2] & 0xf0) == 0);
        return protocols || documentation;
    }

    private static boolean isSpecial(int a, int b, int c, int d) {
        return a == 0
                || a == 10
                || a >= 224
                || (a == 100 && b >= 64 && b < 128)
                || (a == 168 && b == 63 && c == 129 && d == 16)
                || (a == 172 && b >= 16 && b < 32)
                || (a == 192 && b == 0 && (c == 0 || c == 2))
                || (a == 192 && b == 88 && c == 99)
                || (a == 198 && (b == 18 || b == 19))
                || (a == 198 && b == 51 && c == 100)
                || (a == 203 && b == 0 && c == 113);
    }

    private static InetAddress inside(byte[] bytes, int from) {
        return address(Arrays.copyOfRange(bytes, from, from + 4));
    }

    private static boolean startsWith(byte[] bytes, int... start) {
        for (int i = 0; i < start.length; i++) {
            if ((bytes[i] & 0xff) != start[i]) {
                return false;
            }
        }
        return true;
    }
}
