package dev.gateway.tests.proxying;

import static dev.gateway.tests.support.OtlpReceiver.attribute;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.OtlpReceiver;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Only holders of a key use a route; keys end at the gateway, and the names of their holders are in its log. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class ApiKeyIT {
    @TempDir
    Path files;

    /** Answers with what it gets of the keys. */
    private static Origin origin() throws IOException {
        return Origin.start().otherwise((stream, head) -> {
            stream.receiveBody();
            stream.send(Head.response(200), false);
            stream.send(
                    head.target() + "|" + head.get("x-api-key").orElse("none") + "|"
                            + String.join("; ", head.all("cookie")),
                    true);
        });
    }

    private void write(String name, String key) throws Exception {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
        Files.writeString(files.resolve("keys"), name + ":" + HexFormat.of().formatHex(digest) + "\n");
    }

    private String yaml(Origin origin, Pairing pairing, String more) {
        return """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes:
                  - name: partners
                    rules:
                      - name: header
                        filters: [{type: APIKey, apiKey: {keysFile: "%1$s"%2$s}}]
                        backendRefs: [{name: app}]
                      - name: query
                        matches: [{path: {value: /query}}]
                        filters: [{type: APIKey, apiKey: {keysFile: "%1$s", queryParameter: api_key}}]
                        backendRefs: [{name: app}]
                      - name: cookie
                        matches: [{path: {value: /cookie}}]
                        filters: [{type: APIKey, apiKey: {keysFile: "%1$s", cookie: key}}]
                        backendRefs: [{name: app}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %3$d}], protocol: %4$s}]
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {path: access.log}
                """
                .formatted(files.resolve("keys"), more, origin.port(), pairing.upstream);
    }

    private static String ask(Peer client, String path, String... fields) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", path, fields), true);
        int status = stream.receiveFinal().status();
        String body = stream.receiveBody();
        return status == 200 ? body : String.valueOf(status);
    }

    /** The upstream might take the other one, and with forwardKey it would get both. */
    @ParameterizedTest
    @EnumSource
    void aSecondKeyUnderAnotherSpellingGetsNoFurther(Pairing pairing) throws Exception {
        write("partner", "k-one");
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, "")
                        .replace("queryParameter: api_key", "queryParameter: api_key, forwardKey: true"));
                Peer client = rig.connect(pairing.client)) {
            for (String query :
                    List.of("%61pi_key=f&api_key=k-one", "api_key=k-one&API_KEY=f", "api_key[]=f&api_key=k-one")) {
                assertThat(ask(client, "/query?" + query)).as(query).isEqualTo("401");
            }
            for (String cookies : List.of("key =f; key=k-one", "a=b, key=f; key=k-one", "KEY=f; key=k-one")) {
                assertThat(ask(client, "/cookie", "cookie", cookies))
                        .as(cookies)
                        .isEqualTo("401");
            }
            assertThat(ask(client, "/query?api_key=k-one&my_api_key=f"))
                    .isEqualTo("/query?api_key=k-one&my_api_key=f|none|");
        }
    }

    /** No list names these places, and their names say nothing of keys. */
    @CrossPairingTest
    void aKeyIsShownNowhereWhateverItsPlaceIsCalled(Pairing pairing) throws Exception {
        write("partner", "k-one");
        try (OtlpReceiver receiver = new OtlpReceiver();
                Origin origin = Origin.start().otherwise((stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(503, "content-length", "0"), true);
                });
                Rig rig = Rig.start(
                        """
                        listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        routes:
                          - rules:
                              - filters: [{type: APIKey, apiKey: {keysFile: "%1$s", header: X-Shelf, forwardKey: true}}]
                                backendRefs: [{name: app}]
                                retry: {attempts: 0}
                              - matches: [{path: {value: /query}}]
                                filters: [{type: APIKey, apiKey: {keysFile: "%1$s", queryParameter: shelf, forwardKey: true}}]
                                backendRefs: [{name: app}]
                                retry: {attempts: 0}
                        upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %2$d}], protocol: %3$s}]
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog:
                          path: access.log
                          redact: {queryKeys: []}
                          fields: {add: [{name: asked, value: "{requestLine} {requestHeader:X-Shelf}"}]}
                        %4$s
                        """
                                .formatted(
                                        files.resolve("keys"), origin.port(), pairing.upstream, receiver.spans("{}")));
                Peer client = rig.connect(pairing)) {
            assertThat(ask(client, "/query?a=b&shelf=k-one")).isEqualTo("503");
            assertThat(ask(client, "/query?a=b&shelf=k-two")).isEqualTo("401");
            assertThat(ask(client, "/", "x-shelf", "k-one")).isEqualTo("503");
            assertThat(ask(client, "/", "x-shelf", "k-two")).isEqualTo("401");

            List<String> log = rig.awaitAccessLog(4);
            assertThat(log.subList(0, 2)).allMatch(line -> line.contains("\"path\":\"/query?a=b&shelf=***\""));
            assertThat(log.subList(2, 4)).allMatch(line -> line.contains("GET / ") && line.contains(" ***\""));
            assertThat(log).noneMatch(line -> line.contains("k-one") || line.contains("k-two"));

            JsonNode failures = Rig.await(
                    () -> new ObjectMapper().readTree(rig.admin("/failures")).get("failures"),
                    found -> found.size() == 4);
            assertThat(failures.toString()).contains("/query?a=b&shelf=***").doesNotContain("k-one", "k-two");

            List<Span> spans = receiver.awaitSpans(6); // of four exchanges, two of which got as far as an attempt
            assertThat(spans.stream().map(span -> attribute(span, "url.query")).filter(query -> !query.isEmpty()))
                    .hasSize(2)
                    .allMatch(query -> query.equals("a=b&shelf=***"));
            assertThat(spans.stream().map(span -> attribute(span, "url.full")).filter(url -> url.contains("shelf=")))
                    .singleElement()
                    .asString()
                    .endsWith("/query?a=b&shelf=***");
            assertThat(spans.toString()).doesNotContain("k-one", "k-two");
        }
    }

    @ParameterizedTest
    @EnumSource
    void onlyHoldersOfAKeyReachTheUpstream(Pairing pairing) throws Exception {
        write("partner", "k-one");
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, ""));
                Peer client = rig.connect(pairing.client)) {
            PeerStream stranger = client.open();
            stranger.send(Head.request("GET", "/"), true);
            Head asked = stranger.receiveFinal();
            assertThat(asked.status()).isEqualTo(401);
            assertThat(asked.all("www-authenticate")).containsExactly("ApiKey realm=\"gateway\"");
            stranger.receiveBody();
            assertThat(ask(client, "/", "x-api-key", "k-two")).isEqualTo("401");
            assertThat(ask(client, "/query?api_key=k-two")).isEqualTo("401");
            assertThat(ask(client, "/cookie", "cookie", "key=k-two")).isEqualTo("401");
            assertThat(origin.requests("/")).isEmpty();

            assertThat(ask(client, "/", "x-api-key", "k-one")).isEqualTo("/|none|");
            assertThat(ask(client, "/query?a=b&api_key=k-one")).isEqualTo("/query?a=b|none|");
            assertThat(ask(client, "/cookie", "cookie", "a=b; key=k-one")).isEqualTo("/cookie|none|a=b");
            List<String> log = rig.awaitAccessLog(7);
            assertThat(log)
                    .anySatisfy(line -> assertThat(line).contains("\"identity\":\"partner\"", "\"status\":200"))
                    .noneSatisfy(line -> assertThat(line).containsAnyOf("k-one", "k-two"));
            rig.awaitMetric(
                    2,
                    "gateway_downstream_requests_total",
                    "route=\"partners/header\"",
                    "code=\"401\"",
                    "cause=\"authz_denied\"");

            rig.reload(yaml(origin, pairing, ", forwardKey: true"));
            assertThat(ask(client, "/", "x-api-key", "k-one")).isEqualTo("/|k-one|");

            write("partner", "k-two");
            Rig.await(() -> ask(client, "/", "x-api-key", "k-two"), "/|k-two|"::equals);
            assertThat(ask(client, "/", "x-api-key", "k-one")).isEqualTo("401");
            Files.writeString(files.resolve("keys"), "partner:k-three\n");
            rig.awaitMetric(1, "gateway_auth_files_stale");
            assertThat(rig.admin("/ready"))
                    .contains("APIKey: keeping the previous keys: ")
                    .doesNotContain("k-three");
            assertThat(ask(client, "/", "x-api-key", "k-two")).isEqualTo("/|k-two|");
        }
    }
}
