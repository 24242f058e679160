package dev.gateway.runtime.process;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Process environment: what a gateway has of the process that it runs in.
 *
 * @param systemd who is told how it is
 * @param out for lines of the access log that go nowhere else; writes to it throw what they cannot write
 * @param log the process's log; null if it belongs to the program that embeds the gateway
 */
public record ProcessEnvironment(Systemd systemd, OutputStream out, @Nullable OwnLog log) {
    /** The logger that has the access log of a gateway in a process that does other things as well. */
    public static final String ACCESS_LOGGER = "dev.gateway.accesslog";

    /** That of a process that does other things as well: its output and its log are its own affair. */
    public static ProcessEnvironment shared() {
        Logger logger = LoggerFactory.getLogger(ACCESS_LOGGER);
        return new ProcessEnvironment(Systemd.NONE, new LineStream(logger::info), null);
    }

    /** Returns the same, but lines of the access log that go nowhere else go to this receiver, on a thread of the log. */
    public ProcessEnvironment withAccessLog(Consumer<String> lines) {
        return new ProcessEnvironment(systemd, new LineStream(lines), log);
    }

    /** That of a process of its own. {@code System.out} would keep to itself that nobody reads it, or its disk is full. */
    public static ProcessEnvironment own(Systemd systemd, OwnLog log) {
        return new ProcessEnvironment(systemd, new FileOutputStream(FileDescriptor.out), log);
    }
}
