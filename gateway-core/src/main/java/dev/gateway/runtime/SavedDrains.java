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
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
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
    private @Nullable ActiveConfig current;
    private @Nullable DrainFile file; // null if nothing is to survive
    private byte[] content = DrainFile.NOTHING; // of the file, when this process has last read or written it
    private @Nullable List<Drain> saved; // what that means; null if it must be written again
    private Set<String> fresh = Set.of(); // upstreams whose sources were all up to date at the last look
    private volatile String problem = "";

    /** A drain; one with the same number has the same end. */
    private record Drain(String upstream, String endpoint, long number) {}

    SavedDrains(EndpointFeeds feeds) {
        this.feeds = feeds;
    }

    /**
     * A configuration takes over. If it is the first, what drained before the start drains again.
     *
     * @param next whose upstreams get no requests yet, if it is the first
     */
    void use(ActiveConfig next) {
        boolean starts = current == null;
        current = next;
        Path directory = next.config.stateDirectory();
        DrainFile wanted = directory == null ? null : new DrainFile(directory);
        if (Objects.equals(file, wanted)) {
            return;
        }
        file = wanted;
        problem = "";
        saved = null;
        if (wanted != null) {
            begin(wanted, next, starts);
        }
    }

    private void begin(DrainFile from, ActiveConfig next, boolean starts) {
        try {
            from.prepare();
        } catch (IOException e) {
            report(e);
        }
        content = DrainFile.NOTHING;
        try {
            content = from.read();
            if (starts) {
                resume(from.parse(content), next);
            }
        } catch (IOException e) {
            saved = drains(next); // the file stays as it is until something else is to be written
            log.warn("{}{}", FileFault.message(e), starts ? "; the gateway starts with no endpoint drained" : "");
        }
    }

    private void resume(List<Entry> entries, ActiveConfig next) {
        List<Entry> gone = new ArrayList<>();
        Instant now = Instant.now();
        for (Entry entry : entries) {
            Upstream upstream = next.upstream(entry.upstream());
            Instant until = entry.sessionsUntil();
            if (upstream == null) {
                gone.add(entry);
            } else {
                long stay = until == null || upstream.sessions() == null ? 0 : nanos(Duration.between(now, until));
                upstream.health().resumeDrain(entry.endpoint(), RESUMED, stay);
                log.info("Endpoint {} of upstream {} drains, as before the start", entry.endpoint(), upstream);
            }
        }
        gone.forEach(entry -> log.info(
                "Endpoint {} of upstream {} is not drained any more: there is no such upstream",
                entry.endpoint(),
                entry.upstream()));
        saved = gone.isEmpty() ? drains(next) : null;
    }

    private static long nanos(Duration duration) {
        Duration most = Duration.ofNanos(Long.MAX_VALUE / 2);
        return duration.isNegative() ? 0 : (duration.compareTo(most) > 0 ? most : duration).toNanos();
    }

    private static List<Upstream> upstreams(ActiveConfig of) {
        return of.config.upstreams().stream()
                .map(each -> Objects.requireNonNull(of.upstream(each.name())))
                .toList();
    }

    private static List<Drain> drains(ActiveConfig of) {
        List<Drain> drains = new ArrayList<>();
        for (Upstream upstream : upstreams(of)) {
            upstream.health()
                    .drains()
                    .forEach(each -> drains.add(new Drain(upstream.name(), each.endpoint(), each.number())));
        }
        return drains;
    }

    /**
     * Writes what drains now, because an operator has changed it.
     *
     * @return why that fails; empty if it does not
     */
    String save() {
        DrainFile to = file;
        ActiveConfig of = current;
        return to == null || of == null ? "" : save(to, of);
    }

    private String save(DrainFile to, ActiveConfig of) {
        List<Entry> entries = new ArrayList<>();
        Instant now = Instant.now();
        for (Upstream upstream : upstreams(of)) {
            for (Health.Drain drain : upstream.health().drains()) {
                Instant until = drain.number() == Health.Drain.NO_SESSIONS
                        ? null
                        : now.plusNanos(drain.sessionsNanos()).truncatedTo(ChronoUnit.SECONDS);
                entries.add(new Entry(upstream.name(), drain.endpoint(), until));
            }
        }
        try {
            byte[] next = DrainFile.content(entries);
            to.write(next);
            content = next;
            saved = drains(of);
            if (!problem.isEmpty()) {
                problem = "";
                log.info("Drains of endpoints survive a restart again");
            }
        } catch (IOException e) {
            report(e);
        }
        return problem;
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
        ActiveConfig of = current;
        if (to == null || of == null) {
            return;
        }
        forgetGone(of);
        try {
            // If it is another one, another process has taken over, and knows better what drains.
            boolean due = !problem.isEmpty() || !drains(of).equals(saved);
            if (due && Arrays.equals(to.read(), content)) {
                save(to, of);
            }
        } catch (IOException e) {
            report(e);
        }
    }

    /** Forgets drains of endpoints that there are no more, as far as all sources of an upstream say so. */
    private void forgetGone(ActiveConfig of) {
        Set<String> now = new HashSet<>();
        for (Upstream upstream : upstreams(of)) {
            boolean known = feeds.sources(upstream.name()).stream()
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
