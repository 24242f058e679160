package dev.gateway.filter.auth;

import dev.gateway.filter.auth.Accounts.Content;
import dev.gateway.filter.auth.Accounts.Groups;
import dev.gateway.filter.auth.Accounts.Tokens;
import dev.gateway.filter.auth.Accounts.Users;
import dev.gateway.format.HashNotation;
import dev.gateway.stream.Identity;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The files of one authentication filter. A change holds a second later at most: a request that finds that nobody has
 * looked for longer, waits for a look.
 */
final class AccountFiles {
    private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final @Nullable WatchedFile<Users> users;
    private final @Nullable WatchedFile<Groups> groups;
    private final @Nullable WatchedFile<Tokens> tokens;
    private final VerifiedCredentials<Identity> verified;
    private final LongSupplier nanoClock;
    private volatile State state;
    private volatile long lookedNanos;

    /** What all files say; another object whenever one of them says something else. */
    record State(Users users, Groups groups, Tokens tokens) {
        /** Whether a user whose password was right according to another state has the same password and groups now. */
        boolean keeps(Identity known, State before) {
            HashNotation hash = users.notations().get(known.name());
            return hash != null
                    && hash.equals(before.users.notations().get(known.name()))
                    && groups.identity(known.name()).equals(known);
        }
    }

    /**
     * Reads those files that are not null.
     *
     * @param verified passwords that were right; those of users whose lines have not changed stay known
     */
    AccountFiles(
            @Nullable Path usersFile,
            @Nullable Path groupsFile,
            @Nullable Path tokensFile,
            VerifiedCredentials<Identity> verified,
            LongSupplier nanoClock)
            throws AuthFileException {
        this.verified = verified;
        this.nanoClock = nanoClock;
        users = open(usersFile, Users::parse);
        groups = open(groupsFile, Groups::parse);
        tokens = open(tokensFile, Tokens::parse);
        state = read();
        lookedNanos = nanoClock.getAsLong();
    }

    private static <T extends Content> @Nullable WatchedFile<T> open(@Nullable Path path, WatchedFile.Parser<T> parser)
            throws AuthFileException {
        return path == null ? null : new WatchedFile<>(path, parser);
    }

    private State read() {
        return new State(
                users == null ? Users.NONE : users.value(),
                groups == null ? Groups.NONE : groups.value(),
                tokens == null ? Tokens.NONE : tokens.value());
    }

    /** Returns what the files said at the last look. */
    State state() {
        return state;
    }

    /** Returns what is wrong with the files, one list for each file that something is wrong with. */
    List<List<String>> problems() {
        return Stream.of(users, groups, tokens)
                .filter(Objects::nonNull)
                .map(WatchedFile::problems)
                .filter(problems -> !problems.isEmpty())
                .toList();
    }

    /** Whether the last look is recent enough, or there is nothing to look at. */
    boolean isFresh() {
        return (users == null && groups == null && tokens == null) || nanoClock.getAsLong() - lookedNanos < FRESH_NANOS;
    }

    /** Looks at the files unless somebody just did. Blocks; not for event loops. */
    @SuppressWarnings("ReferenceEquality") // what a file says is the same object until it changes
    synchronized void refresh() {
        if (isFresh()) {
            return;
        }
        refresh(users);
        refresh(groups);
        refresh(tokens);
        State now = read();
        State last = state;
        if (now.users != last.users || now.groups != last.groups || now.tokens != last.tokens) {
            verified.carryOver(last, now, known -> now.keeps(known, last));
            state = now;
        }
        lookedNanos = nanoClock.getAsLong();
    }

    private static void refresh(@Nullable WatchedFile<?> file) {
        if (file != null) {
            file.refresh();
        }
    }
}
