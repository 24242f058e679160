package dev.gateway.config.yaml.check;

import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.TextFiles;
import dev.gateway.format.AccountFile;
import dev.gateway.format.AccountFile.Groups;
import dev.gateway.format.AccountFile.Tokens;
import dev.gateway.format.AccountFile.Users;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Reads files of users, tokens and groups for the names in them. No message shows what may be a secret. */
final class AccountNames {
    private AccountNames() {}

    /** Returns the users of a file as htpasswd writes it. */
    static Users users(Path file) throws InvalidException {
        Users users = AccountFile.users(file, text(file));
        requireNone(users.faults());
        return users;
    }

    /** Returns the identities of a file of bearer tokens. */
    static Set<String> tokens(Path file) throws InvalidException {
        Tokens tokens = AccountFile.tokens(file, text(file));
        requireNone(tokens.faults());
        return new LinkedHashSet<>(tokens.identities().values());
    }

    /** Returns the groups of a file. */
    static Set<String> groups(Path file) throws InvalidException {
        Groups groups = AccountFile.groups(file, text(file));
        requireNone(groups.faults());
        return groups.members().keySet();
    }

    /**
     * Checks a file of one name and password.
     *
     * @param socks whether they are for a SOCKS proxy (RFC 1929)
     */
    static void credentials(Path file, boolean socks) throws InvalidException {
        String text = text(file);
        try {
            AccountFile.nameAndPassword(file, text, socks);
        } catch (IllegalArgumentException e) {
            throw new InvalidException(String.valueOf(e.getMessage()));
        }
    }

    private static void requireNone(List<String> faults) throws InvalidException {
        if (!faults.isEmpty()) {
            throw new InvalidException(faults.get(0));
        }
    }

    private static String text(Path file) throws InvalidException {
        return TextFiles.read(file, StandardCharsets.UTF_8, AccountFile.MAX_MEBIBYTES);
    }
}
