package dev.gateway.observe.accesslog;

import dev.gateway.config.observe.AccessLogConfig;
import dev.gateway.config.observe.AccessLogConfig.Rotation;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Access log destination: where lines of the access log go. Has positions of the configuration, so {@code ConfigEquality}
 * says whether two are the same, and not their own equality.
 */
public sealed interface LogTarget {
    /**
     * Opens it.
     *
     * @param addresses resolves the name of a receiver
     * @throws IOException if there is no such file, or it must not be written
     */
    LogDestination open(ReceiverAddresses addresses) throws IOException;

    /**
     * The process's standard output.
     *
     * @param stream writes to it, and throws what it cannot write
     */
    record StandardOutput(OutputStream stream) implements LogTarget {
        @Override
        public LogDestination open(ReceiverAddresses addresses) {
            return new StreamDestination(stream);
        }
    }

    /**
     * A file, made if it is not there.
     *
     * @param rotation when it is put aside, null for never
     */
    record File(Path path, @Nullable Rotation rotation) implements LogTarget {
        @Override
        public LogDestination open(ReceiverAddresses addresses) throws IOException {
            return new FileDestination(path, rotation, System::nanoTime);
        }
    }

    /** A receiver of syslog messages. */
    record Syslog(AccessLogConfig.Syslog receiver) implements LogTarget {
        @Override
        public LogDestination open(ReceiverAddresses addresses) {
            return new SyslogDestination(receiver, addresses);
        }
    }
}
