package dev.gateway.tests.support;

import dev.gateway.testing.JarMaker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A plugin whose filter is not made before somebody writes to a pipe: a start or a reload waits until then. */
public final class WaitingPlugin {
    /** The filter, as an element of {@code filters}. */
    public static final String FILTER = "{type: Waiting, waiting: {}}";

    private static final String SOURCE =
            """
            import dev.gateway.filter.*;
            import dev.gateway.plugin.*;
            import java.nio.file.*;
            public class Waiting implements FilterPlugin {
                public String type() { return "Waiting"; }
                public String description() { return "Waits."; }
                public Filter create(Settings settings) {
                    try {
                        Files.newInputStream(Path.of("%s")).close();
                    } catch (java.io.IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                    return new Filter() {};
                }
            }
            """;

    private WaitingPlugin() {}

    /** Returns the plugin's jar. */
    public static byte[] jar(Path pipe) throws IOException {
        Path jar = Files.createTempFile("waiting", ".jar");
        JarMaker.plugin(jar, "Waiting", SOURCE.formatted(pipe));
        byte[] bytes = Files.readAllBytes(jar);
        Files.delete(jar);
        return bytes;
    }
}
