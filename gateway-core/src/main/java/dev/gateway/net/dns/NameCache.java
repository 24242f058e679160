package dev.gateway.net.dns;

import java.net.Inet6Address;
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

    /**
     * Whether the last answer says that a name has addresses of this one's family, and not this one. Not so if DNS has failed
     * since, nor if there were more addresses than are kept.
     */
    synchronized boolean isFormer(String name, InetAddress address) {
        Answer answer = get(name, address instanceof Inet6Address ? Family.IPV6 : Family.IPV4);
        return answer != null
                && answer.isGood()
                && answer.addresses.size() < maxAddresses
                && !answer.addresses.contains(address);
    }

    /** Returns when a good answer for a name has to be asked for again first; {@code otherwise} if there is none. */
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
