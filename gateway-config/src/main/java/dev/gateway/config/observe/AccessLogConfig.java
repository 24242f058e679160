package dev.gateway.config.observe;

import dev.gateway.config.value.Position;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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
     */
    public record Lines(
            Format format,
            @Nullable AccessLogTemplate template,
            List<String> requestHeaders,
            List<String> responseHeaders) {
        public Lines {
            requestHeaders = List.copyOf(requestHeaders);
            responseHeaders = List.copyOf(responseHeaders);
        }

        /** Makes lines of any format but a template, without further headers. */
        public static Lines of(Format format) {
            return new Lines(format, null, List.of(), List.of());
        }
    }

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
