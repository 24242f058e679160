package dev.gateway.observe.accesslog;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;

/** Access log destination: where lines of the access log go. Those that are equal are one place. */
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
     * @param rotation when it is put aside
     */
    record File(Path path, LogRotation rotation) implements LogTarget {
        @Override
        public LogDestination open(ReceiverAddresses addresses) throws IOException {
            return new FileDestination(path, rotation, System::nanoTime);
        }
    }

    /**
     * A receiver of syslog messages.
     *
     * @param facility its number
     */
    record Syslog(SyslogReceiver receiver, int facility, String appName) implements LogTarget {
        @Override
        public LogDestination open(ReceiverAddresses addresses) {
            return new SyslogDestination(receiver, facility, appName, addresses);
        }
    }
}
