package dev.gateway.process;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Process environment: what a gateway has of the process that it runs in.
 *
 * @param systemd who is told how it is
 * @param out standard output, for the access log
 * @param log the process's log; null if it belongs to the program that embeds the gateway
 */
public record ProcessEnvironment(Systemd systemd, OutputStream out, @Nullable OwnLog log) {
    /**
     * That of a process that does other things as well: it may have put something in the place of its output, and its log
     * is its own affair.
     */
    public static ProcessEnvironment shared() {
        return new ProcessEnvironment(Systemd.NONE, System.out, null);
    }

    /** That of a process of its own. {@code System.out} would keep to itself that nobody reads it, or its disk is full. */
    public static ProcessEnvironment own(Systemd systemd, OwnLog log) {
        return new ProcessEnvironment(systemd, new FileOutputStream(FileDescriptor.out), log);
    }
}
