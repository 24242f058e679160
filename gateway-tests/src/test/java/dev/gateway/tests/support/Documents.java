package dev.gateway.tests.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The documents of the project. */
public final class Documents {
    private Documents() {}

    /** Returns those that users read: README, and all that is in {@code deploy} and {@code docs}, now and later. */
    public static List<Path> forUsers() throws IOException {
        return below(Path.of(".."), "README.md", "deploy", "docs");
    }

    /** Returns all of the repository but reports that tools write. */
    public static List<Path> all() throws IOException {
        List<Path> found = below(Path.of(".."), "deploy", "docs", "gateway-tests/src");
        try (Stream<Path> files = Files.list(Path.of(".."))) {
            files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(found::add);
        }
        return found;
    }

    /** Returns the Markdown files of a clone or archive with these names, or in directories with these names. */
    public static List<Path> below(Path top, String... names) throws IOException {
        List<Path> found = new ArrayList<>();
        for (String name : names) {
            try (Stream<Path> files = Files.walk(top.resolve(name))) {
                files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(found::add);
            }
        }
        return found;
    }
}
