package dev.gateway.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/**
 * Writes what each test class took to {@code target/test-times}: its name, its time, the CPU time of this JVM, and that of
 * the processes that it started and that have ended. Times are in milliseconds. {@code .ci/times} makes a table of them.
 *
 * <p>A JVM runs one class at a time, so all of its CPU time in between is that of the class. Without {@code /proc} it writes nothing.
 */
public final class TestTimes implements TestExecutionListener {
    private static final Path STAT = Path.of("/proc/self/stat");
    private static final int MILLIS_PER_TICK = 10;

    private record Time(long wallMillis, long cpuMillis, long childrenMillis) {
        static Time now() {
            try {
                String stat = Files.readString(STAT);
                String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1); // from the third on
                return new Time(
                        System.nanoTime() / 1_000_000,
                        (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * MILLIS_PER_TICK,
                        (Long.parseLong(fields[13]) + Long.parseLong(fields[14])) * MILLIS_PER_TICK);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private final Map<String, Time> started = new ConcurrentHashMap<>();

    @Override
    public void executionStarted(TestIdentifier test) {
        if (isClass(test) && Files.exists(STAT)) {
            started.put(test.getUniqueId(), Time.now());
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        Time start = started.remove(test.getUniqueId());
        if (start != null && test.getSource().orElseThrow() instanceof ClassSource source) {
            Time end = Time.now();
            write("%s\t%d\t%d\t%d%n"
                    .formatted(
                            source.getClassName(),
                            end.wallMillis - start.wallMillis,
                            end.cpuMillis - start.cpuMillis,
                            end.childrenMillis - start.childrenMillis));
        }
    }

    /** A nested class is a part of its outer class. */
    private static boolean isClass(TestIdentifier test) {
        TestSource source = test.getSource().orElse(null);
        return source instanceof ClassSource found && !found.getClassName().contains("$");
    }

    private static void write(String line) {
        try {
            Path directory = Files.createDirectories(Path.of("target", "test-times"));
            Files.writeString(
                    directory.resolve(ProcessHandle.current().pid() + ".tsv"),
                    line,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
