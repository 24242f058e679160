package dev.gateway.tests.support;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Archive of the classes of a jar, as {@code bin/gateway} has one. Tests start hundreds of gateways, and each takes half as much
 * CPU time with it. Each JVM that runs tests makes one of its own for a jar.
 */
final class ClassArchive {
    private static final Map<Path, Path> MADE = new HashMap<>();

    private ClassArchive() {}

    /** Returns the archive of a jar, which it makes if need be. */
    static synchronized Path of(Path jar) throws IOException {
        Path archive = MADE.get(jar);
        if (archive == null) {
            archive = make(jar);
            MADE.put(jar, archive);
        }
        return archive;
    }

    private static Path make(Path jar) throws IOException {
        Path archive = Path.of(
                        "target",
                        "classes-" + MADE.size() + "-" + ProcessHandle.current().pid() + ".jsa")
                .toAbsolutePath();
        archive.toFile().deleteOnExit();
        Tools.Result result;
        try {
            result = Tools.run(
                    System.getProperty("java.home") + "/bin/java",
                    "-XX:+UseSerialGC",
                    "-XX:ArchiveClassesAtExit=" + archive,
                    "-jar",
                    jar.toString(),
                    "prepare");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
        if (result.exit() != 0 || !archive.toFile().isFile()) {
            throw new IOException("no archive of classes was made: " + result.output());
        }
        return archive;
    }
}
