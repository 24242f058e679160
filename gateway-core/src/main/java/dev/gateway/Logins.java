package dev.gateway;

import dev.gateway.filter.auth.ProxyAuthentication;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Whether the files of users, tokens and groups are as they are used. Any thread may ask; one looks at the files. */
final class Logins {
    private static final int MOST_LINES = 10;

    private final Supplier<@Nullable InForce> inForce;

    Logins(Supplier<@Nullable InForce> inForce) {
        this.inForce = inForce;
    }

    private Stream<ProxyAuthentication> all() {
        InForce current = inForce.get();
        return current == null
                ? Stream.empty()
                : current.snapshot.connect().values().stream()
                        .map(ConnectAssembly.Entry::login)
                        .filter(Objects::nonNull);
    }

    /** Looks at the files, also while nobody logs in. */
    void look() {
        all().forEach(ProxyAuthentication::refresh);
    }

    /** Returns what is wrong, a line each. */
    List<String> problems() {
        return all().flatMap(login -> login.problems().stream())
                .flatMap(List::stream)
                .distinct()
                .limit(MOST_LINES)
                .toList();
    }

    /** Counts files that cannot be read, or have lines that cannot. */
    int faultyFiles() {
        return all().mapToInt(login -> login.problems().size()).sum();
    }
}
