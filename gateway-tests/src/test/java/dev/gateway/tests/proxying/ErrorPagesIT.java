package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.ClosedPort;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Errors have the pages that the operator has written: those of the gateway, and those of upstreams if wanted. */
@Timeout(90)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class ErrorPagesIT {
    private static final String SECRET = "at com.example.Shop.java:77";

    @TempDir
    Path files;

    @BeforeEach
    void writePages() throws IOException {
        write("any.html", "<h1>{{status}} {{reason}}</h1><p title=\"{{requestId}}\">{{cause}}</p>");
        write("any.json", "{\"code\":{{status}},\"id\":\"{{requestId}}\"}");
        write("down.html", "<h1>down: {{cause}}</h1>");
    }

    private Path write(String name, String text) throws IOException {
        return Files.writeString(files.resolve(name), text);
    }

    private void replace(String name, String text) throws IOException {
        Files.move(write("next", text), files.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }

    private static Origin origin() throws IOException {
        return Origin.start()
                .on("/app/ok", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200, "content-length", "2"), false);
                    stream.send("ok", true);
                })
                .on("/app/short", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(
                            Head.response(
                                    500,
                                    "content-length",
                                    Integer.toString(SECRET.length()),
                                    "content-type",
                                    "application/json",
                                    "etag",
                                    "\"7\"",
                                    "cache-control",
                                    "max-age=600",
                                    "retry-after",
                                    "7",
                                    "x-kept",
                                    "yes"),
                            false);
                    stream.send(SECRET, true);
                })
                .on("/app/empty", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(503, "content-length", "0"), true);
                })
                .on("/app/trailers", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(500, "trailer", "x-sum"), false);
                    stream.send(SECRET, false);
                    stream.sendTrailers("x-sum", "12");
                })
                .on("/app/large", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(500, "content-length", "4000000"), false);
                    stream.send(new byte[4_000_000], true);
                })
                .on("/app/endless", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(500), false);
                    while (true) {
                        stream.send(SECRET, false);
                    }
                })
                .on("/app/silent", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(500, "content-length", "100"), false);
                    stream.send(SECRET, false);
                    stream.peer().awaitClosed();
                });
    }

    private String yaml(Origin origin, Pairing pairing) {
        return """
                listeners:
                  - name: clear
                    address: 127.0.0.1
                    port: 0
                    protocol: HTTP
                    trustedProxies: [127.0.0.1]
                    errorPages: {pages: [{statuses: [4xx, 5xx], files: ["%1$s/any.html", "%1$s/any.json"]}]}
                routes:
                  - name: shop
                    rules:
                      - name: down
                        matches: [{path: {value: /down}}]
                        filters:
                          - type: ErrorPages
                            errorPages:
                              pages: [{causes: [connect_failed, no_healthy_endpoint], files: ["%1$s/down.html"]}]
                        backendRefs: [{name: down}]
                      - name: app
                        matches: [{path: {value: /app}}]
                        filters:
                          - type: ErrorPages
                            errorPages:
                              pages: [{statuses: [5xx], files: ["%1$s/any.html", "%1$s/any.json"]}]
                              upstreamErrors: true
                        backendRefs: [{name: app}]
                        retry: {attempts: 0}
                      - name: plain
                        matches: [{path: {value: /plain}}]
                        filters:
                          - {type: URLRewrite, urlRewrite: {path: {type: ReplaceFullPath, replaceFullPath: /app/short}}}
                        backendRefs: [{name: app}]
                        retry: {attempts: 0}
                      - name: moving
                        matches: [{path: {value: /moving}}]
                        filters: [{type: DirectResponse, directResponse: {statusCode: 503}}]
                upstreams:
                  - {name: app, endpoints: [{host: 127.0.0.1, port: %2$d}], protocol: %3$s}
                  - {name: down, endpoints: [{host: 127.0.0.1, port: %4$d}], protocol: %3$s}
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {path: access.log}
                """
                .formatted(files, origin.port(), pairing.upstream, ClosedPort.number());
    }

    // ---- by curl

    private record Answer(int status, String head, String body) {}

    private static Answer curl(Rig rig, Pairing pairing, String path, String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Tools.find("curl"),
                "-sS",
                "--max-time",
                "20",
                "--noproxy",
                "*",
                "--path-as-is",
                "-D",
                "-",
                pairing.client == Peers.HTTP1 ? "--http1.1" : "--http2-prior-knowledge"));
        command.addAll(List.of(options));
        command.add("http://localhost:" + rig.port() + path);
        Tools.Result result = Tools.run(30, command);
        assertThat(result.exit()).as(result.output()).isZero();
        String text = result.output().replace("\r\n", "\n");
        int end = text.indexOf("\n\n");
        String head = text.substring(0, end + 1);
        return new Answer(
                Integer.parseInt(head.split(" ", 3)[1]), head.toLowerCase(Locale.ROOT), text.substring(end + 2));
    }

    @ParameterizedTest
    @EnumSource
    void errorsOfTheGatewayHaveThePagesOfTheRuleOrTheListener(Pairing pairing) throws Exception {
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing))) {
            Answer none = curl(rig, pairing, "/nowhere");
            assertThat(none.status()).isEqualTo(404);
            assertThat(none.body()).matches("<h1>404 Not Found</h1><p title=\"[0-9a-f]{32}\">no_route</p>");
            assertThat(none.head())
                    .contains("content-type: text/html; charset=utf-8\n")
                    .contains("cache-control: no-store\n")
                    .contains("content-length: " + none.body().length() + "\n")
                    .contains("details=\"no_route\"");

            assertThat(curl(rig, pairing, "/down").body()).isEqualTo("<h1>down: connect_failed</h1>");
            Answer moving = curl(rig, pairing, "/moving");
            assertThat(moving.status()).isEqualTo(503);
            assertThat(moving.body()).startsWith("<h1>503 Service Unavailable</h1>");

            Answer json = curl(rig, pairing, "/nowhere", "-H", "Accept: application/problem+json");
            assertThat(json.head()).contains("content-type: application/json\n");
            assertThat(json.body()).matches("\\{\"code\":404,\"id\":\"[0-9a-f]{32}\"}");
            Answer own = curl(rig, pairing, "/down", "-H", "Accept: application/json, */*;q=0.1");
            assertThat(own.head()).contains("content-type: application/problem+json\n");
            assertThat(own.body()).contains("\"cause\":\"connect_failed\"");

            Answer head = curl(rig, pairing, "/nowhere", "--head");
            assertThat(head.head()).contains("content-length: " + none.body().length() + "\n");
            assertThat(head.body()).isBlank();

            List<String> log = rig.awaitAccessLog(6);
            String id = none.body().replaceAll(".*title=\"([^\"]*)\".*", "$1");
            assertThat(log).anySatisfy(line -> assertThat(line).contains(id, "\"cause\":\"no_route\""));
        }
    }

    @CrossPairingTest
    void nothingThatAClientSendsBecomesPartOfAPage(Pairing pairing) throws Exception {
        String evil = "\"'><script>alert(1)</script>";
        write("any.html", "<p title=\"{{requestId}}\">{{cause}} {{status}} {{reason}}</p>");
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing))) {
            List<Answer> answers = List.of(
                    curl(rig, pairing, "/<script>alert(1)</script>"),
                    curl(rig, pairing, "/x?q=<script>alert(1)</script>"),
                    curl(rig, pairing, "/x", "-H", "Host: " + evil.replace(" ", "")),
                    curl(rig, pairing, "/x", "-H", "X-Request-Id: " + evil),
                    curl(rig, pairing, "/x", "-H", "User-Agent: " + evil, "-H", "Referer: " + evil),
                    curl(rig, pairing, "/x", "-H", "Accept: text/html;x=" + evil),
                    curl(rig, pairing, "/app/short", "-H", "X-Request-Id: " + evil));
            assertThat(answers).allSatisfy(answer -> {
                assertThat(answer.status()).isBetween(400, 599);
                assertThat(answer.body()).doesNotContain("script").doesNotContain("alert");
            });
            assertThat(curl(rig, pairing, "/x", "-H", "X-Request-Id: of-a.trusted_proxy~1")
                            .body())
                    .contains("title=\"of-a.trusted_proxy~1\"");
        }
    }

    // ---- errors of upstreams

    private static PeerStream ask(Peer client, String path, String... fields) throws IOException {
        String[] all =
                Stream.concat(Stream.of("host", "shop.test"), Stream.of(fields)).toArray(String[]::new);
        PeerStream stream = client.open();
        stream.send(Head.request("GET", path, all), true);
        return stream;
    }

    private static String body(Peer client, String path, int status, String... fields) throws IOException {
        PeerStream stream = ask(client, path, fields);
        assertThat(stream.receiveFinal().status()).isEqualTo(status);
        return stream.receiveBody();
    }

    @CrossPairingTest
    void errorsOfUpstreamsHavePagesIfWantedAndTheirConnectionsAreKept(Pairing pairing) throws Exception {
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing));
                Peer client = rig.connect(pairing)) {
            PeerStream stream = ask(client, "/app/short");
            Head head = stream.receiveFinal();
            assertThat(head.status()).isEqualTo(500);
            assertThat(head.get("content-type")).hasValue("text/html; charset=utf-8");
            assertThat(head.get("cache-control")).hasValue("no-store");
            assertThat(head.get("retry-after")).hasValue("7");
            assertThat(head.get("x-kept")).hasValue("yes");
            assertThat(head.get("etag")).isEmpty();
            assertThat(stream.receiveBody()).startsWith("<h1>500 Internal Server Error</h1>");

            rig.awaitIdle();
            assertThat(body(client, "/app/trailers", 500)).doesNotContain(SECRET);
            rig.awaitIdle();
            assertThat(body(client, "/app/empty", 503)).startsWith("<h1>503 ");
            assertThat(body(client, "/app/short", 500, "accept", "application/json"))
                    .startsWith("{\"code\":500");
            rig.awaitIdle();
            assertThat(body(client, "/app/short", 500, "accept", "image/png"))
                    .startsWith("{\"type\":\"about:blank\"")
                    .doesNotContain(SECRET);
            rig.awaitIdle();
            assertThat(body(client, "/app/missing", 404)).isEmpty();
            assertThat(body(client, "/app/ok", 200)).isEqualTo("ok");
            // The listener's pages are for the gateway's own errors, and this rule has none of its own.
            assertThat(body(client, "/plain", 500)).isEqualTo(SECRET);
            rig.awaitIdle();
            assertThat(origin.connections()).isEqualTo(1);
            rig.awaitMetric(4, "gateway_downstream_requests_total", "route=\"shop/app\"", "code=\"500\"", "cause=\"\"");
        }
    }

    @CrossPairingTest
    void bodiesOfUpstreamsThatAreLongOrNeverEndAreNotWaitedFor(Pairing pairing) throws Exception {
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing));
                Peer client = rig.connect(pairing)) {
            for (String path : List.of("/app/large", "/app/endless", "/app/silent")) {
                assertThat(body(client, path, 500))
                        .as(path)
                        .startsWith("<h1>500 ")
                        .doesNotContain(SECRET);
                assertThat(body(client, "/app/ok", 200)).as("after " + path).isEqualTo("ok");
            }
            rig.awaitIdle();
        }
    }

    @CrossPairingTest
    void callsOfGrpcKeepTheirErrors(Pairing pairing) throws Exception {
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing));
                Peer client = rig.connect(pairing)) {
            for (String path : List.of("/down", "/nowhere", "/app/short")) {
                PeerStream stream = ask(client, path, "content-type", "application/grpc");
                stream.receiveFinal();
                assertThat(stream.receiveBody()).as(path).doesNotContain("<h1>");
            }
        }
    }

    // ---- files and reloads

    @Test
    void aFileThatIsReplacedUnderLoadIsWholeInEachAnswer() throws Exception {
        replace("any.html", "0 {{status}} " + "x".repeat(20_000) + " 0");
        AtomicBoolean stop = new AtomicBoolean();
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, Pairing.H1_TO_H1))) {
            List<CompletableFuture<Integer>> clients = Stream.of(Peers.HTTP1, Peers.HTTP1, Peers.H2C)
                    .map(kind -> CompletableFuture.supplyAsync(() -> load(rig, kind, stop)))
                    .toList();
            try (Peer client = rig.connect(Peers.HTTP1)) {
                for (int version = 1; version <= 3; version++) {
                    replace("any.html", version + " {{status}} " + "x".repeat(20_000) + " " + version);
                    awaitPage(client, version + " 404 ");
                }
                assertThat(rig.metric("gateway_config_generation")).isEqualTo(1);
            } finally {
                stop.set(true);
            }
            for (CompletableFuture<Integer> load : clients) {
                assertThat(load.get(30, TimeUnit.SECONDS)).isPositive();
            }
        }
    }

    private static int load(Rig rig, Peers kind, AtomicBoolean stop) {
        int answers = 0;
        try (Peer client = rig.connect(kind)) {
            while (!stop.get()) {
                assertThat(body(client, "/nowhere", 404)).matches("([0-3]) 404 x{20000} \\1");
                answers++;
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return answers;
    }

    private static void awaitPage(Peer client, String start) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        String page = body(client, "/nowhere", 404);
        while (!page.startsWith(start)) {
            assertThat(System.nanoTime()).as(page).isLessThan(deadline);
            LockSupport.parkNanos(20_000_000);
            page = body(client, "/nowhere", 404);
        }
    }

    @Test
    void aFileThatCannotBeUsedLeavesThePageAndIsTold() throws Exception {
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, Pairing.H1_TO_H1));
                Peer client = rig.connect(Peers.HTTP1)) {
            write("any.html", "x".repeat(65 << 10));
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (!rig.admin("/ready").contains("ErrorPages: keeping the previous page")) {
                assertThat(System.nanoTime()).isLessThan(deadline);
                LockSupport.parkNanos(20_000_000);
            }
            assertThat(rig.admin("/ready")).contains("any.html is larger than 64 KiB");
            assertThat(body(client, "/nowhere", 404)).startsWith("<h1>404 ");
            assertThat(rig.post("/reload").body()).contains("any.html is larger than 64 KiB");
            write("any.html", "mended");
            awaitPage(client, "mended");
        }
    }

    @Test
    void aReloadChangesWhichErrorsHavePages() throws Exception {
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, Pairing.H1_TO_H1));
                Peer client = rig.connect(Peers.HTTP1)) {
            assertThat(body(client, "/nowhere", 404)).startsWith("<h1>404 ");
            assertThat(body(client, "/app/short", 500)).startsWith("<h1>500 ");
            rig.reload(yaml(origin, Pairing.H1_TO_H1)
                    .replace("statuses: [4xx, 5xx]", "statuses: [400, 500-599]")
                    .replace("upstreamErrors: true", "upstreamErrors: false"));
            assertThat(body(client, "/nowhere", 404)).contains("\"cause\":\"no_route\"");
            assertThat(body(client, "/app/short", 500)).isEqualTo(SECRET);
            assertThat(rig.admin("/explain?path=/app/short"))
                    .contains("ErrorPages: 500-599 from any.html, any.json")
                    .contains("the listener has ErrorPages: 400, 500-599 from any.html, any.json");
            assertThat(rig.admin("/explain?path=/nowhere")).contains("the listener has ErrorPages: 400, 500-599");
        }
    }
}
