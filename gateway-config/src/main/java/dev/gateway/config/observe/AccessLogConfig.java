package dev.gateway.config.observe;

import dev.gateway.config.value.Position;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Access log settings: one line for each exchange.
 *
 * @param choice of exchanges without a failure, where a rule says nothing else
 */
public record AccessLogConfig(Position position, Lines lines, Target target, Choice choice, Redact redact) {
    /**
     * How lines look.
     *
     * @param template what they look like if format is TEMPLATE, else null
     * @param requestHeaders names of what JSON lines show besides
     * @param responseHeaders the same of responses
     * @param fields other fields of JSON lines than theirs, null for none
     */
    public record Lines(
            Format format,
            @Nullable AccessLogTemplate template,
            List<String> requestHeaders,
            List<String> responseHeaders,
            @Nullable Fields fields) {
        public Lines {
            requestHeaders = List.copyOf(requestHeaders);
            responseHeaders = List.copyOf(responseHeaders);
        }

        /** Makes lines of any format but a template, without further headers. */
        public static Lines of(Format format) {
            return new Lines(format, null, List.of(), List.of(), null);
        }
    }

    /**
     * What JSON lines have instead of their own fields.
     *
     * @param keep their own fields that stay, null for all but those of remove
     * @param rename new names of these
     * @param add what follows them
     */
    public record Fields(
            Position position,
            @Nullable List<String> keep,
            List<String> remove,
            List<Renamed> rename,
            List<Added> add) {
        public Fields {
            keep = keep == null ? null : List.copyOf(keep);
            remove = List.copyOf(remove);
            rename = List.copyOf(rename);
            add = List.copyOf(add);
        }

        /**
         * Returns the names of their own fields that lines have.
         *
         * @return names in lines, by the names in the documentation
         */
        public Map<String, String> names() {
            Map<String, String> names = new LinkedHashMap<>();
            for (String name : AccessLogTemplate.IN_JSON) {
                if (keep == null ? !remove.contains(name) : keep.contains(name)) {
                    names.put(name, name);
                }
            }
            rename.forEach(renamed -> names.computeIfPresent(renamed.name(), (name, same) -> renamed.to()));
            return names;
        }
    }

    /** Another name of a field that JSON lines have. */
    public record Renamed(Position position, String name, String to) {}

    /** A field that JSON lines do not have by themselves. */
    public record Added(Position position, String name, AccessLogTemplate value) {}

    /** What format lines have. */
    public enum Format {
        /** One JSON object a line. */
        JSON,
        /** Apache's combined format. */
        COMBINED,
        /** As written in the configuration. */
        TEMPLATE,
        /** No lines. */
        OFF
    }

    /**
     * Where lines go.
     *
     * @param file appended to; null for standard output, or where syslog is not null
     * @param rotation null if the file is never rotated here
     * @param syslog where lines are sent instead; null for nowhere
     */
    public record Target(@Nullable Path file, @Nullable Rotation rotation, @Nullable Syslog syslog) {}

    /**
     * When a file is put aside.
     *
     * @param maxSize in bytes, 0 for no limit
     * @param maxFiles how many are kept besides the one that is written
     * @param maxAge of the one that is written, since it was opened; zero for no limit
     */
    public record Rotation(Position position, long maxSize, int maxFiles, Duration maxAge) {}

    /** A receiver of RFC 5424 messages. */
    public record Syslog(Position position, String host, int port, Transport transport, int facility, String appName) {
        /** How messages travel. */
        public enum Transport {
            /** One datagram each (RFC 5426). */
            UDP,
            /** One connection, octets counted (RFC 6587). */
            TCP
        }
    }

    /** Of which exchanges there are lines. */
    public enum Exchanges {
        ALL,
        /** Those with a cause, or a status of 500 and above. */
        FAILED,
        NONE
    }

    /**
     * What is chosen; null is what the accessLog section says.
     *
     * @param sample the share of the exchanges that have not failed, 0 to 1
     */
    public record Choice(@Nullable Exchanges exchanges, @Nullable Double sample) {}

    /**
     * What is replaced by asterisks.
     *
     * @param queryKeys names of parameters in the query of the path and of Referer
     * @param headers names of logged headers, besides those that always are
     */
    public record Redact(Position position, List<String> queryKeys, List<String> headers) {
        public Redact {
            queryKeys = List.copyOf(queryKeys);
            headers = List.copyOf(headers);
        }
    }
}
