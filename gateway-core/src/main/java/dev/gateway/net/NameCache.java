package dev.gateway.net;

import java.net.InetAddress;
import java.util.Collection;
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
    private final Map<String, @Nullable Answer[]> names;

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
            protected boolean removeEldestEntry(Map.Entry<String, @Nullable Answer[]> eldest) {
                return size() > maxNames;
            }
        };
    }

    synchronized @Nullable Answer get(String name, Family family) {
        Answer[] answers = names.get(name);
        return answers == null ? null : answers[family.ordinal()];
    }

    synchronized void put(String name, Family family, Answer answer) {
        Answer[] answers = names.computeIfAbsent(name, key -> new Answer[Family.values().length]);
        List<InetAddress> addresses = answer.addresses;
        answers[family.ordinal()] = new Answer(
                List.copyOf(addresses.subList(0, Math.min(addresses.size(), maxAddresses))),
                answer.failure,
                answer.untilNanos,
                answer.goodNanos);
    }

    synchronized void keepOnly(Collection<String> wanted) {
        names.keySet().retainAll(wanted);
    }

    /** Counts names whose addresses stay in use though DNS fails. */
    synchronized int stale() {
        int count = 0;
        for (Answer[] answers : names.values()) {
            boolean stale = false;
            for (Answer answer : answers) {
                stale |= answer != null && answer.isStale();
            }
            count += stale ? 1 : 0;
        }
        return count;
    }
}
