package dev.gateway.net.dns;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Cache of DNS answers, which all event loops share. Holds a limited number of names, the last used ones, and a limited
 * number of addresses for each.
 */
final class NameCache {
    private final int maxAddresses;
    private final Map<String, Map<Family, Answer>> names;
    private final Map<InetAddress, Set<String>> byAddress = new HashMap<>();

    /**
     * The last answer of one family for a name.
     *
     * @param addresses the addresses, may be empty; after a failure, those of the last good answer
     * @param failure the failure of the last query, null if it was answered
     * @param untilNanos when to ask again, by {@link System#nanoTime}
     * @param goodNanos when DNS gave the addresses
     */
    record Answer(List<InetAddress> addresses, @Nullable Throwable failure, long untilNanos, long goodNanos) {
        /** Whether the last query was answered with addresses. */
        boolean isGood() {
            return failure == null && !addresses.isEmpty();
        }

        /** Whether DNS need not be asked yet. */
        boolean isValid() {
            return System.nanoTime() - untilNanos < 0;
        }

        /** Whether addresses stay in use although the last query failed. */
        boolean isStale() {
            return failure != null && !addresses.isEmpty();
        }
    }

    NameCache(int maxNames, int maxAddresses) {
        this.maxAddresses = maxAddresses;
        this.names = new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Map<Family, Answer>> eldest) {
                boolean full = size() > maxNames;
                if (full) {
                    eldest.getValue().values().forEach(answer -> unlist(eldest.getKey(), answer));
                }
                return full;
            }
        };
    }

    synchronized @Nullable Answer get(String name, Family family) {
        Map<Family, Answer> answers = names.get(name);
        return answers == null ? null : answers.get(family);
    }

    /** What an answer changes for a name, whichever event loop has asked, and for whichever family. */
    enum Turn {
        NONE,
        /** Addresses stay in use although DNS fails, since now. */
        STALE,
        /** No address stays in use although DNS fails any more. */
        FRESH
    }

    /** Keeps an answer, and returns what it changes for the name. */
    synchronized Turn put(String name, Family family, Answer answer) {
        List<InetAddress> addresses = answer.addresses;
        Answer bounded = new Answer(
                List.copyOf(addresses.subList(0, Math.min(addresses.size(), maxAddresses))),
                answer.failure,
                answer.untilNanos,
                answer.goodNanos);
        Map<Family, Answer> answers = names.computeIfAbsent(name, unknown -> new EnumMap<>(Family.class));
        boolean wasStale = isStale(answers);
        Answer before = answers.put(family, bounded);
        if (before != null) {
            unlist(name, before);
        }
        bounded.addresses.forEach(address ->
                byAddress.computeIfAbsent(address, unknown -> new HashSet<>(2)).add(name));
        boolean isStale = isStale(answers);
        if (wasStale == isStale) {
            return Turn.NONE;
        }
        return isStale ? Turn.STALE : Turn.FRESH;
    }

    private static boolean isStale(Map<Family, Answer> answers) {
        return answers.values().stream().anyMatch(Answer::isStale);
    }

    private void unlist(String name, Answer former) {
        for (InetAddress address : former.addresses) {
            byAddress.computeIfPresent(address, (any, of) -> {
                of.remove(name);
                return of.isEmpty() ? null : of;
            });
        }
    }

    /** Returns the names whose answers have an address. */
    synchronized Set<String> namesOf(InetAddress address) {
        return Set.copyOf(byAddress.getOrDefault(address, Set.of()));
    }

    /**
     * Whether a name no longer has an address: its last answer has other addresses of the same family. False if DNS has
     * failed since, or if there were more addresses than the cache keeps.
     */
    synchronized boolean isFormer(String name, InetAddress address) {
        Answer answer = get(name, address instanceof Inet6Address ? Family.IPV6 : Family.IPV4);
        return answer != null
                && answer.isGood()
                && answer.addresses.size() < maxAddresses
                && !answer.addresses.contains(address);
    }

    /** Returns when the first good answer for a name expires; {@code otherwise} if there is none. */
    synchronized long goodUntilNanos(String name, long otherwise) {
        Map<Family, Answer> answers = names.getOrDefault(name, Map.of());
        long first = otherwise;
        boolean found = false;
        for (Answer answer : answers.values()) {
            if (answer.isGood() && (!found || answer.untilNanos - first < 0)) {
                first = answer.untilNanos;
                found = true;
            }
        }
        return first;
    }

    /** Returns the newest answer of a name that has addresses, but a stale one before others; null if no answer has any. */
    synchronized @Nullable Answer standing(String name) {
        Answer standing = null;
        for (Answer answer : names.getOrDefault(name, Map.of()).values()) {
            boolean rather = standing == null
                    || (answer.isStale() && !standing.isStale())
                    || (answer.isStale() == standing.isStale() && answer.goodNanos - standing.goodNanos > 0);
            if (!answer.addresses.isEmpty() && rather) {
                standing = answer;
            }
        }
        return standing;
    }

    /** Has DNS asked for all names before they are used next, except for these. */
    synchronized void expire(Predicate<String> except) {
        long now = System.nanoTime();
        names.forEach((name, answers) -> {
            if (!except.test(name)) {
                answers.replaceAll(
                        (family, answer) -> new Answer(answer.addresses, answer.failure, now, answer.goodNanos));
            }
        });
    }

    synchronized void forget(String name) {
        Map<Family, Answer> former = names.remove(name);
        if (former != null) {
            former.values().forEach(answer -> unlist(name, answer));
        }
    }

    /** Counts names whose addresses stay in use although DNS fails. */
    synchronized int stale(Predicate<String> counted) {
        return (int) names.entrySet().stream()
                .filter(entry -> entry.getValue().values().stream().anyMatch(Answer::isStale))
                .filter(entry -> counted.test(entry.getKey()))
                .count();
    }
}
