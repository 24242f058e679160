package dev.gateway.filter.auth;

import dev.gateway.format.AccountFile;
import dev.gateway.format.HashNotation;
import dev.gateway.stream.Identity;
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

/** What the files of credentials say, as it is looked up. Each result is immutable. */
public final class Accounts {
    private Accounts() {}

    /** What a file says. */
    public interface Content {
        /** Returns what is wrong, line by line. Such a line locks out its own user, and nobody else. */
        List<String> faults();
    }

    /**
     * Users and their passwords.
     *
     * @param notations how the hashes are written, to tell whether another reading of the file has the same
     * @param decoys all hashes: one of them is checked for a user who does not exist, so that time does not tell who does
     */
    record Users(
            Map<String, PasswordHash> hashes,
            Map<String, HashNotation> notations,
            List<PasswordHash> decoys,
            List<String> faults)
            implements Content {
        static final Users NONE = new Users(Map.of(), Map.of(), List.of(), List.of());

        /** Reads a file. */
        static Users parse(Path file, String text) {
            AccountFile.Users read = AccountFile.users(file, text);
            Map<String, PasswordHash> hashes = new LinkedHashMap<>();
            List<String> faults = new ArrayList<>(read.faults());
            read.hashes().forEach((user, hash) -> {
                String problem = PasswordHash.problem(hash, ArgonMemory.OF_HEAP);
                if (problem == null) {
                    hashes.put(user, PasswordHash.of(hash));
                } else {
                    faults.add(file + ": user '" + user + "': " + problem);
                }
            });
            return new Users(Map.copyOf(hashes), read.hashes(), List.copyOf(hashes.values()), List.copyOf(faults));
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
         * Reads a file.
         *
         * @throws AuthFileException if a line is wrong: without it, its members might be allowed more than with it
         */
        static Groups parse(Path file, String text) throws AuthFileException {
            AccountFile.Groups read = AccountFile.groups(file, text);
            if (!read.faults().isEmpty()) {
                throw new AuthFileException(read.faults().get(0));
            }
            Map<String, Set<String>> byMember = new HashMap<>();
            read.members()
                    .forEach((group, members) ->
                            members.forEach(member -> byMember.computeIfAbsent(member, key -> new HashSet<>())
                                    .add(group)));
            byMember.replaceAll((member, groups) -> Set.copyOf(groups));
            return new Groups(Map.copyOf(byMember), List.of());
        }

        Identity identity(String name) {
            return new Identity(name, byMember.getOrDefault(name, Set.of()));
        }
    }

    /** Whose bearer tokens are whose; of tokens only digests are kept. */
    public record Tokens(Map<Digest, String> owners, List<String> faults) implements Content {
        static final Tokens NONE = new Tokens(Map.of(), List.of());

        /** Reads a file. */
        static Tokens parse(Path file, String text) {
            return of(AccountFile.tokens(file, text));
        }

        /** Makes the table of what was read. */
        public static Tokens of(AccountFile.Tokens read) {
            Map<Digest, String> owners = new HashMap<>();
            read.identities()
                    .forEach((digest, identity) ->
                            owners.put(new Digest(HexFormat.of().parseHex(digest)), identity));
            return new Tokens(Map.copyOf(owners), read.faults());
        }

        /** Returns whose token this is, or null. The table is one of digests, so its timing tells nothing of tokens. */
        public @Nullable String owner(byte[] token) {
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
