package dev.gateway.message.forwarded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatObject;

import dev.gateway.config.listener.ListenerConfig.ForwardedHeaders;
import dev.gateway.message.Ascii;
import dev.gateway.message.Authority;
import dev.gateway.message.ClientTarget;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.Scheme;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Fuzz target: {@code Forwarded} and {@code X-Forwarded-*} of a trusted proxy, which hands on what strangers wrote. The first
 * line of the input chooses what is written, and how many hops are read. Each other line begins with the letter of a field.
 */
final class ForwardedFuzz {
    private static final AsciiString PEER = new AsciiString("2001:db8::9");
    private static final AsciiString AUTHORITY = new AsciiString("gateway.example:8443");

    private static final String TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
    private static final String VALUE = "(?:[^\",;\\\\ \\t]+|\"(?:[^\"\\\\]|\\\\.)*\")";
    private static final String PAIR = TOKEN + "=" + VALUE;

    /** RFC 7239, section 4, read from the beginning; a value may have other characters than a token. */
    private static final Pattern ELEMENT =
            Pattern.compile("(?s)[ \\t]*(?<element>" + PAIR + "(?:;" + PAIR + ")*)?[ \\t]*(?:,|\\z)");

    private static final Pattern NODE =
            Pattern.compile("(?is)(?:^|;)for=(?:\"(?<quoted>(?:[^\"\\\\]|\\\\.)*)\"|(?<plain>[^;]*))");
    private static final Pattern INNER = Pattern.compile("(?s)(?:^|;)" + TOKEN + "=" + VALUE);

    private static final List<ForwardedHeaders> MODES = List.of(ForwardedHeaders.values());

    private ForwardedFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        String[] lines = new String(input, StandardCharsets.ISO_8859_1).split("\n", -1);
        int choice = lines[0].isEmpty() ? 0 : lines[0].charAt(0);
        ForwardedHeaders mode = MODES.get(choice % 3);
        int wanted = choice / 3 % 8;
        Fields fields = new Fields();
        for (String line : Arrays.asList(lines).subList(1, lines.length)) {
            add(fields, line);
        }
        boolean wellFormed = checkReading(fields);
        checkStrangers(fields);

        ForwardedHops hops = new ForwardedFields(mode).hops(fields);
        List<String> read = new ArrayList<>();
        for (String hop = wanted == 0 ? null : hops.next();
                hop != null;
                hop = read.size() < wanted ? hops.next() : null) {
            read.add(hop);
        }
        ForwardedClaims claims = hops.claims(Scheme.HTTP, AUTHORITY);
        checkTarget(claims.target());
        assertThat(claims.place()).isEqualTo(read.size());
        List<String> all = ForwardedHops.all(fields, claims.form());
        Collections.reverse(all);
        assertThat(all.subList(0, read.size())).isEqualTo(read);

        RequestHead head = new RequestHead(Method.GET, Scheme.HTTP, AUTHORITY, new AsciiString("/"), fields, 0);
        new ForwardedFields(mode).apply(head, PEER, Scheme.HTTP, claims.target(), claims);
        checkWritten(fields, mode, claims, all, wellFormed);
    }

    private static void add(Fields fields, String line) {
        FieldName name = line.isEmpty() ? null : name(line.charAt(0));
        byte[] value = line.isEmpty() ? new byte[0] : line.substring(1).strip().getBytes(StandardCharsets.ISO_8859_1);
        for (byte b : value) {
            if (!Ascii.isFieldValue(b)) {
                return; // no adapter lets it pass
            }
        }
        if (name != null) {
            fields.add(name, new AsciiString(value));
        }
    }

    private static @Nullable FieldName name(char letter) {
        return switch (letter) {
            case 'F' -> FieldName.FORWARDED;
            case 'X' -> FieldName.X_FORWARDED_FOR;
            case 'P' -> FieldName.X_FORWARDED_PROTO;
            case 'H' -> FieldName.X_FORWARDED_HOST;
            case 'O' -> FieldName.X_FORWARDED_PORT;
            default -> null;
        };
    }

    /** The hops are those that another reader finds, who begins at the other end. Returns whether all are well-formed. */
    private static boolean checkReading(Fields fields) {
        List<String> listed = new ArrayList<>();
        List<String> standard = new ArrayList<>();
        boolean wellFormed = true;
        for (int i = 0; i < fields.size(); i++) {
            String value = fields.value(i).toString();
            if (fields.id(i) == FieldName.X_FORWARDED_FOR.id()) {
                for (String element : value.split(",", -1)) {
                    listed.add(element.replaceAll("^[ \\t]+|[ \\t]+\\z", ""));
                }
            } else if (fields.id(i) == FieldName.FORWARDED.id()) {
                wellFormed &= readElements(value, standard);
            }
        }
        listed.removeIf(String::isEmpty);
        assertThat(ForwardedHops.all(fields, FieldName.X_FORWARDED_FOR)).isEqualTo(listed);
        List<String> found = ForwardedHops.all(fields, FieldName.FORWARDED);
        assertThat(found.size()).isLessThanOrEqualTo(fields.countElements(FieldName.FORWARDED));
        if (wellFormed) {
            assertThat(found).isEqualTo(standard);
        }
        return wellFormed;
    }

    private static boolean readElements(String value, List<String> to) {
        Matcher matcher = ELEMENT.matcher(value);
        int end = 0;
        while (matcher.lookingAt()) {
            String element = matcher.group("element");
            if (element != null) {
                to.add(node(element));
            }
            end = matcher.end();
            if (end == value.length()) {
                return true;
            }
            matcher.region(end, value.length());
        }
        return end == value.length();
    }

    private static String node(String element) {
        Matcher pairs = INNER.matcher(element);
        while (pairs.find()) {
            Matcher node = NODE.matcher(pairs.group());
            if (node.matches()) {
                return node.group("quoted") != null ? node.group("quoted") : node.group("plain");
            }
        }
        return "";
    }

    /** Whatever stands before what trusted proxies have written, their hops are read alike. */
    private static void checkStrangers(Fields fields) {
        for (FieldName name : List.of(FieldName.FORWARDED, FieldName.X_FORWARDED_FOR)) {
            String trusted = name.equals(FieldName.FORWARDED)
                    ? "For=\"[2001:db8::1]:4711\";Host=\"a.example\";proto=https, for=192.0.2.2"
                    : "[2001:db8::1]:4711, 192.0.2.2";
            Fields behind = new Fields();
            Fields oneLine = new Fields();
            StringBuilder strange = new StringBuilder();
            for (int i = fields.find(name, 0); i >= 0; i = fields.find(name, i + 1)) {
                behind.add(name, fields.value(i));
                strange.append(fields.value(i)).append(',');
            }
            behind.add(name, trusted);
            oneLine.add(name, strange + " " + trusted);
            for (Fields each : List.of(behind, oneLine)) {
                ForwardedHops hops = ForwardedHops.of(each, name);
                assertThat(hops.next()).isEqualTo("192.0.2.2");
                assertThat(hops.next()).isEqualTo("[2001:db8::1]:4711");
                if (name.equals(FieldName.FORWARDED)) {
                    assertThat(hops.claims(Scheme.HTTP, AUTHORITY).target())
                            .isEqualTo(new ClientTarget(Scheme.HTTPS, new AsciiString("a.example"), 443, true));
                }
            }
        }
    }

    private static void checkTarget(ClientTarget target) {
        assertThat(target.scheme().equals(Scheme.HTTP) || target.scheme().equals(Scheme.HTTPS))
                .isTrue();
        assertThat(Authority.isValid(target.authority())).isTrue();
        assertThat(target.port()).isBetween(1, 65535);
    }

    /** What the gateway has written, the next one reads as this one did. */
    private static void checkWritten(
            Fields fields, ForwardedHeaders mode, ForwardedClaims claims, List<String> before, boolean wellFormed) {
        for (int i = 0; i < fields.size(); i++) {
            for (byte b : fields.value(i).toByteArray()) {
                assertThat(Ascii.isFieldValue(b)).isTrue();
            }
        }
        if (mode == ForwardedHeaders.FORWARDED) {
            assertThat(fields.contains(FieldName.X_FORWARDED_FOR)).isFalse();
            assertThat(fields.contains(FieldName.X_FORWARDED_PROTO)).isFalse();
        } else {
            checkList(fields, claims, before);
        }
        if (mode == ForwardedHeaders.X_FORWARDED) {
            assertThat(fields.contains(FieldName.FORWARDED)).isFalse();
        } else {
            // A quote without its end has another end once the lines are one; nobody relies on hops with such ones.
            checkStandard(fields, claims, wellFormed || !claims.isStandard() ? before : null);
        }
    }

    private static void checkList(Fields fields, ForwardedClaims claims, List<String> before) {
        ForwardedHops hops = ForwardedHops.of(fields, FieldName.X_FORWARDED_FOR);
        assertThat(hops.next()).isEqualTo(PEER.toString());
        for (int i = 0; claims.place() > 0 && i < before.size(); i++) {
            String expected = claims.isStandard() ? ForwardedNode.listed(before.get(i)) : before.get(i);
            assertThat(hops.next()).isEqualTo(expected);
        }
        assertThat(hops.next()).isNull();
        ClientTarget read = ForwardedHops.of(fields, FieldName.X_FORWARDED_FOR)
                .claims(Scheme.HTTP, new AsciiString("other.example"))
                .target();
        assertThat(read)
                .isEqualTo(new ClientTarget(
                        claims.target().scheme(),
                        claims.target().authority(),
                        claims.target().port(),
                        true));
    }

    private static void checkStandard(Fields fields, ForwardedClaims claims, @Nullable List<String> before) {
        ForwardedHops hops = ForwardedHops.of(fields, FieldName.FORWARDED);
        assertThat(hops.next()).isEqualTo("[" + PEER + "]");
        ClientTarget own =
                hops.claims(Scheme.HTTP, new AsciiString("other.example")).target();
        if (claims.place() == 0) {
            assertThatObject(own.authority()).isEqualTo(claims.target().authority());
            assertThatObject(own.scheme()).isEqualTo(claims.target().scheme());
        } else {
            assertThat(own).isEqualTo(new ClientTarget(Scheme.HTTP, AUTHORITY, 8443, true));
        }
        if (before == null) {
            return;
        } else if (claims.isStandard()) {
            for (String hop : before) {
                assertThat(hops.next()).isEqualTo(hop);
            }
        } else if (claims.place() > 0) {
            for (int i = 0; i < before.size(); i++) {
                String node = hops.next();
                assertThat(node).matches("[A-Za-z0-9._:\\[\\]-]+");
                if (i + 1 == claims.place()) {
                    ClientTarget client = hops.claims(Scheme.HTTP, new AsciiString("other.example"))
                            .target();
                    assertThatObject(client.scheme()).isEqualTo(claims.target().scheme());
                    assertThatObject(client.authority())
                            .isEqualTo(claims.target().authority());
                }
            }
        }
        assertThat(hops.next()).isNull();
    }
}
