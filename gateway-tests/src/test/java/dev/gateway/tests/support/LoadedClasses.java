package dev.gateway.tests.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The classes that a JVM has loaded, as {@code -Xlog:class+load} writes them. */
public final class LoadedClasses {
    /** Libraries that only a feature or a request for a page needs; each is told by the start of its names. */
    private static final List<String> ON_DEMAND = List.of(
            "picocli.",
            "io.opentelemetry.",
            "org.bouncycastle.",
            "org.apache.commons.codec.",
            "org.jose4j.",
            "io.lettuce.",
            "reactor.",
            "com.aayushatharva.brotli4j.",
            "com.github.luben.zstd.",
            "io.micrometer.",
            "io.prometheus.",
            "org.HdrHistogram.",
            "org.LatencyUtils.");

    /** Types of Micrometer that the verifier compares when it loads {@code Metrics}; no code of theirs runs. */
    private static final Set<String> ONLY_NAMED = Set.of(
            "io.micrometer.core.instrument.MeterRegistry", "io.micrometer.prometheusmetrics.PrometheusMeterRegistry");

    private final List<String> names;

    private LoadedClasses(List<String> names) {
        this.names = names;
    }

    /** Returns the option that lets a JVM write a file of them. */
    public static String option(Path file) {
        return "-Xlog:class+load:file=" + file + ":none:filesize=0";
    }

    /** Reads such a file. */
    public static LoadedClasses read(Path file) throws IOException {
        try (Stream<String> lines = Files.lines(file)) {
            return new LoadedClasses(lines.map(line -> line.replaceFirst(" source: .*", ""))
                    .filter(line -> line.matches("[\\w.$/]+"))
                    .toList());
        }
    }

    /** Returns those of libraries that nothing has needed while every feature is off. */
    public List<String> ofLibrariesOnDemand() {
        return names.stream()
                .filter(name -> ON_DEMAND.stream().anyMatch(name::startsWith))
                .filter(name -> !ONLY_NAMED.contains(name))
                .toList();
    }

    /** Returns those whose names start so. */
    public List<String> of(String prefix) {
        return names.stream().filter(name -> name.startsWith(prefix)).toList();
    }
}
