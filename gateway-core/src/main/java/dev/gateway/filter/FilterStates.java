package dev.gateway.filter;

import dev.gateway.files.StartException;
import dev.gateway.observe.metrics.Exposition;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;

/**
 * State of filters that outlives a generation: contents of files, counts, what was verified; also the answer times of
 * rules. A filter of the next generation gets the state that one of the active generation has by the same key; what no filter
 * uses any more is dropped. Used by the thread that reloads; any thread may ask for the problems.
 */
public final class FilterStates implements Exposition.Source {
    private static final int MOST_PROBLEMS = 10;
    private static final long PAUSE_MILLIS = 200;
    private static final int MOST_PAUSES = 20;

    private volatile Map<Object, Object> active = Map.of();

    /** A state that follows something outside, such as a file. */
    public interface Watched {
        /** Looks whether that has changed; may block. */
        void look();

        /** Whether that has changed, and may not have changed completely. */
        default boolean isBeingWritten() {
            return false;
        }

        /** Returns why it is not as it should be, a line each. Any thread may ask. */
        List<String> problems();
    }

    /** A state that does something by itself. */
    public interface Running {
        /** No filter of the active generation uses it any more. */
        void end();
    }

    /**
     * Key of a state that counts: says under which names a scrape shows the counts.
     *
     * @param <T> the state
     */
    public interface CountedKey<T> {
        /** Returns the class of the state. */
        Class<T> kind();

        /** Adds what has been counted until now. Any thread. */
        void addTo(Exposition out, T counts);
    }

    /** Makes a state. */
    public interface Maker<T> {
        /** Makes it. */
        T make() throws StartException;
    }

    /** The states of a generation that may come into force. */
    public static final class Prepared {
        private final Map<Object, Object> former;
        private final Map<Object, Object> states = new LinkedHashMap<>();
        private final Map<Object, Runnable> uses = new HashMap<>();

        private Prepared(Map<Object, Object> former) {
            this.former = former;
        }

        /**
         * Returns the state of a key, of the active generation if it has one.
         *
         * @param key equal for filters that share the state, such as a record of the rule's name and the filter's type
         * @throws ClassCastException if the key has a state of another class: a defect
         */
        public <T> T get(Object key, Class<T> of, Maker<T> maker) throws StartException {
            Object known = states.containsKey(key) ? states.get(key) : former.get(key);
            T state = known == null ? maker.make() : of.cast(known);
            states.put(key, state);
            return state;
        }

        /** Returns the state of a key, of the active generation if it has one. */
        public <T> T get(CountedKey<T> key, Maker<T> maker) throws StartException {
            return get(key, key.kind(), maker);
        }

        /** Returns all states of a kind. */
        public <T> List<T> all(Class<T> kind) {
            return states.values().stream()
                    .filter(kind::isInstance)
                    .map(kind::cast)
                    .toList();
        }

        /** Has something done when the generation comes into force: the first thing that is said for a key. */
        public void onUse(Object key, Runnable action) {
            uses.putIfAbsent(key, action);
        }
    }

    /** Begins the states of another generation. */
    public Prepared prepare() {
        return new Prepared(active);
    }

    /** Lets the states of a generation take over. */
    public void use(Prepared prepared) {
        prepared.uses.values().forEach(Runnable::run);
        Map<Object, Object> former = active;
        active = Map.copyOf(prepared.states);
        former.forEach((key, state) -> {
            if (!prepared.states.containsKey(key)) {
                end(state);
            }
        });
    }

    /** Ends all that states do by themselves. */
    public void close() {
        active.values().forEach(FilterStates::end);
    }

    private static void end(Object state) {
        if (state instanceof Running running) {
            running.end();
        }
    }

    /** Shows all states of a kind, with their keys. Any thread may ask. */
    public <T> void forEach(Class<T> kind, BiConsumer<Object, T> reader) {
        active.forEach((key, state) -> {
            if (kind.isInstance(state)) {
                reader.accept(key, kind.cast(state));
            }
        });
    }

    @Override
    public void addTo(Exposition out) {
        active.forEach((key, state) -> {
            if (key instanceof CountedKey<?> counted) {
                addTo(out, counted, state);
            }
        });
    }

    private static <T> void addTo(Exposition out, CountedKey<T> key, Object state) {
        key.addTo(out, key.kind().cast(state));
    }

    /** Looks at all that states follow. */
    public void look() {
        watched().forEach(Watched::look);
    }

    /**
     * Waits until files that have changed are written no more, but not for long. To be called before a reload, which would
     * else read half a list. Blocks.
     */
    public void awaitWriters() {
        awaitWriters(() -> LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS)));
    }

    void awaitWriters(Runnable pause) {
        for (int i = 0; i < MOST_PAUSES && watched().stream().anyMatch(Watched::isBeingWritten); i++) {
            pause.run();
        }
    }

    /** Returns what is wrong, a line each. */
    public List<String> problems() {
        return watched().stream()
                .flatMap(each -> each.problems().stream())
                .distinct()
                .limit(MOST_PROBLEMS)
                .toList();
    }

    /** Counts files and the like that are not as they are used. */
    public int faults() {
        return (int)
                watched().stream().filter(each -> !each.problems().isEmpty()).count();
    }

    private List<Watched> watched() {
        List<Watched> found = new ArrayList<>();
        for (Object state : active.values()) {
            if (state instanceof Watched watched) {
                found.add(watched);
            }
        }
        return found;
    }
}
