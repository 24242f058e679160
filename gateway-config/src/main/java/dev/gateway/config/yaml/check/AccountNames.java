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
import java.util.function.Consumer;

/** Reads files of users, tokens and groups for the names in them. No message shows what may be a secret. */
final class AccountNames {
    private AccountNames() {}

    /**
     * Returns the users of a file as htpasswd writes it.
     *
     * @param warning takes what is wrong with some lines, each of which locks out its own user only
     * @throws InvalidException if no line is right
     */
    static Users users(Path file, Consumer<String> warning) throws InvalidException {
        Users users = AccountFile.users(file, text(file));
        warn(users.faults(), users.hashes().isEmpty(), warning);
        return users;
    }

    /** Returns the identities of a file of bearer tokens, in the same way. */
    static Set<String> tokens(Path file, Consumer<String> warning) throws InvalidException {
        Tokens tokens = AccountFile.tokens(file, text(file));
        warn(tokens.faults(), tokens.identities().isEmpty(), warning);
        return new LinkedHashSet<>(tokens.identities().values());
    }

    /** Returns the groups of a file, of which each line must be right: without one, its members might be allowed more. */
    static Set<String> groups(Path file) throws InvalidException {
        Groups groups = AccountFile.groups(file, text(file));
        if (!groups.faults().isEmpty()) {
            throw new InvalidException(AccountFile.summary(groups.faults()));
        }
        return groups.members().keySet();
    }

    private static void warn(List<String> faults, boolean nobodyIsLeft, Consumer<String> warning)
            throws InvalidException {
        if (nobodyIsLeft && !faults.isEmpty()) {
            throw new InvalidException(AccountFile.summary(faults));
        }
        if (!faults.isEmpty()) {
            warning.accept(AccountFile.summary(faults));
        }
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

    private static String text(Path file) throws InvalidException {
        return TextFiles.read(file, StandardCharsets.UTF_8, AccountFile.MAX_MEBIBYTES);
    }
}
