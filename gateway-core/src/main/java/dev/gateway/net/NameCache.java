package dev.gateway.net;

import java.net.InetAddress;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What DNS has said of names, for all event loops together. Holds a limited number of names, those asked for last, and a
 * limited number of addresses for each.
 */
final class NameCache {
    private final int maxAddresses;
    private final Map<String, Map<Family, Answer>> names;

    /**
     * The last answer of one family for a name.
     *
     * @param addresses none if there are none; with a failure, those that were given before it
     * @param failure of the last query, null if it was answered
     * @param untilNanos when to ask again, by {@link System#nanoTime}
     * @param goodNanos when the addresses were given
     */
    record Answer(List<InetAddress> addresses, @Nullable Throwable failure, long untilNanos, long goodNanos) {
        /** Whether a name server has said so, and not long ago. */
        boolean isGood() {
            return failure == null && !addresses.isEmpty();
        }

        /** Whether addresses stay in use though DNS fails. */
        boolean isStale() {
            return failure != null && !addresses.isEmpty();
        }
    }

    NameCache(int maxNames, int maxAddresses) {
        this.maxAddresses = maxAddresses;
        this.names = new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Map<Family, Answer>> eldest) {
                return size() > maxNames;
            }
        };
    }

    synchronized @Nullable Answer get(String name, Family family) {
        Map<Family, Answer> answers = names.get(name);
        return answers == null ? null : answers.get(family);
    }

    synchronized void put(String name, Family family, Answer answer) {
        List<InetAddress> addresses = answer.addresses;
        Answer bounded = new Answer(
                List.copyOf(addresses.subList(0, Math.min(addresses.size(), maxAddresses))),
                answer.failure,
                answer.untilNanos,
                answer.goodNanos);
        names.computeIfAbsent(name, unknown -> new EnumMap<>(Family.class)).put(family, bounded);
    }

    synchronized void keepOnly(Collection<String> wanted) {
        names.keySet().retainAll(wanted);
    }

    /** Counts names whose addresses stay in use though DNS fails. */
    synchronized int stale() {
        return (int) names.values().stream()
                .filter(answers -> answers.values().stream().anyMatch(Answer::isStale))
                .count();
    }
}
