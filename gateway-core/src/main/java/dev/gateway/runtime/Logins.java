package dev.gateway.runtime;

import dev.gateway.connect.assembly.ConnectEntry;
import dev.gateway.filter.auth.ProxyAuthentication;
import dev.gateway.runtime.assembly.ActiveConfig;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Status of credentials files: whether the files of users, tokens and groups are as they are used. Any thread may ask; one
 * looks at the files.
 */
public final class Logins {
    private static final int MOST_LINES = 10;

    private final Supplier<@Nullable ActiveConfig> activeConfig;

    /** Makes it for the users of the active configuration. */
    public Logins(Supplier<@Nullable ActiveConfig> activeConfig) {
        this.activeConfig = activeConfig;
    }

    private Stream<ProxyAuthentication> all() {
        ActiveConfig current = activeConfig.get();
        return current == null
                ? Stream.empty()
                : current.snapshot.connect().values().stream()
                        .map(ConnectEntry::login)
                        .filter(Objects::nonNull);
    }

    /** Looks at the files, also while nobody logs in. */
    public void look() {
        all().forEach(ProxyAuthentication::refresh);
    }

    /** Returns what is wrong, a line each. */
    public List<String> problems() {
        return all().flatMap(login -> login.problems().stream())
                .flatMap(List::stream)
                .distinct()
                .limit(MOST_LINES)
                .toList();
    }

    /** Counts files that cannot be read, or have lines that cannot. */
    public int faultyFiles() {
        return all().mapToInt(login -> login.problems().size()).sum();
    }
}
