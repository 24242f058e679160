package dev.gateway.upstream.discovery;

import dev.gateway.upstream.EndpointSpec;
import dev.gateway.upstream.SourceStatus;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Source group: one source for each key, and the last endpoints of each. Used by one thread.
 *
 * @param <K> identifies what a source follows
 */
final class SourceGroup<K> {
    private final Function<K, EndpointSource> maker;
    private final Executor thread;
    private final Consumer<K> changed;
    private final Map<K, Member> members = new LinkedHashMap<>();

    /** A source and its last endpoints. Any thread may read both. */
    static final class Member {
        private final EndpointSource source;
        private final CompletableFuture<?> answered = new CompletableFuture<>();
        private volatile Told told = Told.NOTHING;

        private Member(EndpointSource source) {
            this.source = source;
        }

        /** What the source has told last. */
        private record Told(List<EndpointSpec> endpoints, boolean provisional) {
            static final Told NOTHING = new Told(List.of(), true);
        }

        /** Returns the last endpoints, none before the source has told any. */
        List<EndpointSpec> endpoints() {
            return told.endpoints;
        }

        /** Whether the source had no answer yet. */
        boolean isProvisional() {
            return told.provisional;
        }

        /** Is completed when there are endpoints to use, or none can be found at present. */
        CompletableFuture<?> answered() {
            return answered;
        }

        SourceStatus status() {
            return source.status();
        }

        private void onTold(List<EndpointSpec> endpoints, boolean provisional) {
            told = new Told(endpoints, provisional);
            answered.complete(null);
        }
    }

    /**
     * Makes a group without sources.
     *
     * @param maker makes the source for a key
     * @param thread the thread that uses this group
     * @param changed called on that thread after each answer of a source
     */
    SourceGroup(Function<K, EndpointSource> maker, Executor thread, Consumer<K> changed) {
        this.maker = maker;
        this.thread = thread;
        this.changed = changed;
    }

    /** Starts the sources of these keys, and stops all others. */
    void keep(Collection<K> wanted) {
        for (K key : wanted) { // before others stop, so that the answers for a common name stay cached
            if (!members.containsKey(key)) {
                start(key);
            }
        }
        Set<K> kept = Set.copyOf(wanted);
        members.entrySet().removeIf(entry -> {
            boolean unwanted = !kept.contains(entry.getKey());
            if (unwanted) {
                entry.getValue().source.stop();
            }
            return unwanted;
        });
    }

    private void start(K key) {
        Member member = new Member(maker.apply(key));
        members.put(key, member);
        member.source.start((endpoints, provisional) -> {
            member.onTold(endpoints, provisional);
            thread.execute(() -> {
                if (members.get(key) == member) { // else it has been stopped
                    changed.accept(key);
                }
            });
        });
    }

    /** Whether there is a source for a key. */
    boolean has(K key) {
        return members.containsKey(key);
    }

    /** Returns the source for a key, null if there is none. */
    @Nullable
    Member member(K key) {
        return members.get(key);
    }

    /** Returns all sources. */
    Collection<Member> members() {
        return members.values();
    }

    /** Lets all sources look for changes at once. */
    void refresh() {
        members.values().forEach(member -> member.source.refresh());
    }
}
