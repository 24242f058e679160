package dev.gateway.filter.auth;

import dev.gateway.filter.auth.Accounts.Groups;
import dev.gateway.stream.Identity;
import java.nio.file.Path;

/** Group membership: looks up the groups of a client, for explaining a request that nobody has sent. */
public final class Membership {
    private Membership() {}

    /**
     * Reads a file of groups; blocks.
     *
     * @throws AuthFileException if it cannot be used
     */
    public static Identity of(String name, Path groupsFile) throws AuthFileException {
        return new WatchedFile<>(groupsFile, Groups::parse).value().identity(name);
    }
}
