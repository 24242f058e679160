package dev.gateway.format;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.format.AccountFile.NameAndPassword;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Fuzz target: a file of accounts, read as each of its kinds. A line is accepted or a fault with its place; a name or token of two
 * lines is nobody's; and no message shows what follows the colon.
 */
final class AccountFileFuzz {
    private static final Path FILE = Path.of("file");
    private static final Pattern FAULT = Pattern.compile("(?s)file:(?<line>[0-9]+):(?<column>[0-9]+): (?<problem>.+)");

    private record Line(int number, String name, String rest) {}

    private AccountFileFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        String text = new String(input, StandardCharsets.UTF_8);
        List<Line> lines = lines(text);
        AccountFile.Users users = AccountFile.users(FILE, text);
        checkFaults(users.faults(), text);
        checkUsers(users, lines);
        AccountFile.Tokens tokens = AccountFile.tokens(FILE, text);
        checkFaults(tokens.faults(), text);
        checkTokens(tokens, lines);
        AccountFile.Tokens keys = AccountFile.keys(FILE, text);
        checkFaults(keys.faults(), text);
        assertThat(keys.identities().keySet()).allMatch(digest -> digest.matches("[0-9a-f]{64}"));
        AccountFile.Groups groups = AccountFile.groups(FILE, text);
        checkFaults(groups.faults(), text);
        checkGroups(groups, lines);
        checkPassword(text, lines, false);
        checkPassword(text, lines, true);
    }

    private static List<Line> lines(String text) {
        List<Line> lines = new ArrayList<>();
        int number = 0;
        for (String raw : text.replaceFirst("^\ufeff", "").split("\r\n|\r|\n", -1)) {
            number++;
            String line = raw.strip();
            int colon = line.indexOf(':');
            if (colon > 0 && !line.startsWith("#")) {
                lines.add(new Line(
                        number,
                        line.substring(0, colon).strip(),
                        line.substring(colon + 1).strip()));
            }
        }
        lines.removeIf(line -> line.name.isEmpty() || line.name.chars().anyMatch(Character::isISOControl));
        return lines;
    }

    private static void checkFaults(List<String> faults, String text) {
        String[] lines = text.replaceFirst("^\ufeff", "").split("\r\n|\r|\n", -1);
        for (String fault : faults) {
            Matcher matcher = FAULT.matcher(fault);
            assertThat(matcher.matches()).as(fault).isTrue();
            String problem = matcher.group("problem");
            assertThat(problem.chars()).noneMatch(Character::isISOControl);
            String line = lines[Integer.parseInt(matcher.group("line")) - 1];
            assertThat(Integer.parseInt(matcher.group("column"))).isBetween(1, line.length());
            int colon = line.indexOf(':');
            String rest = line.substring(colon + 1).strip();
            boolean mayBeSecret = colon >= 0
                    && rest.length() >= 8
                    && !line.substring(0, colon).contains(rest);
            assertThat(mayBeSecret && problem.contains(rest) && !isPartOfHelp(rest))
                    .as(fault)
                    .isFalse();
        }
    }

    /** Whether a text stands in what every such message says, so that it tells nothing. */
    private static boolean isPartOfHelp(String text) {
        return "htpasswd -B a line of htdigest: write the file with (bcrypt, argon2, SHA-crypt, MD5 as $apr1$, {SHA}): expected letters, digits"
                .contains(text);
    }

    private static void checkUsers(AccountFile.Users users, List<Line> lines) {
        Set<String> once = lines.stream()
                .filter(line -> lines.stream()
                                .filter(each -> each.name.equals(line.name))
                                .count()
                        == 1)
                .map(Line::name)
                .collect(Collectors.toSet());
        users.hashes().forEach((name, hash) -> {
            assertThat(once).contains(name);
            assertThat(hash.toString()).isEqualTo(HashNotation.HIDDEN);
        });
        for (Line line : lines) {
            boolean isHash = isHash(line.rest);
            assertThat(users.hashes().containsKey(line.name)).isEqualTo(isHash && once.contains(line.name));
        }
    }

    private static boolean isHash(String text) {
        try {
            assertThat(HashNotations.parse(text).toString()).isEqualTo(HashNotation.HIDDEN);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static void checkTokens(AccountFile.Tokens tokens, List<Line> lines) {
        Map<String, List<String>> owners = new LinkedHashMap<>();
        for (Line line : lines) {
            String digest = null;
            if (line.rest.matches("sha256:[0-9A-Fa-f]{64}")) {
                digest = line.rest.substring(7).toLowerCase(Locale.ROOT);
            } else if (line.rest.matches("[A-Za-z0-9._~+/-]+=*")) {
                digest = sha256(line.rest);
            }
            if (digest != null) {
                owners.computeIfAbsent(digest, each -> new ArrayList<>()).add(line.name);
            }
        }
        owners.values().removeIf(each -> each.size() > 1);
        assertThat(tokens.identities().keySet()).isEqualTo(owners.keySet());
        owners.forEach(
                (digest, owner) -> assertThat(tokens.identities().get(digest)).isEqualTo(owner.get(0)));
    }

    private static String sha256(String token) {
        try {
            byte[] bytes = token.getBytes(StandardCharsets.US_ASCII);
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void checkGroups(AccountFile.Groups groups, List<Line> lines) {
        Map<String, Set<String>> expected = new LinkedHashMap<>();
        for (Line line : lines) {
            Set<String> members = expected.computeIfAbsent(line.name, name -> new LinkedHashSet<>());
            Arrays.stream(line.rest.split("[ \t]+", -1))
                    .filter(each -> !each.isEmpty())
                    .forEach(members::add);
        }
        assertThat(groups.members()).isEqualTo(expected);
    }

    private static void checkPassword(String text, List<Line> lines, boolean socks) {
        try {
            NameAndPassword pair = AccountFile.nameAndPassword(FILE, text, socks);
            assertThat(lines).hasSize(1);
            assertThat(pair).isEqualTo(new NameAndPassword(lines.get(0).name, lines.get(0).rest));
            assertThat(pair.password()).isNotEmpty();
            assertThat(pair.toString()).isEqualTo("***");
            assertThat(socks && pair.password().getBytes(StandardCharsets.UTF_8).length > 255)
                    .isFalse();
        } catch (IllegalArgumentException e) {
            String problem = String.valueOf(e.getMessage());
            if (!problem.startsWith("nothing in file")) {
                checkFaults(List.of(problem), text);
            }
        }
    }
}
