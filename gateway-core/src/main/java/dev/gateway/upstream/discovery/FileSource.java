package dev.gateway.upstream.discovery;

import dev.gateway.config.upstream.EndpointConfig;
import dev.gateway.config.upstream.EndpointConfig.Place;
import dev.gateway.config.yaml.EndpointFile;
import dev.gateway.config.yaml.schema.upstream.SourceType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.files.FileFault;
import dev.gateway.files.FileWatch;
import dev.gateway.upstream.EndpointSpec;
import dev.gateway.upstream.SourceStatus;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * File discovery: reads a list of endpoints from a file, again after each change. A file with a mistake changes nothing. Used
 * by the reload thread.
 */
public final class FileSource implements EndpointSource {
    private static final String KEY = "file";

    /** A file lists endpoints. */
    public static final SourceFeature FEATURE = new SourceFeature() {
        private final SourceType<Path, Listed> type = new SourceType<>(
                KEY,
                Types.PATH,
                false,
                "YAML or JSON file with a list of endpoints. These have the same keys, but not srv and file. The gateway reads "
                        + "the file again when it has changed.",
                Listed.class,
                Listed::path,
                (path, port) -> new Listed(path));

        @Override
        public SourceType<Path, Listed> type() {
            return type;
        }

        @Override
        public EndpointSource create(Place place, SourceContext context) throws IOException {
            return new FileSource(
                    ((Listed) place).path(), EndpointEntries.source(place), context.names(), context.thread());
        }

        @Override
        public String emptiness() {
            return "has an empty list";
        }
    };

    /** A file with a list of entries, which have hosts, names or sockets. */
    public record Listed(Path path) implements Place {
        @Override
        public String key() {
            return KEY;
        }

        @Override
        public String subject() {
            return path.toString();
        }

        @Override
        public boolean isFile() {
            return true;
        }

        @Override
        public boolean hasZones() {
            return true;
        }

        @Override
        public String notInFiles() {
            return "a file of endpoints names no other";
        }

        @Override
        public @Nullable String problem() {
            if (path.getNameCount() == 0) {
                return null; // it was reported where it was read
            }
            try {
                EndpointFile.read(path);
                return null;
            } catch (IOException e) {
                return FileFault.message(e);
            }
        }
    }

    private static final Logger log = LoggerFactory.getLogger(FileSource.class);

    /** One look notices a change. The file is read after a look that finds no further change. */
    private static final long LOOK_MILLIS = 1000;

    private final Path path;
    private final String source;
    private final ScheduledExecutorService thread;
    private final FileWatch watch;
    private final SourceGroup<Place> names;
    private final SourceStatus.Freshness freshness = new SourceStatus.Freshness(System::nanoTime);
    private Listener listener = (endpoints, provisional) -> {};
    private List<EndpointConfig> entries;
    private @Nullable List<EndpointSpec> told;
    private boolean provisional; // for a name in the file, there was no answer yet
    private @Nullable Future<?> looking;
    private volatile Map<String, SourceGroup.Member> parts = Map.of();

    /**
     * Reads the file.
     *
     * @param maker makes the source of a name in the file
     * @throws IOException if the file cannot be read or has a mistake; the message has its name
     */
    FileSource(Path path, String source, Function<Place, EndpointSource> maker, ScheduledExecutorService thread)
            throws IOException {
        this.path = path;
        this.source = source;
        this.thread = thread;
        this.watch = new FileWatch(List.of(path));
        this.names = new SourceGroup<>(maker, thread, name -> tell());
        this.entries = EndpointFile.read(path);
        freshness.onGood(System.nanoTime());
    }

    @Override
    public void start(Listener toBeTold) {
        listener = toBeTold;
        use();
        looking = thread.scheduleWithFixedDelay(this::look, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void stop() {
        if (looking != null) {
            looking.cancel(false);
        }
        names.keep(Set.of());
    }

    @Override
    public void refresh() {
        if (watch.hasChanged() || freshness.status().isStale()) {
            read();
        }
    }

    @Override
    public SourceStatus status() {
        SourceStatus status = freshness.status();
        for (Map.Entry<String, SourceGroup.Member> part : parts.entrySet()) {
            status = status.or(part.getValue().status(), part.getKey());
        }
        return status;
    }

    /** Reads the file if it has changed. */
    void look() {
        try {
            if (watch.hasSettled()) {
                read();
            }
        } catch (RuntimeException e) {
            log.error("A bug made a look at {} fail", path, e);
        }
    }

    private void read() {
        watch.reading();
        try {
            entries = EndpointFile.read(path);
        } catch (IOException e) {
            if (e instanceof FileFault) {
                watch.unread();
            }
            String problem = FileFault.message(e);
            boolean known = problem.equals(freshness.status().problem());
            freshness.onFailed(problem);
            if (!known) {
                log.warn("Keeping the previous endpoints: {}", problem);
            }
            return;
        }
        freshness.onGood(System.nanoTime());
        log.info("Loaded {} endpoints from {}", entries.size(), path);
        use();
    }

    private void use() {
        List<Place> places = entries.stream()
                .map(EndpointConfig::place)
                .filter(place -> !place.isAddress())
                .distinct()
                .toList();
        names.keep(places);
        Map<String, SourceGroup.Member> members = new TreeMap<>();
        for (Place place : places) {
            SourceGroup.Member member = names.member(place);
            if (member != null) {
                members.put(EndpointEntries.source(place), member);
            }
        }
        parts = members;
        tell();
    }

    private void tell() {
        // First: a name may be resolved meanwhile.
        boolean isProvisional = names.members().stream().anyMatch(SourceGroup.Member::isProvisional);
        List<EndpointSpec> endpoints = new ArrayList<>();
        for (EndpointConfig entry : entries) {
            endpoints.addAll(EntryEndpoints.of(entry, names.member(entry.place()), source));
        }
        if (!endpoints.equals(told) || provisional != isProvisional) {
            told = endpoints;
            provisional = isProvisional;
            listener.onEndpoints(List.copyOf(endpoints), isProvisional);
        }
    }
}
