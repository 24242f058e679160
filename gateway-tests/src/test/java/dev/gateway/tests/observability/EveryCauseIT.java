package dev.gateway.tests.observability;

import static dev.gateway.tests.support.OtlpReceiver.attribute;
import static dev.gateway.tests.support.OtlpReceiver.hex;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.FilterPlugin;
import dev.gateway.filter.Verdict;
import dev.gateway.message.RequestHead;
import dev.gateway.plugin.Settings;
import dev.gateway.stream.Cause;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.ClosedPort;
import dev.gateway.tests.peer.Handshake;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.OtlpReceiver;
import dev.gateway.tests.support.Rig;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Every cause of the closed list, by what brings it about: the same word, once, in the access log, in the metrics, in the
 * exchange's span, and in {@code Proxy-Status} where the gateway itself answers.
 */
class EveryCauseIT {
    /** What cannot happen yet, and why. Whoever makes it happen adds a scenario and takes it from here. */
    private static final Map<Cause, String> NOT_REACHED = Map.of(
            Cause.ADMIN_CLOSED, "the admin listener closes no single tunnel",
            Cause.UNKNOWN, "a defect, which no test can bring about from outside");

    private static final String ALL = "{ratio: 1}"; // traces are sampled

    /** Brings a cause about, and ends in {@link #verify}. */
    private interface Scenario {
        void run(Cause cause) throws Exception;
    }

    @TempDir
    private Path directory;

    private final OtlpReceiver receiver = new OtlpReceiver();
    private final Map<Cause, Scenario> scenarios = new EnumMap<>(Cause.class);

    EveryCauseIT() throws IOException {
        scenarios.put(Cause.NO_ROUTE, this::noRoute);
        scenarios.put(Cause.NO_HEALTHY_ENDPOINT, this::noEndpoint);
        scenarios.put(Cause.DNS_FAILED, cause -> refused(cause, Rig.to("no-such-host.invalid", 80)));
        scenarios.put(Cause.CONNECT_FAILED, cause -> refused(cause, Rig.to(ClosedPort.number())));
        scenarios.put(Cause.CONNECT_TIMEOUT, this::connectTimeout);
        scenarios.put(Cause.TLS_FAILED, this::tlsFailed);
        scenarios.put(Cause.PENDING_OVERFLOW, cause -> whileBusy(cause, "circuitBreaker: {maxRequests: 1}"));
        scenarios.put(
                Cause.PENDING_TIMEOUT,
                cause -> whileBusy(cause, "circuitBreaker: {maxConnections: 1}, timeouts: {poolAcquire: 200ms}"));
        scenarios.put(Cause.UPSTREAM_RESET_BEFORE_HEADERS, cause -> answered(cause, Behaviors.resetBeforeHead()));
        scenarios.put(Cause.UPSTREAM_RESET_IN_BODY, this::resetInBody);
        scenarios.put(
                Cause.UPSTREAM_PROTOCOL_ERROR,
                cause -> answered(
                        cause, (stream, head) -> ((Http1Peer) stream.peer()).raw("SSH-2.0-OpenSSH_9.2\r\n\r\n")));
        scenarios.put(Cause.UPSTREAM_TIMEOUT, this::upstreamTimeout);
        scenarios.put(
                Cause.RETRY_LIMIT, cause -> unavailable(cause, "retry: {attempts: 1, codes: [503], backoff: 1ms}"));
        scenarios.put(
                Cause.RETRY_BUDGET,
                cause -> unavailable(cause, "retry: {budget: {percent: 0, minRetriesPerSecond: 0}}"));
        scenarios.put(Cause.CLIENT_CLOSED, this::clientClosed);
        scenarios.put(Cause.CLIENT_TIMEOUT, this::clientTimeout);
        scenarios.put(
                Cause.CLIENT_PROTOCOL_ERROR, cause -> refused(cause, Rig.to(1), "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"));
        scenarios.put(
                Cause.BODY_TOO_LARGE,
                cause -> refused(
                        cause,
                        Rig.to(1).listener("limits: {maxBody: 1KiB}"),
                        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1025\r\n\r\n"));
        scenarios.put(Cause.RATE_LIMITED, cause -> oneTunnelTooMany(cause, "maxTunnelsPerClient"));
        scenarios.put(Cause.OVERLOAD, cause -> oneTunnelTooMany(cause, "maxTunnels"));
        scenarios.put(Cause.AUTHZ_DENIED, this::foreignOrigin);
        scenarios.put(Cause.AUTHZ_ERROR, this::noAuthServer);
        scenarios.put(Cause.FILTER_ERROR, this::throwingPlugin);
        scenarios.put(Cause.PROXY_AUTH, this::proxyAuth);
        scenarios.put(
                Cause.POLICY_PORT, cause -> noTunnel(cause, "allowedPorts: [1], allow: ['*'], denyPrivate: false"));
        scenarios.put(Cause.POLICY_HOST, cause -> noTunnel(cause, "allowedPorts: [1-65535], allow: [a.test]"));
        scenarios.put(Cause.POLICY_ADDRESS, cause -> noTunnel(cause, "allowedPorts: [1-65535], allow: ['*']"));
        scenarios.put(Cause.POLICY_SNI, cause -> endedTunnel(cause, "sni: mustMatch", "not TLS at all"));
        scenarios.put(Cause.LOOP_DETECTED, this::loop);
        scenarios.put(Cause.IDLE_TIMEOUT, cause -> endedTunnel(cause, "timeouts: {idle: 200ms}", ""));
        scenarios.put(Cause.MAX_DURATION, cause -> endedTunnel(cause, "timeouts: {max: 200ms}", ""));
        scenarios.put(Cause.DRAIN, this::drained);
    }

    @AfterEach
    void stop() {
        receiver.close();
    }

    @ParameterizedTest
    @EnumSource
    void aCauseIsTheSameInLogMetricsSpanAndAnswer(Cause cause) throws Exception {
        Scenario scenario = scenarios.get(cause);
        if (scenario != null) {
            scenario.run(cause);
        } else {
            assertThat(NOT_REACHED).as("what has no scenario has a reason").containsKey(cause);
        }
    }

    @Test
    void whatHappensIsNotListedAsWhatDoesNot() {
        assertThat(scenarios).doesNotContainKeys(NOT_REACHED.keySet().toArray(Cause[]::new));
    }

    private Rig start(Rig.Builder builder) throws IOException {
        return builder.top(receiver.spans(ALL)).start();
    }

    // ---- scenarios of requests

    private void noRoute(Cause cause) throws Exception {
        refused(cause, Rig.to(1).rule("matches: [{path: {type: Exact, value: /here}}]"));
    }

    private void noEndpoint(Cause cause) throws Exception {
        try (Rig rig = start(Rig.to(1));
                Http1Peer client = Http1Peer.connect(rig.port())) {
            assertThat(rig.post("/endpoints/app/127.0.0.1:1:drain").statusCode())
                    .isEqualTo(200);
            client.raw("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            verify(rig, cause, client.response("GET").receiveFinal());
        }
    }

    /** The kernel leaves connections to a listening socket whose queue is full without an answer. */
    private void connectTimeout(Cause cause) throws Exception {
        List<Socket> queued = new ArrayList<>();
        try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            for (int i = 0; i < 4; i++) {
                Socket socket = new Socket();
                queued.add(socket);
                try {
                    socket.connect(new InetSocketAddress(full.getInetAddress(), full.getLocalPort()), 50);
                } catch (SocketTimeoutException e) {
                    break;
                }
            }
            refused(cause, Rig.to(full.getLocalPort()).upstream("timeouts: {connect: 200ms}"));
        } finally {
            for (Socket socket : queued) {
                socket.close();
            }
        }
    }

    private void tlsFailed(Cause cause) throws Exception {
        try (Origin origin = Origin.startTls().on("/", Behaviors.text("secret"))) {
            refused(cause, Rig.to("localhost", origin.port()).upstream("tls: {}"));
        }
    }

    private void refused(Cause cause, Rig.Builder builder) throws Exception {
        refused(cause, builder, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    }

    private void refused(Cause cause, Rig.Builder builder, String request) throws Exception {
        try (Rig rig = start(builder);
                Http1Peer client = Http1Peer.connect(rig.port())) {
            client.raw(request);
            verify(rig, cause, client.response("POST").receiveFinal());
        }
    }

    /** The upstream does something wrong. */
    private void answered(Cause cause, Origin.Behavior behavior) throws Exception {
        try (Origin origin = Origin.start().on("/", behavior)) {
            refused(cause, Rig.to(origin.port()));
        }
    }

    private void upstreamTimeout(Cause cause) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.silence())) {
            refused(cause, Rig.to(origin.port()).upstream("timeouts: {responseHeaders: 200ms}"));
        }
    }

    private void whileBusy(Cause cause, String upstream) throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    arrived.countDown();
                    goOn.await();
                    Behaviors.text("late").serve(stream, head);
                });
                Rig rig = start(Rig.to(origin.port()).upstream(upstream));
                Http1Peer first = Http1Peer.connect(rig.port());
                Http1Peer second = Http1Peer.connect(rig.port())) {
            PeerStream busy = send(first);
            arrived.await();
            verify(rig, cause, send(second).receiveFinal());
            goOn.countDown();
            assertThat(busy.receiveFinal().status()).isEqualTo(200);
        }
    }

    private static PeerStream send(Peer client) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/"), true);
        return stream;
    }

    private void resetInBody(Cause cause) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.resetInBody());
                Rig rig = start(Rig.to(origin.port()));
                Http1Peer client = Http1Peer.connect(rig.port())) {
            send(client);
            verify(rig, cause, null);
        }
    }

    /** The client gets the last answer of the upstream, which has no {@code Proxy-Status} of ours. */
    private void unavailable(Cause cause, String policy) throws Exception {
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(503, "content-length", "0"), true);
                });
                Rig rig = start(Rig.to(origin.port()).rule(policy));
                Http1Peer client = Http1Peer.connect(rig.port())) {
            Head answer = send(client).receiveFinal();
            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.get("proxy-status")).isEmpty();
            verify(rig, cause, null);
        }
    }

    private void clientClosed(Cause cause) throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    arrived.countDown();
                    stream.peer().awaitClosed();
                });
                Rig rig = start(Rig.to(origin.port()));
                Http1Peer client = Http1Peer.connect(rig.port())) {
            send(client);
            arrived.await();
            client.abort();
            JsonNode line = verify(rig, cause, null);
            assertThat(line.get("status").asInt()).isEqualTo(499);
        }
    }

    private void clientTimeout(Cause cause) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("never"))) {
            refused(
                    cause,
                    Rig.to(origin.port()).listener("timeouts: {requestBodyIdle: 200ms}"),
                    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nsome");
        }
    }

    private void foreignOrigin(Cause cause) throws Exception {
        try (Rig rig = start(Rig.to(1).rule("webSocket: {allowedOrigins: [\"https://app.example.com\"]}"));
                Http1Peer client = Http1Peer.connect(rig.port())) {
            verify(rig, cause, Handshake.ask(client.open(), "/", "Origin", "https://evil.example.net"));
        }
    }

    private void noAuthServer(Cause cause) throws Exception {
        String filter = "{type: ExternalAuth, externalAuth: {backendRef: {name: app}, path: /}}";
        refused(cause, Rig.to(ClosedPort.number()).rule("filters: [" + filter + "]"));
    }

    private void throwingPlugin(Cause cause) throws Exception {
        FilterPlugin plugin = new FilterPlugin() {
            @Override
            public String type() {
                return "Broken";
            }

            @Override
            public String description() {
                return "Throws an exception at every request.";
            }

            @Override
            public Filter create(Settings settings) {
                return new Filter() {
                    @Override
                    public Verdict onRequest(RequestHead head, FilterContext context) {
                        throw new IllegalStateException("broken");
                    }
                };
            }
        };
        refused(cause, Rig.to(1).plugin(plugin).rule("filters: [{type: Broken, broken: {}}]"));
    }

    /** The upstream that a request waits for is not part of the configuration any more. */
    private void drained(Cause cause) throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        String yaml =
                """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{name: all, rules: [{backendRefs: [{name: %1$s}]}]}]
                upstreams: [{name: %1$s, endpoints: [{host: 127.0.0.1, port: %2$d}]}]
                accessLog: {format: json, path: access.log}
                admin: {address: 127.0.0.1, port: 0}
                drain: {timeout: 100ms}
                """
                        + receiver.spans(ALL);
        try (Origin origin = Origin.start().on("/", (stream, head) -> {
                    arrived.countDown();
                    stream.peer().awaitClosed();
                });
                Rig rig = Rig.start(yaml.formatted("former", origin.port()));
                Http1Peer client = Http1Peer.connect(rig.port())) {
            PeerStream stream = send(client);
            arrived.await();
            rig.reload(yaml.formatted("next", ClosedPort.number()));
            verify(rig, cause, stream.receiveFinal());
        }
    }

    // ---- scenarios of tunnels

    private String egress(String connect) {
        return """
                listeners: [{name: egress, address: 127.0.0.1, port: 0, protocol: HTTP}]
                connect: [{parentRefs: [{name: egress}], %s}]
                accessLog: {format: json, path: access.log}
                admin: {address: 127.0.0.1, port: 0}
                %s
                """
                .formatted(connect, receiver.spans(ALL));
    }

    private static PeerStream connect(Http1Peer client, int port) throws IOException {
        client.raw("CONNECT 127.0.0.1:" + port + " HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n\r\n");
        return client.response("CONNECT");
    }

    private void noTunnel(Cause cause, String connect) throws Exception {
        try (Rig rig = Rig.start(egress(connect));
                Http1Peer client = Http1Peer.connect(rig.port("egress"))) {
            Head answer = connect(client, 443).receiveFinal();
            verify(rig, cause, answer);
            assertThat(rig.metric("gateway_tunnels_total", label(cause), "decision=\"denied\""))
                    .isEqualTo(1);
        }
    }

    /** A request that has passed here says so, wherever it comes from. */
    private void loop(Cause cause) throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("hello"));
                Rig rig = Rig.start(egress("allowedPorts: [1-65535], allow: ['*'], denyPrivate: false"));
                Http1Peer client = Http1Peer.connect(rig.port("egress"))) {
            String authority = "127.0.0.1:" + origin.port();
            client.raw("GET http://" + authority + "/ HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
            assertThat(client.response("GET").receiveFinal().status()).isEqualTo(200);
            String via = origin.requests("/").get(0).get("via").orElseThrow();
            try (Http1Peer other = Http1Peer.connect(rig.port("egress"))) {
                other.raw("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\nVia: 1.0 fred, " + via
                        + " (a comment), 1.1 wilma\r\n\r\n");
                verify(rig, cause, other.response("CONNECT").receiveFinal());
                assertThat(rig.metric("gateway_tunnels_total", label(cause), "decision=\"denied\""))
                        .isEqualTo(1);
            }
        }
    }

    private void proxyAuth(Cause cause) throws Exception {
        Path users = Files.writeString(directory.resolve("users"), "ann:$apr1$abcdefgh$h9FWgUz3n9YxylKLlR5SQ/\n");
        noTunnel(
                cause,
                "allowedPorts: [1-65535], allow: ['*'], auth: {realm: tests, basic: {usersFile: \"" + users + "\"}}");
    }

    private void oneTunnelTooMany(Cause cause, String limit) throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
                Rig rig = Rig.start(egress(
                        "allowedPorts: [1-65535], allow: ['*'], denyPrivate: false, limits: {" + limit + ": 1}"));
                Http1Peer first = Http1Peer.connect(rig.port("egress"));
                Http1Peer second = Http1Peer.connect(rig.port("egress"))) {
            assertThat(connect(first, silent.getLocalPort()).receiveFinal().status())
                    .isEqualTo(200);
            verify(rig, cause, connect(second, silent.getLocalPort()).receiveFinal());
            first.abort();
            rig.awaitIdle();
        }
    }

    private void endedTunnel(Cause cause, String connect, String firstBytes) throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
                Rig rig = Rig.start(egress("allowedPorts: [1-65535], allow: ['*'], denyPrivate: false, " + connect));
                Http1Peer client = Http1Peer.connect(rig.port("egress"))) {
            assertThat(connect(client, silent.getLocalPort()).receiveFinal().status())
                    .isEqualTo(200);
            client.raw(firstBytes);
            verify(rig, cause, null);
            assertThat(rig.metric("gateway_tunnels_total", label(cause))).isEqualTo(1);
        }
    }

    // ---- what each has to look like

    private static String label(Cause cause) {
        return "cause=\"" + cause.label() + "\"";
    }

    /**
     * Waits for the exchange's end, and checks all that tells of it.
     *
     * @param answer of the gateway, null if it could give none
     * @return the line of the access log
     */
    private JsonNode verify(Rig rig, Cause cause, @Nullable Head answer) throws Exception {
        if (answer != null) {
            assertThat(answer.status()).isEqualTo(cause.status());
            assertThat(answer.get("proxy-status").orElse("none"))
                    .startsWith("gateway;error=")
                    .endsWith(";details=\"" + cause.label() + "\"");
        }
        rig.awaitMetric(1, "gateway_downstream_requests_total", label(cause));
        double failed = rig.metric("gateway_downstream_requests_total", "cause=\"")
                - rig.metric("gateway_downstream_requests_total", "cause=\"\"");
        assertThat(failed).as("failed exchanges, whatever the cause").isEqualTo(1);
        List<JsonNode> lines = failures(rig);
        assertThat(lines).hasSize(1);
        assertThat(lines.get(0).get("cause").asText()).isEqualTo(cause.label());
        assertThat(lines.get(0).get("detail").asText()).isNotEmpty();
        JsonNode statistics = new ObjectMapper().readTree(rig.admin("/stats?format=json"));
        assertThat(statistics.at("/causes/" + cause.label()).asInt()).isEqualTo(1);
        JsonNode line = lines.get(0);
        Span span = span();
        assertThat(attribute(span, "error.type")).isEqualTo(cause.label());
        assertThat(hex(span.getTraceId())).isEqualTo(line.get("traceId").asText());
        assertThat(hex(span.getSpanId())).isEqualTo(line.get("spanId").asText());
        assertThat(attribute(span, "http.response.status_code"))
                .isEqualTo(line.path("status").asText());
        return line;
    }

    /** Waits for that of the exchange that failed; those of its attempts, and of exchanges that did not, may come before. */
    private Span span() throws InterruptedException {
        while (true) {
            Span span = receiver.awaitSpans(1).get(0);
            if (span.getKind() == Span.SpanKind.SPAN_KIND_SERVER
                    && !attribute(span, "error.type").isEmpty()) {
                return span;
            }
        }
    }

    /** Lines are handed over in batches, so the one of an exchange that has been counted may take a moment. */
    private static List<JsonNode> failures(Rig rig) throws IOException {
        int lines = 1;
        while (true) {
            List<JsonNode> failures = new ArrayList<>();
            List<String> log = rig.awaitAccessLog(lines);
            for (String line : log) {
                JsonNode json = new ObjectMapper().readTree(line);
                if (json.has("cause")) {
                    failures.add(json);
                }
            }
            if (!failures.isEmpty()) {
                return failures;
            }
            lines = log.size() + 1;
        }
    }
}
