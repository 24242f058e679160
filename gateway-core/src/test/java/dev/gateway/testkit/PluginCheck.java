package dev.gateway.testkit;

import dev.gateway.Gateway;
import dev.gateway.GatewayOptions;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import dev.gateway.files.StartException;
import dev.gateway.filter.FilterPlugin;
import dev.gateway.runtime.ConfigFile;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Check of a plugin: runs its filter in a gateway, with clients and upstreams that speak HTTP/1.1 and HTTP/2 in all four
 * pairings. Bodies come in pieces; clients and upstreams also break off. The check fails if the filter throws an exception, resumes
 * when nobody waits for it, or reaches the state of filters before and after it. It also fails if an exchange does not end, or
 * if nobody releases a buffer. It needs no test framework. Example of a test:
 *
 * <pre>{@code
 * PluginCheck.of(new AddGreetingPlugin(), "{text: Hello}")
 *         .answers(answer -> assertEquals("Hello", answer.fields().get("X-Greeting")))
 *         .run();
 * }</pre>
 *
 * <p>Used by one thread. One check runs at a time in a JVM, since the detection of leaks sees all buffers of the JVM.
 */
public final class PluginCheck {
    private final FilterPlugin plugin;
    private final String settings;
    private final Map<String, String> fields = new HashMap<>();
    private Consumer<Answer> answers = answer -> {};
    private Duration patience = Duration.ofSeconds(10);

    static {
        LeakDetector.install();
    }

    private PluginCheck(FilterPlugin plugin, String settings) {
        this.plugin = plugin;
        this.settings = settings;
    }

    /**
     * Makes a check, which runs nothing yet.
     *
     * @param settings of the filter, in YAML on one line as in a configuration; {@code {}} for none
     */
    public static PluginCheck of(FilterPlugin plugin, String settings) {
        return new PluginCheck(plugin, settings);
    }

    /** Adds a field to all requests, such as credentials without which the filter refuses them. */
    public PluginCheck requestField(String name, String value) {
        fields.put(name, value);
        return this;
    }

    /** Has somebody look at the answers to a GET and a POST request of each pairing; what it throws fails the check. */
    public PluginCheck answers(Consumer<Answer> look) {
        answers = look;
        return this;
    }

    /** Sets how long an exchange may take; 10 seconds by default. */
    public PluginCheck patience(Duration duration) {
        patience = duration;
        return this;
    }

    /**
     * Runs the filter. Takes some seconds.
     *
     * @throws AssertionError if it does something wrong; the message has the pairing and what happened in the exchange
     * @throws IllegalArgumentException if the gateway does not take the plugin or its settings
     * @throws IllegalStateException if leaks cannot be detected; the message says what to do
     */
    public void run() throws IOException, InterruptedException {
        if (!LeakDetector.isInstalled()) {
            throw new IllegalStateException(
                    "Netty has made buffers before this check, so it cannot detect leaks. Start the"
                            + " JVM of the tests with -Dio.netty.customResourceLeakDetector="
                            + LeakDetector.class.getName());
        }
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            for (Protocol upstream : Protocol.values()) {
                try (Origin origin = Origin.start(loop, upstream)) {
                    for (Protocol client : Protocol.values()) {
                        run(loop, client, upstream, origin.port());
                    }
                }
            }
        } finally {
            loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
        String leak = LeakDetector.reportAll();
        if (leak != null) {
            throw new AssertionError(plugin.type() + ": nobody has released a buffer: " + leak);
        }
    }

    private void run(EventLoopGroup loop, Protocol client, Protocol upstream, int port)
            throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory("plugin-check");
        Path yaml = directory.resolve("gateway.yaml");
        Path log = directory.resolve("access.log");
        try {
            Files.writeString(yaml, configuration(upstream, port));
            run(loop, client, yaml, plugin.type() + ", " + client + " to " + upstream);
            List<String> errors = Files.readAllLines(log).stream()
                    .filter(line -> line.contains("\"filter_error\""))
                    .toList();
            if (!errors.isEmpty()) {
                throw new AssertionError(plugin.type() + ", " + client + " to " + upstream + ": " + errors.get(0));
            }
        } finally {
            Files.deleteIfExists(log);
            Files.deleteIfExists(yaml);
            Files.delete(directory);
        }
    }

    private void run(EventLoopGroup loop, Protocol client, Path yaml, String pairing) throws InterruptedException {
        Recorder recorder = new Recorder();
        ConfigFile file = new ConfigFile(
                yaml,
                List.of(
                        recorder.of(FilterPlugin.class, Neighbour.BEFORE),
                        recorder.of(FilterPlugin.class, plugin),
                        recorder.of(FilterPlugin.class, Neighbour.AFTER)));
        try (Gateway gateway = start(file)) {
            Scenario.Setting setting =
                    new Scenario.Setting(loop, client, gateway.port("web"), fields, patience, answers);
            for (Scenario scenario : Scenario.values()) {
                String where = pairing + ", " + scenario.sentence + ": ";
                try {
                    scenario.run(setting);
                    awaitEnd(gateway);
                } catch (AssertionError e) {
                    throw new AssertionError(where + e.getMessage(), cause(recorder, e));
                }
                if (recorder.first() != null) {
                    throw new AssertionError(where + "the filter threw " + recorder.first(), recorder.first());
                }
                String leak = LeakDetector.report();
                if (leak != null) {
                    throw new AssertionError(where + "nobody has released a buffer: " + leak);
                }
            }
        } finally {
            file.close();
        }
    }

    private static Throwable cause(Recorder recorder, AssertionError otherwise) {
        Throwable thrown = recorder.first();
        return thrown == null ? otherwise : thrown;
    }

    private String configuration(Protocol upstream, int port) {
        return """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes:
                  - rules:
                      - filters:
                          - {type: %7$s, %8$s: {}}
                          - {type: %1$s, %2$s: %3$s}
                          - {type: %9$s, %10$s: {}}
                        %4$s
                upstreams: [{name: app, protocol: %5$s, endpoints: [{host: 127.0.0.1, port: %6$d}]}]
                accessLog: {format: json, path: access.log}
                """
                .formatted(
                        plugin.type(),
                        FilterTypes.keyOf(plugin.type()),
                        settings,
                        plugin.answer() == 0 ? "backendRefs: [{name: app}]" : "",
                        upstream.upstream,
                        port,
                        Neighbour.BEFORE.type(),
                        FilterTypes.keyOf(Neighbour.BEFORE.type()),
                        Neighbour.AFTER.type(),
                        FilterTypes.keyOf(Neighbour.AFTER.type()));
    }

    private static Gateway start(ConfigFile file) {
        LoadResult result = file.load();
        if (!(result instanceof LoadResult.Valid loaded)) {
            throw new IllegalArgumentException(result.problems().toString());
        }
        try {
            return Gateway.start(loaded.config(), GatewayOptions.defaults().withFile(file));
        } catch (StartException e) {
            throw new IllegalArgumentException(e);
        }
    }

    /** Waits until nothing goes on. */
    private void awaitEnd(Gateway gateway) {
        long end = System.nanoTime() + patience.toNanos();
        Gateway.Activity activity = gateway.activity().join();
        while (activity.exchanges() > 0 || activity.upstreams().active() > 0) {
            if (System.nanoTime() > end) {
                throw new AssertionError("the exchange does not end: " + activity);
            }
            LockSupport.parkNanos(2_000_000);
            activity = gateway.activity().join();
        }
    }
}
