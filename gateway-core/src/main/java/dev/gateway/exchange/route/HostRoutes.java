package dev.gateway.exchange.route;

import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The compiled matches of one host name, wildcard, or of any host. Exact paths and prefixes are found by one pass over
 * the path: each slash ends a prefix, and the hash so far says whether it is one of ours. Immutable.
 */
final class HostRoutes {
    private final ByteTable<Candidate[]> exact;
    private final RegexPath[] regexes;
    private final ByteTable<Prefix> prefixes;
    private final int scanLimit;

    /** The less specific host whose matches are tried when none of these accepts a request, or null. */
    final @Nullable HostRoutes parent;

    private HostRoutes(
            ByteTable<Candidate[]> exact,
            RegexPath[] regexes,
            ByteTable<Prefix> prefixes,
            @Nullable HostRoutes parent) {
        this.exact = exact;
        this.regexes = regexes;
        this.prefixes = prefixes;
        this.parent = parent;
        this.scanLimit = Math.max(0, Math.max(exact.maxKeyLength(), prefixes.maxKeyLength()));
    }

    /** The candidates of a prefix, and the next shorter one, for when none of them accepts. */
    private static final class Prefix {
        final Candidate[] candidates;
        final @Nullable Prefix shorter;

        Prefix(Candidate[] candidates, @Nullable Prefix shorter) {
            this.candidates = candidates;
            this.shorter = shorter;
        }
    }

    /** Finds the candidate for a path, which is {@code length} bytes of {@code path}, and all else of a head. */
    @Nullable
    Candidate match(RequestHead head, AsciiString path, int length) {
        byte[] bytes = path.array();
        int offset = path.arrayOffset();
        Prefix longest = prefixes.get(0, bytes, offset, 0);
        int hash = 0;
        int limit = Math.min(length, scanLimit);
        for (int i = 0; i < limit; i++) {
            byte b = bytes[offset + i];
            if (b == '/' && i > 0) {
                Prefix found = prefixes.get(hash, bytes, offset, i);
                longest = found != null ? found : longest;
            }
            hash = hash * 31 + b;
        }
        if (limit == length || bytes[offset + limit] == '/') {
            Prefix found = prefixes.get(hash, bytes, offset, limit);
            longest = found != null ? found : longest;
        }
        if (limit == length) {
            Candidate[] candidates = exact.get(hash, bytes, offset, length);
            Candidate candidate = candidates == null ? null : Candidate.first(candidates, head);
            if (candidate != null) {
                return candidate;
            }
        }
        for (RegexPath regex : regexes) {
            if (regex.matches(path, length) && regex.candidate.accepts(head)) {
                return regex.candidate;
            }
        }
        for (Prefix prefix = longest; prefix != null; prefix = prefix.shorter) {
            Candidate candidate = Candidate.first(prefix.candidates, head);
            if (candidate != null) {
                return candidate;
            }
        }
        return null;
    }

    static int hash(AsciiString path) {
        int hash = 0;
        for (int i = 0; i < path.length(); i++) {
            hash = hash * 31 + path.byteAt(i);
        }
        return hash;
    }

    /** Collects the matches of one host. */
    public static final class Builder {
        private final Map<AsciiString, List<Candidate>> exact = new HashMap<>();
        private final Map<AsciiString, List<Candidate>> prefixes = new HashMap<>();
        private final List<RegexPath> regexes = new ArrayList<>();

        void exact(AsciiString path, Candidate candidate) {
            exact.computeIfAbsent(path, p -> new ArrayList<>()).add(candidate);
        }

        /** Adds a prefix without a slash at its end, so the root is empty. */
        void prefix(AsciiString path, Candidate candidate) {
            prefixes.computeIfAbsent(path, p -> new ArrayList<>()).add(candidate);
        }

        void regex(RegexPath path) {
            regexes.add(path);
        }

        HostRoutes build(@Nullable HostRoutes parent) {
            Map<AsciiString, Candidate[]> sortedExact = new HashMap<>();
            exact.forEach((path, candidates) -> sortedExact.put(path, Candidate.sorted(candidates)));
            Map<AsciiString, Prefix> linked = new HashMap<>();
            // Shorter ones first, so that each finds those it falls back to.
            prefixes.keySet().stream()
                    .sorted((a, b) -> Integer.compare(a.length(), b.length()))
                    .forEach(path ->
                            linked.put(path, new Prefix(Candidate.sorted(listOf(path)), shorter(path, linked))));
            regexes.sort((a, b) -> Candidate.PRECEDENCE.compare(a.candidate, b.candidate));
            return new HostRoutes(
                    new ByteTable<>(sortedExact, HostRoutes::hash),
                    regexes.toArray(RegexPath[]::new),
                    new ByteTable<>(linked, HostRoutes::hash),
                    parent);
        }

        private List<Candidate> listOf(AsciiString path) {
            return prefixes.getOrDefault(path, List.of());
        }

        private static @Nullable Prefix shorter(AsciiString path, Map<AsciiString, Prefix> linked) {
            for (int i = path.length() - 1; i >= 0; i--) {
                Prefix prefix = path.byteAt(i) == '/' ? linked.get(path.subSequence(0, i)) : null;
                if (prefix != null) {
                    return prefix;
                }
            }
            return null;
        }
    }
}
