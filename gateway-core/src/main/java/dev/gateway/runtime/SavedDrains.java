package dev.gateway.runtime;

import dev.gateway.files.FileFault;
import dev.gateway.runtime.DrainFile.Entry;
import dev.gateway.runtime.assembly.ActiveConfig;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.SourceStatus;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.discovery.EndpointFeeds;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drains that survive a restart: the file in {@code stateDirectory} says what drains. It is read at the start, and written when
 * an operator or a change of endpoints changes that. Does nothing without the key. Used by the reload thread; any thread may
 * ask for the problem.
 */
public final class SavedDrains {
    private static final Logger log = LoggerFactory.getLogger(SavedDrains.class);

    /** The number of drains from before the start; those since then have others. */
    private static final long RESUMED = 0;

    private final EndpointFeeds feeds;
    private @Nullable List<Upstream> upstreams; // null before the start
    private @Nullable DrainFile file; // null if nothing is to survive
    private @Nullable Map<Place, Long> saved; // what the file has of this process; null if it must be written whole
    private Set<String> fresh = Set.of(); // upstreams whose sources were all up to date at the last look
    private volatile String problem = "";

    /** An endpoint of an upstream. The number of its drain goes with it: one with the same number has the same end. */
    private record Place(String upstream, String endpoint) {
        static Place of(Entry entry) {
            return new Place(entry.upstream(), entry.endpoint());
        }
    }

    SavedDrains(EndpointFeeds feeds) {
        this.feeds = feeds;
    }

    /**
     * A configuration takes over. If it is the first, what drained before the start drains again.
     *
     * @param next whose upstreams get no requests yet, if it is the first
     */
    void use(ActiveConfig next) {
        boolean starts = upstreams == null;
        List<Upstream> all = next.config.upstreams().stream()
                .map(each -> Objects.requireNonNull(next.upstream(each.name())))
                .toList();
        upstreams = all;
        Path directory = next.config.stateDirectory();
        DrainFile wanted = directory == null ? null : new DrainFile(directory);
        if (Objects.equals(file, wanted)) {
            return;
        }
        file = wanted;
        problem = "";
        saved = null;
        if (wanted == null) {
            return;
        }
        try {
            prepare(wanted);
        } catch (IOException e) {
            report(e);
        }
        if (starts) { // else it does not matter what is there
            saved = resume(wanted, next, all);
        }
    }

    private static void prepare(DrainFile to) throws IOException {
        String warning = to.prepare();
        if (!warning.isEmpty()) {
            log.warn(warning);
        }
    }

    /** Returns what the file has. */
    private static Map<Place, Long> resume(DrainFile from, ActiveConfig next, List<Upstream> all) {
        List<Entry> entries = List.of();
        try {
            entries = Objects.requireNonNullElse(from.read(), List.of());
        } catch (IOException e) { // the file stays as it is until something is to be written
            log.warn("{}; the gateway starts with no endpoint drained", FileFault.message(e));
        }
        Map<Place, Long> gone = new HashMap<>();
        Instant now = Instant.now();
        for (Entry entry : entries) {
            Upstream upstream = next.upstream(entry.upstream());
            Instant until = entry.sessionsUntil();
            if (upstream == null) {
                gone.put(Place.of(entry), RESUMED);
            } else {
                long stay = until == null || upstream.sessions() == null ? 0 : nanos(Duration.between(now, until));
                boolean found = upstream.health().resumeDrain(entry.endpoint(), RESUMED, stay);
                log.info(
                        found
                                ? "Endpoint {} of upstream {} drains, as before the start"
                                : "Endpoint {} of upstream {} will drain, as before the start, if it is found",
                        entry.endpoint(),
                        upstream);
            }
        }
        gone.keySet()
                .forEach(place -> log.info(
                        "Endpoint {} of upstream {} is not drained any more: there is no such upstream",
                        place.endpoint(),
                        place.upstream()));
        Map<Place, Long> had = numbers(all);
        had.putAll(gone);
        return had;
    }

    private static long nanos(Duration duration) {
        Duration most = Duration.ofNanos(Long.MAX_VALUE / 2);
        return duration.isNegative() ? 0 : (duration.compareTo(most) > 0 ? most : duration).toNanos();
    }

    private static Map<Place, Long> numbers(List<Upstream> of) {
        Map<Place, Long> numbers = new HashMap<>();
        for (Upstream upstream : of) {
            if (upstream.health().hasDrains()) {
                upstream.health()
                        .drains()
                        .forEach(each -> numbers.put(new Place(upstream.name(), each.endpoint()), each.number()));
            }
        }
        return numbers;
    }

    private static Map<Place, Entry> entries(List<Upstream> of) {
        Map<Place, Entry> entries = new LinkedHashMap<>();
        Instant now = Instant.now();
        for (Upstream upstream : of) {
            for (Health.Drain drain : upstream.health().drains()) {
                Instant until = drain.number() == Health.Drain.NO_SESSIONS
                        ? null
                        : now.plusNanos(drain.sessionsNanos()).truncatedTo(ChronoUnit.SECONDS);
                Entry entry = new Entry(upstream.name(), drain.endpoint(), until);
                entries.put(Place.of(entry), entry);
            }
        }
        return entries;
    }

    /**
     * Writes what drains now, because an operator has changed it.
     *
     * @return why that fails; empty if it does not
     */
    String save() {
        DrainFile to = file;
        List<Upstream> of = upstreams;
        if (to == null || of == null) {
            return "";
        }
        try {
            write(to, of);
        } catch (IOException e) {
            saved = null; // what an operator has asked for is not in the file
            report(e);
        }
        return problem;
    }

    private void write(DrainFile to, List<Upstream> of) throws IOException {
        Map<Place, Long> now = numbers(of);
        to.write(entries(of).values());
        onWritten(now);
    }

    private void onWritten(Map<Place, Long> now) {
        saved = now;
        if (!problem.isEmpty()) {
            problem = "";
            log.info("Drains of endpoints survive a restart again");
        }
    }

    private void report(IOException failure) {
        String what = "drains of endpoints will not survive a restart: " + FileFault.message(failure);
        if (!what.equals(problem)) { // else the log has it
            problem = what;
            log.warn(what);
        }
    }

    /** Follows changes that no operator has made, such as of endpoints; on the thread, from time to time. */
    public void look() {
        DrainFile to = file;
        List<Upstream> of = upstreams;
        if (to == null || of == null) {
            return;
        }
        forgetGone(of);
        try {
            Map<Place, Long> before = saved;
            Map<Place, Long> now = numbers(of);
            if (before == null) {
                write(to, of);
            } else if (!now.equals(before)) {
                writeChanges(to, before, now, of);
            } else if (!problem.isEmpty()) {
                prepare(to);
                onWritten(now);
            }
        } catch (IOException e) {
            report(e);
        }
    }

    /**
     * Changes in the file what has changed here. The rest of it stays: before and after a hand-over, the other process may
     * have written it, and may know better what operators want.
     */
    private void writeChanges(DrainFile to, Map<Place, Long> before, Map<Place, Long> now, List<Upstream> of)
            throws IOException {
        List<Entry> there = to.read();
        if (there == null) {
            write(to, of);
            return;
        }
        Map<Place, Entry> own = entries(of);
        List<Entry> next = new ArrayList<>();
        for (Entry entry : there) {
            Place place = Place.of(entry);
            Entry changed = own.get(place);
            if (Objects.equals(before.get(place), now.get(place))) {
                next.add(entry);
            } else if (changed != null) {
                next.add(changed);
            }
        }
        if (!next.equals(there)) {
            to.write(next);
        }
        onWritten(now);
    }

    /** Forgets drains of endpoints that there are no more, as far as all sources of an upstream say so. */
    private void forgetGone(List<Upstream> of) {
        Set<String> now = new HashSet<>();
        for (Upstream upstream : of) {
            boolean known = upstream.health().expectsDrains()
                    && feeds.sources(upstream.name()).stream()
                            .allMatch(source -> source.status().state() == SourceStatus.State.FRESH);
            if (known && fresh.contains(upstream.name())) { // twice: by now it has what the sources have told
                List<String> gone = upstream.health().forgetExpectedDrains();
                if (!gone.isEmpty()) {
                    log.info(
                            "Not drained any more, because upstream {} has no such endpoint: {}",
                            upstream,
                            String.join(", ", gone));
                }
            }
            if (known) {
                now.add(upstream.name());
            }
        }
        fresh = now;
    }

    /** Returns why drains do not survive a restart, empty if they do, or need not. */
    public String problem() {
        return problem;
    }
}
