package dev.gateway.process;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;

/**
 * What a gateway has of the process that it runs in.
 *
 * @param systemd who is told how it is
 * @param out standard output, for the access log
 */
public record Surroundings(Systemd systemd, OutputStream out) {
    /** Those of a process that does other things as well, which may have put something in the place of its output. */
    public static Surroundings shared() {
        return new Surroundings(Systemd.NONE, System.out);
    }

    /** Those of a process of its own. {@code System.out} would keep to itself that nobody reads it, or its disk is full. */
    public static Surroundings own(Systemd systemd) {
        return new Surroundings(systemd, new FileOutputStream(FileDescriptor.out));
    }
}
