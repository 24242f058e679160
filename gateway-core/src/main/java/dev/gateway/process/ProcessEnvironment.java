package dev.gateway.process;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;

/**
 * Process environment: what a gateway has of the process that it runs in.
 *
 * @param systemd who is told how it is
 * @param out standard output, for the access log
 */
public record ProcessEnvironment(Systemd systemd, OutputStream out) {
    /** That of a process that does other things as well, which may have put something in the place of its output. */
    public static ProcessEnvironment shared() {
        return new ProcessEnvironment(Systemd.NONE, System.out);
    }

    /** That of a process of its own. {@code System.out} would keep to itself that nobody reads it, or its disk is full. */
    public static ProcessEnvironment own(Systemd systemd) {
        return new ProcessEnvironment(systemd, new FileOutputStream(FileDescriptor.out));
    }
}
