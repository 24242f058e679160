package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.GatewayOptions;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Rig;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.micrometer.statsd.StatsdConfig;
import io.micrometer.statsd.StatsdFlavor;
import io.micrometer.statsd.StatsdMeterRegistry;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What an application that embeds a gateway finds in its own meter registry: what {@code /metrics} has. */
class OwnRegistryIT {
    private static final int REQUESTS = 5;
    private static final Pattern SAMPLE = Pattern.compile("(gateway_[a-z0-9_]+)(?:\\{.*})? (\\S+)");

    /** What differs from one moment to the next. */
    private static final Pattern MOVING = Pattern.compile("gateway.(eventloop|direct.memory|overload.pressure).*");

    private static String config(String upstream, int port) {
        return """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                admin: {port: 0}
                routes: [{name: all, rules: [{matches: [{path: {value: /}}], backendRefs: [{name: %s}]}]}]
                upstreams: [{name: %s, endpoints: [{host: 127.0.0.1, port: %d}]}]
                """
                .formatted(upstream, upstream, port);
    }

    private static Rig start(Origin origin, MeterRegistry registry) throws IOException {
        return Rig.start(config("app", origin.port()), GatewayOptions.defaults().withRegistry(registry));
    }

    private static void requests(Rig rig) throws Exception {
        for (int i = 0; i < REQUESTS; i++) {
            try (Http1Peer client = Http1Peer.connect(rig.port())) {
                PeerStream stream = client.open();
                stream.send(Head.request("GET", "/"), true);
                assertThat(stream.receiveFinal().status()).isEqualTo(200);
                stream.receiveBody();
            }
        }
        rig.awaitIdle();
        rig.awaitNoConnection();
    }

    /** Waits until both say the same: function meters are refreshed every five seconds. */
    private static <T> void awaitSame(Supplier<T> told, Callable<T> scraped) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        while (!told.get().equals(scraped.call()) && System.nanoTime() < deadline) {
            LockSupport.parkNanos(20_000_000);
        }
        assertThat(told.get()).isEqualTo(scraped.call());
    }

    /** Asks for a page. */
    private interface Callable<T> {
        T call() throws Exception;
    }

    /** Returns the sums of all series of a name, by the names of meters; of histograms how many there were. */
    private static Map<String, Double> scraped(Rig rig) throws Exception {
        Map<String, Double> sums = new TreeMap<>();
        rig.admin("/metrics").lines().forEach(line -> {
            Matcher sample = SAMPLE.matcher(line);
            if (sample.matches() && !sample.group(1).matches(".*_seconds_(bucket|sum)")) {
                String name = sample.group(1)
                        .replaceFirst("(_total|_seconds_count|_seconds)$", "")
                        .replace('_', '.');
                add(sums, name, Double.parseDouble(sample.group(2)));
            }
        });
        return sums;
    }

    private static void add(Map<String, Double> sums, String name, double value) {
        if (!MOVING.matcher(name).matches()) {
            sums.merge(name, value, Double::sum);
        }
    }

    private static Map<String, Double> sums(MeterRegistry registry) {
        Map<String, Double> sums = new TreeMap<>();
        for (Meter meter : registry.getMeters()) {
            add(sums, meter.getId().getName(), value(meter));
        }
        return sums;
    }

    private static double value(Meter meter) {
        if (meter instanceof FunctionCounter counter) {
            return counter.count();
        }
        if (meter instanceof FunctionTimer timer) {
            return timer.count();
        }
        return meter instanceof TimeGauge gauge ? gauge.value(TimeUnit.SECONDS) : ((Gauge) meter).value();
    }

    private static List<String> lines(String text) {
        return text.lines()
                .filter(line ->
                        line.startsWith("gateway_") && !MOVING.matcher(line).matches())
                .sorted()
                .toList();
    }

    @Test
    void aSimpleRegistryCountsWhatTheMetricsPageDoes() throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = start(origin, registry)) {
            requests(rig);
            awaitSame(() -> sums(registry), () -> scraped(rig));
            assertThat(sums(registry))
                    .containsEntry("gateway.downstream.requests", (double) REQUESTS)
                    .containsEntry("gateway.downstream.request.duration", (double) REQUESTS);

            rig.reload(config("next", origin.port()));
            requests(rig);
            awaitSame(() -> sums(registry), () -> scraped(rig));
            assertThat(registry.find("gateway.upstream.endpoint.requests").meters())
                    .singleElement()
                    .satisfies(meter ->
                            assertThat(meter.getId().getTag("upstream")).isEqualTo("next"));
            rig.stop();
            assertThat(registry.getMeters()).isEmpty();
        }
    }

    @Test
    void aPrometheusRegistryHasTheLinesOfTheMetricsPage() throws Exception {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = start(origin, registry)) {
            requests(rig);
            awaitSame(() -> lines(registry.scrape()), () -> lines(rig.admin("/metrics")));
            assertThat(registry.scrape())
                    .containsPattern("gateway_downstream_request_duration_seconds_bucket\\{.*le=\"\\+Inf\"} 5")
                    .doesNotContain("jvm_");
            assertThat(rig.admin("/metrics")).contains("jvm_memory_used_bytes");
            rig.stop();
            assertThat(registry.scrape()).doesNotContain("gateway_");
        }
    }

    /** A receiver of StatsD's lines, as Datadog writes tags, which adds up what counters are told to add. */
    private static final class StatsdServer implements AutoCloseable {
        private static final Pattern COUNT = Pattern.compile("([^:]+):(\\d+)\\|c(?:\\|.*)?");

        private final DatagramSocket socket;
        private final Map<String, Double> sums = new ConcurrentHashMap<>();
        private final Thread thread = new Thread(this::receive, "statsd-server");

        StatsdServer() throws IOException {
            socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
            socket.setReceiveBufferSize(1 << 20);
            thread.start();
        }

        private void receive() {
            byte[] bytes = new byte[1 << 16];
            try {
                while (true) {
                    DatagramPacket packet = new DatagramPacket(bytes, bytes.length);
                    socket.receive(packet);
                    new String(bytes, 0, packet.getLength(), StandardCharsets.UTF_8)
                            .lines()
                            .forEach(this::line);
                }
            } catch (SocketException e) {
                assertThat(socket.isClosed()).isTrue(); // the test has ended
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        private void line(String line) {
            Matcher count = COUNT.matcher(line);
            if (count.matches()) {
                add(sums, count.group(1), Double.parseDouble(count.group(2)));
            }
        }

        Map<String, Double> sums() {
            return new TreeMap<>(sums);
        }

        StatsdConfig config() {
            return new StatsdConfig() {
                @Override
                public @Nullable String get(String key) {
                    return null;
                }

                @Override
                public StatsdFlavor flavor() {
                    return StatsdFlavor.DATADOG;
                }

                @Override
                public int port() {
                    return socket.getLocalPort();
                }

                @Override
                public String host() {
                    return socket.getLocalAddress().getHostAddress();
                }

                @Override
                public Duration pollingFrequency() {
                    return Duration.ofMillis(200);
                }
            };
        }

        @Override
        public void close() {
            socket.close();
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("the server may run on", e);
            }
        }
    }

    @Test
    void aStatsdServerIsSentWhatTheMetricsPageCounts() throws Exception {
        try (StatsdServer server = new StatsdServer()) {
            StatsdMeterRegistry registry = new StatsdMeterRegistry(server.config(), Clock.SYSTEM);
            CompositeMeterRegistry composite = new CompositeMeterRegistry(Clock.SYSTEM, List.of(registry));
            try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                    Rig rig = start(origin, composite)) {
                requests(rig);
                awaitSame(server::sums, () -> counters(rig));
                assertThat(server.sums()).containsEntry("gateway.downstream.requests", (double) REQUESTS);
                rig.stop();
                assertThat(registry.getMeters()).isEmpty();
            } finally {
                composite.close();
            }
        }
    }

    /** Returns counters only: the registry sends what they have counted since it sent it last, also if that is nothing. */
    private static Map<String, Double> counters(Rig rig) throws Exception {
        Map<String, Double> sums = new TreeMap<>();
        rig.admin("/metrics").lines().forEach(line -> {
            Matcher sample = SAMPLE.matcher(line);
            if (sample.matches() && sample.group(1).endsWith("_total")) {
                add(
                        sums,
                        sample.group(1).replaceFirst("_total$", "").replace('_', '.'),
                        Double.parseDouble(sample.group(2)));
            }
        });
        return sums;
    }
}
