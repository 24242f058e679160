package dev.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.testing.TracedClasses;
import dev.gateway.testing.TracedClasses.Call;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What one GET costs a reader: how many of our classes it touches, how many calls it makes, and how many of these are climbs.
 * Client and upstream speak HTTP/1.1 over kept connections, and the access log writes JSON. The test prints what it has
 * counted, with the largest parts. A commit that raises a bound says what for.
 */
@Timeout(60)
class RequestTraceTest {
    private static final int REQUESTS = 40;

    private static final int MOST_CLASSES = 176;
    private static final int MOST_CALLS = 1_876;
    private static final int MOST_CLIMBS_OF_REQUEST = 22;
    private static final int MOST_CLIMBS_OF_RESPONSE = 34;

    private static final String YAML =
            """
            listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
            routes:
              - name: shop
                rules: [{backendRefs: [{name: origin}]}]
            upstreams:
              - {name: origin, endpoints: [{host: 127.0.0.1, port: PORT}], timeouts: {connect: 50s}}
            admin: {enabled: false}
            accessLog: {format: json, path: access.log}
            workers: 1
            transport: nio
            """;

    /** Starts the gateway whose classes are traced. */
    public static final class Starter {
        /** Starts it, and adds its port. */
        public static AutoCloseable start(Path file, List<Integer> port) throws Exception {
            Gateway gateway = Gateway.start(((LoadResult.Valid) ConfigLoader.load(file)).config());
            port.add(gateway.port("web"));
            return gateway;
        }
    }

    /** A request by what it called until the response came, and from then on. */
    private record Exchanged(List<Call> request, List<Call> response) {
        int calls() {
            return request.size() + response.size();
        }
    }

    @Test
    void aRequestTouchesFewClassesAndSeldomClimbs(@TempDir Path directory) throws Exception {
        Exchanged least = trace(directory).stream()
                .min(Comparator.comparing(Exchanged::calls))
                .orElseThrow();

        List<Call> all = new ArrayList<>(least.request);
        all.addAll(least.response);
        long classes = all.stream().map(call -> call.method().type()).distinct().count();
        System.out.printf(
                "a GET: %d classes, %d calls (request %d, response %d), climbs %d + %d%n",
                classes,
                all.size(),
                least.request.size(),
                least.response.size(),
                climbs(least.request),
                climbs(least.response));
        print("calls of classes", all, call -> call.method().type());
        print("calls", all, call -> call.method().toString());
        String file = System.getProperty("trace.file"); // for who wants to read all of it
        if (file != null) {
            Files.writeString(Path.of(file), tree(least.request) + tree(least.response));
        }
        print("climbs", all.stream().filter(Call::isClimb).toList(), RequestTraceTest::step);
        assertThat(classes).as("classes").isBetween(20L, (long) MOST_CLASSES);
        assertThat(all).as("calls").hasSizeBetween(200, MOST_CALLS);
        assertThat(climbs(least.request)).as("climbs of the request").isLessThanOrEqualTo(MOST_CLIMBS_OF_REQUEST);
        assertThat(climbs(least.response)).as("climbs of the response").isLessThanOrEqualTo(MOST_CLIMBS_OF_RESPONSE);
    }

    private static long climbs(List<Call> calls) {
        return calls.stream().filter(Call::isClimb).count();
    }

    private static String step(Call call) {
        return call.callers().get(call.callers().size() - 1) + " -> " + call.method();
    }

    /** Returns a line for each call, indented by its depth, with a mark before a climb. */
    private static String tree(List<Call> calls) {
        return calls.stream()
                .map(call -> " ".repeat(call.callers().size()) + (call.isClimb() ? "^" : "") + call.method() + "\n")
                .collect(Collectors.joining("", "\n", ""));
    }

    /** Prints the ten most frequent ones. */
    private static void print(String what, List<Call> calls, Function<Call, String> key) {
        Map<String, Long> counts = calls.stream().collect(Collectors.groupingBy(key, Collectors.counting()));
        System.out.println(what + ":");
        counts.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed().thenComparing(Map.Entry.comparingByKey()))
                .limit(10)
                .forEach(each -> System.out.printf("%6d %s%n", each.getValue(), each.getKey()));
    }

    /** Returns the calls of the second half of the requests, when all classes are loaded and connections are kept. */
    private static List<Exchanged> trace(Path directory) throws Exception {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        TracedClasses classes = new TracedClasses();
        Thread.currentThread().setContextClassLoader(classes); // for the services that the gateway looks up
        List<Integer> port = new ArrayList<>();
        try (ServerSocket origin = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread serving = new Thread(() -> serve(origin), "origin");
            serving.start();
            Path file = Files.writeString(
                    directory.resolve("gateway.yaml"), YAML.replace("PORT", Integer.toString(origin.getLocalPort())));
            AutoCloseable gateway = (AutoCloseable) classes.loadClass(Starter.class.getName())
                    .getMethod("start", Path.class, List.class)
                    .invoke(null, file, port);
            try {
                ask(port.get(0));
            } finally {
                gateway.close();
            }
            serving.join();
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
        return exchanged(TracedClasses.calls());
    }

    private static void ask(int port) throws IOException {
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), port)) {
            for (int i = 0; i < REQUESTS; i++) {
                if (i == REQUESTS / 2) {
                    TracedClasses.record(loop());
                }
                client.getOutputStream()
                        .write("GET /shop HTTP/1.1\r\nhost: a.test\r\nuser-agent: trace\r\n\r\n"
                                .getBytes(StandardCharsets.US_ASCII));
                assertThat(head(client.getInputStream())).startsWith("HTTP/1.1 200");
                assertThat(client.getInputStream().readNBytes(5)).hasSize(5);
            }
            TracedClasses.stop();
        }
    }

    private static Thread loop() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(each ->
                        each.getName().startsWith("loop-") && each.getContextClassLoader() instanceof TracedClasses)
                .findAny()
                .orElseThrow();
    }

    private static void serve(ServerSocket origin) {
        try (Socket connection = origin.accept()) {
            while (!head(connection.getInputStream()).isEmpty()) {
                connection
                        .getOutputStream()
                        .write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello".getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException e) {
            // the gateway has closed
        }
    }

    /** Reads a head, empty at the end of the input. */
    private static String head(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        for (int next = in.read(); next >= 0; next = in.read()) {
            head.append((char) next);
            if (head.indexOf("\r\n\r\n") >= 0) {
                return head.toString();
            }
        }
        return "";
    }

    /**
     * Takes the calls apart by requests. Each read of a connection begins with a buffer for it: that of a request has the
     * handler's call, and the next one is that of its response. The record may begin and end in the middle of a request.
     */
    private static List<Exchanged> exchanged(List<List<Call>> roots) {
        List<List<Call>> reads = new ArrayList<>();
        for (List<Call> root : roots) {
            String type = root.get(0).method().type();
            if (!type.startsWith("dev.gateway.net.") && !type.startsWith("dev.gateway.protocol.")) {
                continue; // periodic work of the event loop
            }
            if (root.get(0).method().name().equals("allocate")) {
                reads.add(new ArrayList<>());
            }
            if (!reads.isEmpty()) {
                reads.get(reads.size() - 1).addAll(root);
            }
        }
        List<Exchanged> all = new ArrayList<>();
        for (int i = 0; i + 2 < reads.size(); i++) {
            if (reads.get(i).stream().anyMatch(call -> call.method().toString().equals("ExchangeHandler.onRequest"))) {
                all.add(new Exchanged(reads.get(i), reads.get(i + 1)));
            }
        }
        return all;
    }
}
