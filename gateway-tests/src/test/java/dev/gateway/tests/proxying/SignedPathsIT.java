package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Paths that must arrive as the client wrote them, since it has signed them. */
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class SignedPathsIT {
    @TempDir
    Path directory;

    /** S3 keys, as boto3 writes them into its URLs. */
    private static final List<String> KEYS = List.of(
            "/bucket/a//b",
            "/bucket//lead",
            "/bucket/trail/",
            "/bucket/trail//",
            "/bucket/./a",
            "/bucket/a/./b",
            "/bucket/a/../b",
            "/bucket/a%20b",
            "/bucket/a%2Bb",
            "/bucket/a%2Fb",
            "/bucket/a%3Fb%23c",
            "/bucket/%C3%A4",
            "/bucket/%e2%82%ac",
            "/bucket/~a",
            "/bucket/%7Ea",
            "/bucket/a=b&c;d",
            "/bucket/a%25b");

    private static int get(Peer client, String path) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", path, "x-amz-meta-under_score", "1", "x-amz-meta-a.b", "2"), true);
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }

    @ParameterizedTest
    @EnumSource
    void whatAClientOfS3SignsArrivesAsItIs(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().otherwise(Behaviors.text("ok"));
                Rig rig = Rig.to(origin, pairing)
                        .listener("headersWithUnderscores: allow")
                        .rule("mergeSlashes: false, normalizePath: false")
                        .start()) {
            for (String key : KEYS) {
                try (Peer client = rig.connect(pairing)) {
                    assertThat(get(client, key)).as(key).isEqualTo(200);
                }
                assertThat(origin.requests(key)).as(key).singleElement().satisfies(seen -> {
                    assertThat(seen.get("x-amz-meta-under_score")).contains("1");
                    assertThat(seen.get("x-amz-meta-a.b")).contains("2");
                });
            }
            try (Peer client = rig.connect(pairing)) { // still refused: two servers read it differently
                assertThat(get(client, "/bucket/a//../b")).isEqualTo(400);
            }
        }
    }

    /** It decides about the normal form, which another server may not find in a path with dots or repeated slashes. */
    @ParameterizedTest
    @EnumSource
    void anAuthServerIsAskedAboutThePathThatTheUpstreamReads(Pairing pairing) throws Exception {
        try (Origin origin = Origin.start().otherwise(Behaviors.text("ok"));
                Origin auth = Origin.start().otherwise(Behaviors.text(""));
                Rig rig = Rig.start(
                        """
                        listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        routes:
                          - rules:
                              - mergeSlashes: false
                                normalizePath: false
                                filters: [{type: ExternalAuth, externalAuth: {backendRef: {name: auth}, pathPrefix: /check}}]
                                backendRefs: [{name: app}]
                        upstreams:
                          - {name: app, endpoints: [{host: 127.0.0.1, port: %d}], protocol: %s}
                          - {name: auth, endpoints: [{host: 127.0.0.1, port: %d}], protocol: %s}
                        admin: {address: 127.0.0.1, port: 0}
                        """
                                .formatted(origin.port(), pairing.upstream, auth.port(), pairing.upstream))) {
            for (String path : List.of(
                    "/secret/../public/x", "/secret/%2e%2e/public/x", "//public/secret/x", "/public//x", "/public/.")) {
                try (Peer client = rig.connect(pairing)) {
                    assertThat(get(client, path)).as(path).isEqualTo(400);
                }
                assertThat(origin.requests(path)).as(path).isEmpty();
            }
            assertThat(auth.requests("/check/public/x")).isEmpty();
            try (Peer client = rig.connect(pairing)) {
                assertThat(get(client, "/%70ublic/%7ex%2f?y=//")).isEqualTo(200);
            }
            assertThat(auth.requests("/check/public/~x%2F"))
                    .singleElement()
                    .satisfies(asked -> assertThat(asked.get("x-forwarded-uri")).contains("/public/~x%2F?y=//"));
            assertThat(origin.requests("/%70ublic/%7ex%2f")).hasSize(1);
        }
    }

    /** The gateway removes the key from the request. Neither the path nor any field that the upstream gets has it. */
    @ParameterizedTest
    @EnumSource
    void aKeyIsTakenOutOfASignedPath(Pairing pairing) throws Exception {
        Path keys = Files.writeString(
                directory.resolve("keys"), key("\u674e\u96f7", "k-one") + key("\u97e9\u6885", "k-two"));
        try (Origin origin = Origin.start().otherwise(Behaviors.text("ok"));
                Rig rig = Rig.to(origin, pairing)
                        .rule(
                                """
                              mergeSlashes: false, normalizePath: false, filters: [
                                {type: APIKey, apiKey: {keysFile: "%s", queryParameter: key}},
                                {type: RequestHeaderModifier, requestHeaderModifier: {set: [
                                  {name: X-Path, value: "{path}"}, {name: X-User, value: "{identity}"}]}}]"""
                                        .formatted(keys))
                        .start()) {
            for (String key : List.of("k-one", "k-two")) {
                try (Peer client = rig.connect(pairing)) {
                    assertThat(get(client, "/raw//a%41/b?key=" + key + "&a=1")).isEqualTo(200);
                }
            }
            assertThat(origin.requests("/raw//a%41/b"))
                    .allSatisfy(seen -> assertThat(seen.target()).isEqualTo("/raw//a%41/b?a=1"))
                    .allSatisfy(seen -> assertThat(seen.all("x-path")).containsExactly("/raw/aA/b?a=1"))
                    .extracting(seen -> utf8(seen.get("x-user").orElse("")))
                    .containsExactly("\u674e\u96f7", "\u97e9\u6885");
        }
    }

    private static String utf8(String latin1) {
        return new String(latin1.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }

    private static String key(String name, String key) throws NoSuchAlgorithmException {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
        return name + ":" + HexFormat.of().formatHex(digest) + "\n";
    }
}
