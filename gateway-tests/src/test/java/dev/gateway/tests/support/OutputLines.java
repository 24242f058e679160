package dev.gateway.tests.support;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** What a process says, read as it comes by a thread of its own: so neither the process nor the test waits for ever. */
public final class OutputLines {
    private static final String END = new String("end"); // told from a line by its identity

    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    /** Reads from now on. */
    public OutputLines(Process process) {
        Thread thread = new Thread(() -> read(process), "output of " + process.pid());
        thread.setDaemon(true);
        thread.start();
    }

    private void read(Process process) {
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            reader.lines().forEach(lines::add);
        } catch (IOException | UncheckedIOException e) {
            lines.add("unreadable: " + e);
        }
        lines.add(END);
    }

    /** Returns the next line; fails if there is none within a minute, or at all. */
    @SuppressWarnings("ReferenceEquality") // so that no line is taken for the end
    public String next() throws IOException, InterruptedException {
        String line = lines.poll(60, TimeUnit.SECONDS);
        if (line == null || line == END) {
            throw new IOException(line == null ? "the process says nothing" : "the process has ended");
        }
        return line;
    }
}
