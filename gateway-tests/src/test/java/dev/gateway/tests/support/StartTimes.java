package dev.gateway.tests.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Writes how long processes took until they were ready to {@code target/start-times}. {@code .ci/times} adds them up. */
final class StartTimes {
    private StartTimes() {}

    /**
     * Adds a process that is ready now.
     *
     * @param program its name
     * @param startedNanos when it was started, by {@link System#nanoTime}
     */
    static synchronized void add(String program, long startedNanos) {
        try {
            Path directory = Files.createDirectories(Path.of("target", "start-times"));
            Files.writeString(
                    directory.resolve(ProcessHandle.current().pid() + ".tsv"),
                    "%s\t%d%n".formatted(program, (System.nanoTime() - startedNanos) / 1_000_000),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
