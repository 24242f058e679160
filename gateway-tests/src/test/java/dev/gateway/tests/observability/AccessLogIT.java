package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What operators find in the access log, in the form and the place that they want. */
class AccessLogIT {
    private static String config(String accessLog, String upstream, Origin origin, String rule) {
        return """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}}
                routes:
                  - name: all
                    rules: [{backendRefs: [{name: app}]%s}]
                upstreams: [{name: app, protocol: %s, endpoints: [{host: 127.0.0.1, port: %d}]}]
                admin: {port: 0}
                accessLog: %s
                """
                .formatted(rule, upstream, origin.port(), accessLog);
    }

    private static int get(Peer client, String path, String... fields) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", path, fields), true);
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }

    @ParameterizedTest
    @EnumSource
    void aTemplateShowsHeadersAndHidesSecrets(Pairing pairing) throws Exception {
        String log = "{path: access.log, template: '{requestLine} {status} {generation} \"{requestHeader:X-Tier}\""
                + " {requestHeader:Authorization} {responseHeader:X-Cache}', redact: {queryKeys: [token]}}";
        try (Origin origin = Origin.start().on("/a", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200, "content-length", "0", "x-cache", "H I T"), true);
                });
                Rig rig = Rig.start(config(log, pairing.upstream, origin, ""));
                Peer client = rig.connect(pairing)) {
            get(client, "/a?token=secret&b=c", "x-tier", "go\\ld \"1\"", "authorization", "Bearer secret");
            String protocol = pairing.client == Peers.HTTP1 ? "HTTP/1.1" : "HTTP/2.0";
            assertThat(rig.awaitAccessLog(1))
                    .containsExactly(
                            "GET /a?token=***&b=c " + protocol + " 200 1 \"go\\x5cld \\x221\\x22\" *** H\\x20I\\x20T");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aLineOfJsonHasTheFieldsThatTheOperatorWantsByTheirNames(Pairing pairing) throws Exception {
        String log =
                """
                {path: access.log, fields: {keep: [client, method, status], rename: [{name: client, to: client.address}],
                  add: [{name: tier, value: '{requestHeader:X-Tier}'}, {name: cache, value: '{responseHeader:X-Cache}'},
                        {name: who, value: '{requestHeader:Authorization}'}, {name: stage, value: prod},
                        {name: asked, value: '{method} {path}'}]}}
                """;
        try (Origin origin = Origin.start().on("/a", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200, "content-length", "0", "x-cache", "HIT"), true);
                });
                Rig rig = Rig.start(config(log, pairing.upstream, origin, ""));
                Peer client = rig.connect(pairing)) {
            get(client, "/a?token=secret", "x-tier", "gold", "authorization", "Bearer secret");
            get(client, "/a");
            assertThat(rig.awaitAccessLog(2))
                    .containsExactly(
                            "{\"client.address\":\"127.0.0.1\",\"method\":\"GET\",\"status\":200,\"tier\":\"gold\",\"cache\":\"HIT\",\"who\":\"***\",\"stage\":\"prod\",\"asked\":\"GET"
                                    + " /a?token=***\"}",
                            "{\"client.address\":\"127.0.0.1\",\"method\":\"GET\",\"status\":200,\"cache\":\"HIT\","
                                    + "\"stage\":\"prod\",\"asked\":\"GET /a\"}");
        }
    }

    @Test
    void theTimeOfAnExchangeIsToldByPhases() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.start(config("{path: access.log}", "http1", origin, ""));
                Http1Peer client = Http1Peer.connect(rig.port());
                Peer secure = Peers.H2_TLS.connect(rig.tlsPort())) {
            client.raw("GET / HT");
            rig.awaitMetric(8, "gateway_downstream_received_bytes_total", "listener=\"clear\"", "kind=\"http\"");
            client.raw("TP/1.1\r\nhost: a\r\n\r\n");
            PeerStream response = client.response("GET");
            response.receiveFinal();
            assertThat(response.receiveBody()).isEqualTo("ok");
            JsonNode first = new ObjectMapper().readTree(rig.awaitAccessLog(1).get(0));
            assertThat(first.fieldNames())
                    .toIterable()
                    .contains("headMicros", "dialMicros", "connectMicros", "responseMicros", "bodyMicros")
                    .doesNotContain("tlsMicros");
            assertThat(first.get("dialMicros").asLong())
                    .isLessThanOrEqualTo(first.get("connectMicros").asLong());
            long phases = first.get("connectMicros").asLong()
                    + first.get("responseMicros").asLong()
                    + first.get("bodyMicros").asLong();
            assertThat(phases).isLessThanOrEqualTo(first.get("durationMicros").asLong());
            get(secure, "/");
            JsonNode second = new ObjectMapper().readTree(rig.awaitAccessLog(2).get(1));
            assertThat(second.get("tlsMicros").asLong()).isPositive();
            assertThat(second.has("headMicros")).isFalse();
        }
    }

    @Test
    void aRouteMayWantLinesOfFailuresOnly() throws Exception {
        String log = "{path: access.log, exchanges: none}";
        try (Origin origin = Origin.start().on("/good", Behaviors.text("ok")).on("/bad", Behaviors.resetBeforeHead());
                Rig rig = Rig.start(config(log, "http1", origin, ", accessLog: {exchanges: failed}"));
                Peer client = rig.connect(Peers.HTTP1)) {
            assertThat(get(client, "/good")).isEqualTo(200);
            assertThat(get(client, "/bad")).isEqualTo(502);
            assertThat(rig.awaitAccessLog(1)).singleElement().asString().contains("\"path\":\"/bad\"");
        }
    }

    /** Such as that of health checks. Whatever no rule takes is logged as the log says. */
    @Test
    void aRuleMayWantNoLinesAndIsCountedNevertheless() throws Exception {
        String rules = ", matches: [{path: {type: Exact, value: /healthz}}], accessLog: {exchanges: none}},"
                + " {backendRefs: [{name: app}], matches: [{path: {value: /shop}}]";
        int[] asked = {0};
        try (Origin origin = Origin.start().on("/shop", Behaviors.text("ok")).on("/healthz", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(asked[0]++ == 0 ? 200 : 500, "content-length", "0"), true);
                });
                Rig rig = Rig.start(config("{path: access.log}", "http1", origin, rules));
                Peer client = rig.connect(Peers.HTTP1)) {
            assertThat(get(client, "/healthz")).isEqualTo(200);
            assertThat(get(client, "/healthz")).isEqualTo(500);
            assertThat(get(client, "/shop")).isEqualTo(200);
            assertThat(get(client, "/other")).isEqualTo(404);
            assertThat(rig.awaitAccessLog(2))
                    .satisfiesExactly(line -> assertThat(line).contains("\"path\":\"/shop\""), line -> assertThat(line)
                            .contains("\"path\":\"/other\"", "\"cause\":\"no_route\""));
            for (String code : List.of("200", "500")) {
                rig.awaitMetric(
                        1,
                        "gateway_downstream_requests_total",
                        "listener=\"clear\"",
                        "route=\"all/1\"",
                        "code=\"" + code + "\"");
            }
        }
    }

    @Test
    void noLineIsLostWhenAReloadChangesTheLookAndThePlace() throws Exception {
        int each = 40;
        List<String> logs = List.of("{path: access.log}", "{path: other.log, format: combined}", "{path: other.log}");
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.start(config(logs.get(0), "http1", origin, ""));
                Peer client = rig.connect(Peers.H2C)) {
            for (int i = 0; i < each * logs.size(); i++) {
                if (i > 0 && i % each == 0) {
                    rig.reload(config(logs.get(i / each), "http1", origin, ""));
                }
                get(client, "/?n=" + i + ".");
            }
            rig.reload(config("{format: \"off\"}", "http1", origin, "")); // all that is in the way is written before
            Path directory = rig.file().toAbsolutePath().getParent();
            List<Integer> found = new ArrayList<>();
            for (String name : List.of("access.log", "other.log")) {
                Matcher number = Pattern.compile("n=(\\d+)\\.").matcher(Files.readString(directory.resolve(name)));
                while (number.find()) {
                    found.add(Integer.parseInt(number.group(1)));
                }
            }
            assertThat(found).hasSize(each * logs.size()).isSorted();
            assertThat(rig.metric("gateway_accesslog_dropped_total")).isZero();
        }
    }
}
