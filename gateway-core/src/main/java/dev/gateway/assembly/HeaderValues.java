package dev.gateway.assembly;

import dev.gateway.config.FilterConfig;
import dev.gateway.config.FilterConfig.Header;
import dev.gateway.config.FilterConfig.ValueFile;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.HeaderValueFile;
import dev.gateway.files.FileFault;
import dev.gateway.files.FileWatch;
import dev.gateway.filter.rewrite.FieldEdits;
import dev.gateway.process.StartException;
import io.netty.util.AsciiString;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Values of header fields that files have. They are read again when the files have changed, whatever the configuration's
 * own file is like by then, and requests that begin afterwards have the new ones. What cannot be used changes nothing.
 * Used by the thread that reloads; any thread may ask for the problems.
 */
public final class HeaderValues {
    private static final Logger log = LoggerFactory.getLogger(HeaderValues.class);

    private volatile List<Watched> activeConfig = List.of();

    /** One file's value; event loops ask for it, the thread that reloads changes it. */
    private static final class Watched implements FieldEdits.Value {
        private final ValueFile file;
        private final FileWatch watch;
        private Header header; // by the active configuration: what messages name
        private volatile AsciiString value = AsciiString.EMPTY_STRING;
        private volatile String problem = "";

        Watched(ValueFile file, Header header) {
            this.file = file;
            this.header = header;
            this.watch = new FileWatch(List.of(file.path()));
        }

        @Override
        public AsciiString get() {
            return value;
        }

        void read() throws IOException {
            watch.reading();
            byte[] bytes = (file.prefix() + HeaderValueFile.read(file.path())).getBytes(StandardCharsets.ISO_8859_1);
            value = new AsciiString(bytes, false);
            problem = "";
        }

        void renew() {
            String name = "header " + header.name();
            try {
                read();
                log.info("Loaded a new value of {} from {}", name, file.path());
            } catch (IOException e) {
                problem = header.position() + ": " + name + ": keeping the previous value: " + FileFault.message(e);
                log.warn(problem);
            }
        }
    }

    /** The values of a configuration that may come into force. */
    public static final class Prepared {
        private final Map<ValueFile, Watched> values = new HashMap<>();
        private final Map<ValueFile, Header> headers = new HashMap<>();

        /** Returns the value of a file, now and as it changes. */
        FieldEdits.Value value(ValueFile file) {
            Watched value = values.get(file);
            if (value == null) {
                throw new IllegalArgumentException("not of this configuration: " + file.path());
            }
            return value;
        }
    }

    /**
     * Reads the files of a configuration, those excepted that are in use and have not changed.
     *
     * @throws StartException if one cannot be used
     */
    public Prepared prepare(GatewayConfig config) throws StartException {
        Prepared prepared = new Prepared();
        headers(config).forEach(header -> {
            ValueFile file = header.file();
            if (file != null) {
                prepared.headers.putIfAbsent(file, header);
            }
        });
        activeConfig.forEach(value -> {
            if (prepared.headers.containsKey(value.file)) {
                prepared.values.put(value.file, value);
            }
        });
        for (Map.Entry<ValueFile, Header> each : prepared.headers.entrySet()) {
            Watched value = prepared.values.get(each.getKey());
            try {
                if (value == null) {
                    value = new Watched(each.getKey(), each.getValue());
                    value.read();
                    prepared.values.put(each.getKey(), value);
                } else if (!value.problem.isEmpty() || value.watch.hasChanged()) {
                    value.read();
                }
            } catch (IOException e) {
                throw Conversions.failure(each.getValue().position(), e);
            }
        }
        return prepared;
    }

    /** Watches the files of these values from now on, and no others. */
    public void use(Prepared prepared) {
        prepared.values.forEach((file, value) -> value.header = prepared.headers.getOrDefault(file, value.header));
        activeConfig = List.copyOf(prepared.values.values());
    }

    private static Stream<Header> headers(GatewayConfig config) {
        return config.routes().stream()
                .flatMap(route -> route.rules().stream())
                .flatMap(rule -> rule.filters().stream())
                .flatMap(HeaderValues::headers);
    }

    private static Stream<Header> headers(FilterConfig filter) {
        if (filter instanceof FilterConfig.RequestHeaderModifier modifier) {
            return headers(modifier.edits());
        } else if (filter instanceof FilterConfig.ResponseHeaderModifier modifier) {
            return headers(modifier.edits());
        }
        return filter instanceof FilterConfig.DirectResponse direct ? direct.headers().stream() : Stream.of();
    }

    private static Stream<Header> headers(FilterConfig.HeaderEdits edits) {
        return Stream.concat(edits.set().stream(), edits.add().stream());
    }

    /** Looks at all files, and reads those again that have changed and are written no more. */
    public void look() {
        for (Watched value : activeConfig) {
            if (value.watch.hasSettled()) {
                value.renew();
            }
        }
    }

    /** Returns why values are still the former ones, a line each. */
    public List<String> problems() {
        return activeConfig.stream()
                .map(value -> value.problem)
                .filter(problem -> !problem.isEmpty())
                .toList();
    }
}
