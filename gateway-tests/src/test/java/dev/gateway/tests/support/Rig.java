package dev.gateway.tests.support;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.Gateway;
import dev.gateway.GatewayOptions;
import dev.gateway.config.LoadResult;
import dev.gateway.files.StartException;
import dev.gateway.filter.FilterPlugin;
import dev.gateway.runtime.ConfigFile;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.Peers;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A gateway in this JVM, of a YAML file that a test writes, or of the usual one: in front of one upstream a cleartext
 * listener, one with TLS, an admin listener, an access log in a file. Closing it asserts that nothing is left behind: no
 * exchange, no upstream connection in use, no request that waits for one. Requests that find no endpoint fail at once,
 * unless the configuration has {@code connectWait}.
 */
public final class Rig implements AutoCloseable {
    /** What moves bytes in tests that do not say, instead of the default. */
    private static final @Nullable String TRANSPORT = System.getenv("TEST_TRANSPORT");

    private final Gateway gateway;
    private final Path directory;
    private final ConfigFile source;
    private final HttpClient admin =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private boolean stopped;

    private Rig(Gateway gateway, Path directory, ConfigFile source) {
        this.source = source;
        this.gateway = gateway;
        this.directory = directory;
    }

    public static Builder to(int port) {
        return new Builder("127.0.0.1", port);
    }

    public static Builder to(String host, int port) {
        return new Builder(host, port);
    }

    public static Builder to(Origin origin, Pairing pairing) {
        return to(origin.port()).upstreamProtocol(pairing.upstream);
    }

    /** Starts a gateway of a whole configuration; relative paths start at a directory of its own. */
    public static Rig start(String yaml) throws IOException {
        return start(yaml, GatewayOptions.defaults());
    }

    /** Starts a gateway of a whole configuration with options, to which the file is added. */
    public static Rig start(String yaml, GatewayOptions options) throws IOException {
        return start(yaml, options, ConfigFile::new);
    }

    private static Rig start(String yaml, GatewayOptions options, Function<Path, ConfigFile> sources)
            throws IOException {
        Path directory = Files.createTempDirectory("rig");
        Path file = Files.writeString(directory.resolve("gateway.yaml"), withDefaults(yaml));
        ConfigFile source = sources.apply(file);
        LoadResult result = source.load();
        if (result instanceof LoadResult.Valid valid) {
            try {
                return new Rig(Gateway.start(valid.config(), options.withFile(source)), directory, source);
            } catch (StartException e) {
                throw new IOException(e);
            }
        }
        throw new IOException(result.problems() + "\n" + yaml);
    }

    private static String withDefaults(String yaml) {
        boolean asksForOne = yaml.lines().anyMatch(line -> line.startsWith("transport:"));
        String quick = NoConnectWait.in(yaml);
        return TRANSPORT == null || asksForOne ? quick : "transport: " + TRANSPORT + "\n" + quick;
    }

    /** Returns the configuration's file. */
    public Path file() {
        return directory.resolve("gateway.yaml");
    }

    /** Writes another configuration and has it read; fails unless it takes over. */
    public void reload(String yaml) throws IOException, InterruptedException {
        Files.writeString(file(), withDefaults(yaml));
        HttpResponse<String> answer = post("/reload");
        if (answer.statusCode() != 200) {
            throw new IOException(answer.body());
        }
    }

    public int port() {
        return port("clear");
    }

    public int tlsPort() {
        return port("secure");
    }

    /** Returns the port that a listener is bound to; {@code admin} is the admin listener. */
    public int port(String listener) {
        return gateway.port(listener);
    }

    /** Returns a URI on a listener, which tells whether that speaks TLS. */
    public URI uri(String listener, String pathAndQuery) {
        String scheme = gateway.urls().get(listener).startsWith("https:") ? "https" : "http";
        return URI.create(scheme + "://localhost:" + port(listener) + pathAndQuery);
    }

    public Peer connect(Pairing pairing) throws IOException {
        return connect(pairing.client);
    }

    public Peer connect(Peers client) throws IOException {
        return client.connect(client.isTls() ? tlsPort() : port());
    }

    /** Drains and stops; returns when it has. */
    public void stop() {
        gateway.drain();
        stopped = true;
    }

    /** Waits until the access log has so many lines, and returns them all. */
    public List<String> awaitAccessLog(int lines) throws IOException {
        Path file = directory.resolve("access.log");
        return await(
                () -> Files.exists(file) ? wholeLines(Files.readString(file)) : List.<String>of(),
                found -> found.size() >= lines);
    }

    /** A batch of lines may be seen while it is written; what has no end yet is no line. */
    private static List<String> wholeLines(String text) {
        return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
    }

    /** Fetches a page of the admin listener. */
    public String admin(String path) throws IOException, InterruptedException {
        return adminResponse(path).body();
    }

    /** Fetches a page of the admin listener, whatever its status. */
    public HttpResponse<String> adminResponse(String path) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(), path);
    }

    /** Has something done by the admin listener. */
    public HttpResponse<String> post(String path) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder().POST(BodyPublishers.noBody()).header("X-Requested-By", "the test"), path);
    }

    private HttpResponse<String> send(HttpRequest.Builder request, String path)
            throws IOException, InterruptedException {
        return admin.send(
                request.uri(URI.create("http://127.0.0.1:" + gateway.port("admin") + path))
                        .timeout(Duration.ofMillis(Peer.PATIENCE_MILLIS))
                        .build(),
                BodyHandlers.ofString());
    }

    /** Waits until a metric has a value; tells all that there is to know if it does not, or if nobody says so. */
    public void awaitMetric(double value, String name, String... labels) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        double found = Double.NaN;
        int answers = 0;
        try {
            while ((found = metric(name, labels)) != value) {
                answers++;
                if (System.nanoTime() > deadline) {
                    throw new IOException("patience has ended");
                }
                LockSupport.parkNanos(20_000_000);
            }
        } catch (IOException e) {
            throw new IOException(
                    name + " is " + found + ", not " + value + ", after " + answers + " answers: " + e + "; "
                            + gateway.activity()
                                    .completeOnTimeout(null, 1, TimeUnit.SECONDS)
                                    .join() + "\n" + threads(),
                    e);
        }
    }

    private static String threads() {
        StringBuilder dump = new StringBuilder();
        for (ThreadInfo thread : ManagementFactory.getThreadMXBean().dumpAllThreads(false, false, 12)) {
            dump.append(thread);
        }
        return dump.toString();
    }

    /** Returns the sum of a metric's samples that have these labels, such as {@code code="200"}. */
    public double metric(String name, String... labels) throws IOException, InterruptedException {
        return admin("/metrics")
                .lines()
                .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
                .filter(line -> Stream.of(labels).allMatch(line::contains))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    /** Returns what is told of an endpoint of the first upstream. */
    public JsonNode endpoint(int index) throws IOException, InterruptedException {
        return new ObjectMapper().readTree(admin("/upstreams")).at("/upstreams/0/endpoints/" + index);
    }

    /** Waits until the first endpoints of the first upstream are so, all at the same time. */
    public void awaitStates(String... states) throws IOException, InterruptedException {
        List<String> wanted = List.of(states);
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        while (true) {
            String told = admin("/upstreams");
            JsonNode endpoints = new ObjectMapper().readTree(told).at("/upstreams/0/endpoints");
            if (endpoints.findValuesAsText("state").subList(0, wanted.size()).equals(wanted)) {
                return;
            }
            if (System.nanoTime() > deadline) {
                throw new IOException("not " + wanted + ": " + told);
            }
            LockSupport.parkNanos(10_000_000);
        }
    }

    /** Waits until no exchange is open and no upstream connection is in use. */
    public void awaitIdle() {
        awaitActivity(activity -> activity.exchanges() == 0
                && activity.upstreams().active() == 0
                && activity.upstreams().pending() == 0);
    }

    /** Waits until no client is connected but to the admin listener. */
    public void awaitNoConnection() {
        awaitActivity(activity -> activity.connections() == 0);
    }

    private void awaitActivity(Predicate<Gateway.Activity> condition) {
        await(() -> gateway.activity().join(), condition);
    }

    /** What a test asks until the answer is as it should be. */
    public interface Question<T, E extends Exception> {
        T ask() throws E;
    }

    /** Asks until the answer is as wanted, and returns it. */
    public static <T, E extends Exception> T await(Question<T, E> question, Predicate<T> wanted) throws E {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        T answer = question.ask();
        while (!wanted.test(answer)) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("still " + answer);
            }
            LockSupport.parkNanos(5_000_000);
            answer = question.ask();
        }
        return answer;
    }

    /** Stops the gateway. Clients are gone by now, so whatever goes on in it has been forgotten. */
    @Override
    public void close() throws IOException {
        try {
            if (!stopped) {
                awaitIdle();
            }
        } finally {
            gateway.close();
            source.close();
        }
        List<Path> files;
        try (Stream<Path> walk = Files.walk(directory)) {
            files = walk.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path file : files) {
            Files.delete(file);
        }
    }

    public static final class Builder {
        private final String host;
        private final int port;
        private String protocol = "http1";
        private String clear = "";
        private String listener = "";
        private String rule = "";
        private String upstream = "";
        private String top = "";
        private Function<Path, ConfigFile> source = ConfigFile::new;

        private Builder(String host, int port) {
            this.host = host;
            this.port = port;
        }

        public Builder upstreamProtocol(String word) {
            protocol = word;
            return this;
        }

        /** Adds YAML to both listeners. */
        public Builder listener(String yaml) {
            listener = ", " + yaml;
            return this;
        }

        /** Adds YAML to the cleartext listener. */
        public Builder clear(String yaml) {
            clear = ", " + yaml;
            return this;
        }

        /** Adds YAML to the only rule. */
        public Builder rule(String yaml) {
            rule = ", " + yaml;
            return this;
        }

        /** Adds YAML to the upstream. */
        public Builder upstream(String yaml) {
            upstream = ", " + yaml;
            return this;
        }

        /** Adds YAML at the top. */
        public Builder top(String yaml) {
            top = yaml;
            return this;
        }

        /** Loads the jars of a directory. */
        public Builder plugins(Path directory) {
            source = file -> ConfigFile.ofProcess(file, directory);
            return this;
        }

        /** Adds a filter type. */
        public Builder plugin(FilterPlugin plugin) {
            source = file -> new ConfigFile(file, List.of(plugin));
            return this;
        }

        public Rig start() throws IOException {
            return Rig.start(
                    """
                    listeners:
                      - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP%1$s%2$s}
                      - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}%2$s}
                    routes:
                      - name: all
                        rules:
                          - {backendRefs: [{name: app}]%3$s}
                    upstreams:
                      - {name: app, endpoints: [{host: %4$s, port: %5$d}], protocol: %6$s%7$s}
                    admin: {address: 127.0.0.1, port: 0}
                    accessLog: {format: json, path: access.log}
                    %8$s
                    """
                            .formatted(clear, listener, rule, host, port, protocol, upstream, top),
                    GatewayOptions.defaults(),
                    source);
        }
    }
}
