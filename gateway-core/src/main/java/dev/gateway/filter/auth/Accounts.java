package dev.gateway.filter.auth;

import dev.gateway.stream.Identity;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What the files of credentials say: how each is read. Each result is immutable. */
final class Accounts {
    private static final int SHA256_DIGITS = 64;

    private Accounts() {}

    /**
     * Users and their passwords.
     *
     * @param decoy the hash that takes longest of all: what is checked for a user who does not exist, so that time does
     *     not tell who does; null if there are no users
     */
    record Users(Map<String, PasswordHash> hashes, @Nullable PasswordHash decoy) {
        static final Users NONE = new Users(Map.of(), null);

        /** Reads lines of {@code user:hash}, as htpasswd writes them. */
        static Users parse(Path file, String text) throws AuthFileException {
            Map<String, PasswordHash> hashes = new HashMap<>();
            PasswordHash decoy = null;
            for (Line line : Line.of(file, text)) {
                String user = line.name();
                PasswordHash hash;
                try {
                    hash = PasswordHash.parse(line.rest());
                } catch (IllegalArgumentException e) {
                    throw line.problem("the password of " + user + ": " + e.getMessage());
                }
                if (hashes.put(user, hash) != null) {
                    throw line.problem("user " + user + " for a second time");
                }
                decoy = decoy == null || hash.cost() > decoy.cost() ? hash : decoy;
            }
            return new Users(Map.copyOf(hashes), decoy);
        }
    }

    /** Who is a member of which groups. */
    record Groups(Map<String, Set<String>> byMember) {
        static final Groups NONE = new Groups(Map.of());

        /** Reads lines of {@code group: user user}. */
        static Groups parse(Path file, String text) throws AuthFileException {
            Map<String, Set<String>> byMember = new HashMap<>();
            for (Line line : Line.of(file, text)) {
                for (String member : line.rest().strip().split("[ \t]+", -1)) {
                    if (!member.isEmpty()) {
                        byMember.computeIfAbsent(member, key -> new HashSet<>()).add(line.name());
                    }
                }
            }
            byMember.replaceAll((member, groups) -> Set.copyOf(groups));
            return new Groups(Map.copyOf(byMember));
        }

        Identity identity(String name) {
            return new Identity(name, byMember.getOrDefault(name, Set.of()));
        }
    }

    /** Whose bearer tokens are whose; of tokens only digests are kept. */
    record Tokens(Map<Digest, String> owners) {
        static final Tokens NONE = new Tokens(Map.of());

        private static final String SHA256 = "sha256:";

        /** Reads lines of {@code identity:token}, or {@code identity:sha256:} and the token's digest in hexadecimal. */
        static Tokens parse(Path file, String text) throws AuthFileException {
            Map<Digest, String> owners = new HashMap<>();
            for (Line line : Line.of(file, text)) {
                String token = line.rest();
                Digest digest;
                if (token.startsWith(SHA256)) {
                    try {
                        digest = new Digest(HexFormat.of().parseHex(token, SHA256.length(), token.length()));
                    } catch (IllegalArgumentException e) {
                        throw line.problem("expected " + SHA256_DIGITS + " hexadecimal digits after sha256:");
                    }
                    if (token.length() != SHA256.length() + SHA256_DIGITS) {
                        throw line.problem("expected " + SHA256_DIGITS + " hexadecimal digits after sha256:");
                    }
                } else if (Credentials.isToken(token)) {
                    digest = digest(token.getBytes(StandardCharsets.US_ASCII));
                } else {
                    throw line.problem("a token has letters, digits, and - . _ ~ + / only, and maybe = at its end");
                }
                if (owners.put(digest, line.name()) != null) {
                    throw line.problem("a token for a second time");
                }
            }
            return new Tokens(Map.copyOf(owners));
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
