package dev.gateway.observe.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/** The samples of a scrape by name and labels, without those of the JVM. */
public final class Samples {
    private Samples() {}

    /** Returns all samples of the gateway. */
    static Map<String, Double> of(Metrics metrics) {
        return of(metrics.collector().collect());
    }

    /** Returns the samples of one source. */
    public static Map<String, Double> of(Exposition.Source source) {
        return of(Exposition.collector(source).collect());
    }

    static Map<String, Double> of(MetricSnapshots snapshots) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try {
            PrometheusTextFormatWriter.create().write(text, snapshots);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Map<String, Double> samples = new TreeMap<>();
        text.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(line -> !line.startsWith("#"))
                .forEach(line -> {
                    int space = line.lastIndexOf(' ');
                    Double value = Double.valueOf(line.substring(space + 1).replace("Inf", "Infinity"));
                    assertThat(samples.put(line.substring(0, space), value))
                            .as("twice: " + line)
                            .isNull();
                });
        return samples;
    }
}
