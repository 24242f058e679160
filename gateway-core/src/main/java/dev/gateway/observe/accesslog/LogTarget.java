package dev.gateway.observe.accesslog;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;

/** Where lines of the access log go. Those that are equal are one place. */
public sealed interface LogTarget {
    /**
     * Opens it.
     *
     * @throws IOException if there is no such file, or it must not be written
     */
    LogDestination open() throws IOException;

    /**
     * The process's standard output.
     *
     * @param stream writes to it, and throws what it cannot write
     */
    record StandardOutput(OutputStream stream) implements LogTarget {
        @Override
        public LogDestination open() {
            return new StreamDestination(stream);
        }
    }

    /**
     * A file, made if it is not there.
     *
     * @param maxBytes after which it is put aside, 0 for no limit
     * @param maxFiles how many that were put aside are kept
     * @param maxAgeNanos after which it is put aside, 0 for no limit
     */
    record File(Path path, long maxBytes, int maxFiles, long maxAgeNanos) implements LogTarget {
        @Override
        public LogDestination open() throws IOException {
            return new FileDestination(this, System::nanoTime);
        }
    }

    /**
     * A receiver of syslog messages.
     *
     * @param tcp whether by a connection, or else by datagrams
     * @param facility its number
     */
    record Syslog(String host, int port, boolean tcp, int facility, String appName) implements LogTarget {
        @Override
        public LogDestination open() {
            return new SyslogDestination(this);
        }
    }
}
