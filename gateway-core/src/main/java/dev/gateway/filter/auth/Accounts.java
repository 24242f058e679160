package dev.gateway.filter.auth;

import dev.gateway.stream.Identity;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What the files of credentials say: how each is read. Each result is immutable. */
final class Accounts {
    private static final int SHA256_DIGITS = 64;

    private Accounts() {}

    /** What a file says. */
    interface Content {
        /** Returns what is wrong, line by line. Such a line locks out its own user, and nobody else. */
        List<String> faults();
    }

    /**
     * Users and their passwords.
     *
     * @param decoys all hashes: one of them is checked for a user who does not exist, so that time does not tell who does
     */
    record Users(Map<String, PasswordHash> hashes, List<PasswordHash> decoys, List<String> faults) implements Content {
        static final Users NONE = new Users(Map.of(), List.of(), List.of());

        /** Reads lines of {@code user:hash}, as htpasswd writes them. Of a user with two lines none counts. */
        static Users parse(Path file, String text) {
            List<String> faults = new ArrayList<>();
            Map<String, PasswordHash> hashes = new LinkedHashMap<>();
            Set<String> seen = new HashSet<>();
            for (Line line : Line.of(file, text, faults)) {
                String user = line.name();
                if (!seen.add(user)) {
                    faults.add(line.fault("user " + user + " for a second time"));
                    hashes.remove(user);
                    continue;
                }
                try {
                    hashes.put(user, PasswordHash.parse(line.rest()));
                } catch (IllegalArgumentException e) {
                    faults.add(line.fault("the password of " + user + ": " + e.getMessage()));
                }
            }
            return new Users(Map.copyOf(hashes), List.copyOf(hashes.values()), List.copyOf(faults));
        }

        /**
         * Returns what is checked for a user who does not exist: always the same for a name, and as costly as what is checked
         * for users who do exist, whose hashes may differ in cost.
         *
         * @param name a number that belongs to the name, which nobody else can compute
         */
        @Nullable
        PasswordHash decoy(int name) {
            return decoys.isEmpty() ? null : decoys.get(Math.floorMod(name, decoys.size()));
        }
    }

    /** Who is a member of which groups. */
    record Groups(Map<String, Set<String>> byMember, List<String> faults) implements Content {
        static final Groups NONE = new Groups(Map.of(), List.of());

        /**
         * Reads lines of {@code group: user user}.
         *
         * @throws AuthFileException if a line is wrong: without it, its members might be allowed more than with it
         */
        static Groups parse(Path file, String text) throws AuthFileException {
            List<String> faults = new ArrayList<>();
            Map<String, Set<String>> byMember = new HashMap<>();
            for (Line line : Line.of(file, text, faults)) {
                for (String member : line.rest().strip().split("[ \t]+", -1)) {
                    if (!member.isEmpty()) {
                        byMember.computeIfAbsent(member, key -> new HashSet<>()).add(line.name());
                    }
                }
            }
            if (!faults.isEmpty()) {
                throw new AuthFileException(faults.get(0));
            }
            byMember.replaceAll((member, groups) -> Set.copyOf(groups));
            return new Groups(Map.copyOf(byMember), List.copyOf(faults));
        }

        Identity identity(String name) {
            return new Identity(name, byMember.getOrDefault(name, Set.of()));
        }
    }

    /** Whose bearer tokens are whose; of tokens only digests are kept. */
    record Tokens(Map<Digest, String> owners, List<String> faults) implements Content {
        static final Tokens NONE = new Tokens(Map.of(), List.of());

        private static final String SHA256 = "sha256:";

        /** Reads lines of {@code identity:token}, or {@code identity:sha256:} and the token's digest in hexadecimal. */
        static Tokens parse(Path file, String text) {
            List<String> faults = new ArrayList<>();
            Map<Digest, String> owners = new HashMap<>();
            Set<Digest> seen = new HashSet<>();
            for (Line line : Line.of(file, text, faults)) {
                Digest digest;
                try {
                    digest = digest(line.rest());
                } catch (IllegalArgumentException e) {
                    faults.add(line.fault(String.valueOf(e.getMessage())));
                    continue;
                }
                if (seen.add(digest)) {
                    owners.put(digest, line.name());
                } else {
                    faults.add(line.fault("a token for a second time"));
                    owners.remove(digest);
                }
            }
            return new Tokens(Map.copyOf(owners), List.copyOf(faults));
        }

        private static Digest digest(String token) {
            if (!token.startsWith(SHA256)) {
                if (!Credentials.isToken(token)) {
                    throw new IllegalArgumentException(
                            "a token has letters, digits, and - . _ ~ + / only, and maybe = at its end");
                }
                return digest(token.getBytes(StandardCharsets.US_ASCII));
            }
            String expected = "expected " + SHA256_DIGITS + " hexadecimal digits after sha256:";
            if (token.length() != SHA256.length() + SHA256_DIGITS) {
                throw new IllegalArgumentException(expected);
            }
            try {
                return new Digest(HexFormat.of().parseHex(token, SHA256.length(), token.length()));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(expected, e);
            }
        }

        /** Returns whose token this is, or null. The table is one of digests, so its timing tells nothing of tokens. */
        @Nullable
        String owner(byte[] token) {
            return owners.get(digest(token));
        }

        private static Digest digest(byte[] token) {
            try {
                return new Digest(MessageDigest.getInstance("SHA-256").digest(token));
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException(e); // every platform has it
            }
        }
    }
}
