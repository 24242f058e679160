package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A rule that refuses a path also refuses what an upstream may read as that path; all else arrives as it was written. */
@Tag("jar")
@Timeout(120)
class GuardedPathsIT {
    private static final List<String> REFUSED = List.of(
            "/admin/x",
            "//admin/x",
            "/%61dmin/x",
            "/x/../admin/x",
            "/admin%2Fx",
            "/admin%2fx",
            "/admin%5Cx",
            "/admin;a=1/x",
            "/admin%3Ba/x",
            "/;/admin/x",
            "/%2Fadmin",
            "/admin%3Fx",
            "/admin%23x",
            "/admin./x",
            "/admin::$DATA");

    private static final List<String> FORWARDED = List.of(
            "/",
            "/@scope%2Fname",
            "/api/v4/projects/group%2Fproject",
            "/shop;jsessionid=1/cart",
            "/administrator%2Fx",
            "/files/readme.",
            "/v1.",
            "/what%3F",
            "/a%20b");

    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void pathsThatAreReadAsOneThatIsRefusedAreRefused(Peers protocol) throws Exception {
        try (Origin origin = Origin.start().otherwise(Behaviors.text("ok"));
                GatewayJar gateway = GatewayJar.of(
                                """
                                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                                routes:
                                  - rules:
                                      - matches: [{path: {type: PathPrefix, value: /admin}}]
                                        filters: [{type: DirectResponse, directResponse: {statusCode: 403}}]
                                      - backendRefs: [{name: app}]
                                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                                admin: {address: 127.0.0.1, port: 0}
                                accessLog: {format: off}
                                """
                                        .formatted(origin.port()))
                        .start();
                Peer client = protocol.connect(gateway.port("web"))) {
            List<String> passed = new ArrayList<>();
            for (String path : REFUSED) {
                if (ask(client, path) != 403) {
                    passed.add(path);
                }
                assertThat(explain(gateway, path)).as(path).contains("403");
            }
            assertThat(passed).isEmpty();
            for (String path : FORWARDED) {
                assertThat(ask(client, path)).as(path).isEqualTo(200);
                assertThat(origin.requests(path)).hasSize(1);
            }
        }
    }

    @Test
    void theLogTellsWhichRuleTookARequestForAnotherReadingOfItsPath() throws Exception {
        try (Origin origin = Origin.start().otherwise(Behaviors.text("ok"));
                GatewayJar gateway = GatewayJar.of(
                                """
                                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                                routes:
                                  - rules:
                                      - name: versions
                                        matches: [{path: {type: RegularExpression, value: "/app;v=[0-9]+"}}]
                                        backendRefs: [{name: app}]
                                      - name: nothing-else
                                        filters: [{type: DirectResponse, directResponse: {statusCode: 404}}]
                                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                                admin: {address: 127.0.0.1, port: 0}
                                accessLog: {format: off}
                                """
                                        .formatted(origin.port()))
                        .start();
                Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            assertThat(ask(client, "/app;v=1")).isEqualTo(404);
            gateway.awaitLog("takes a request for /app;v=1, though");
            assertThat(gateway.log().lines().filter(line -> line.contains("/app;v=1")))
                    .singleElement()
                    .asString()
                    .contains("versions", "nothing-else", "listener web");
        }
    }

    /** A rule that lets some requests pass is no way round another rule, nor does it rewrite what it has not matched. */
    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void aPathThatMayBelongToAnotherGuardedRuleIsRefused(Peers protocol) throws Exception {
        try (Origin origin = Origin.start().otherwise(Behaviors.text("ok"));
                GatewayJar gateway = GatewayJar.of(
                                """
                                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                                routes:
                                  - rules:
                                      - name: staff
                                        matches: [{path: {type: PathPrefix, value: /staff}}]
                                        filters:
                                          - {type: IPAccess, ipAccess: {deny: [127.0.0.0/8]}}
                                        backendRefs: [{name: app}]
                                      - name: open
                                        matches: [{path: {type: PathPrefix, value: /staff/open}}]
                                        backendRefs: [{name: app}]
                                      - name: shop
                                        matches: [{path: {type: PathPrefix, value: /shop}}]
                                        filters:
                                          - {type: RateLimit, rateLimit: {limits: [{name: all, requests: 10000, interval: 1s}]}}
                                          - type: URLRewrite
                                            urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /app}}
                                        backendRefs: [{name: app}]
                                      - name: asked
                                        matches: [{path: {type: PathPrefix, value: /asked}}]
                                        filters: [{type: ExternalAuth, externalAuth: {backendRef: {name: app}, path: /}}]
                                        backendRefs: [{name: app}]
                                      - name: login
                                        matches: [{path: {type: Exact, value: /login}}, {path: {type: Exact, value: /team}}]
                                        filters:
                                          - {type: IPAccess, ipAccess: {deny: [127.0.0.0/8]}}
                                        backendRefs: [{name: app}]
                                      - name: team
                                        matches: [{path: {type: Exact, value: /team/}}]
                                        backendRefs: [{name: app}]
                                      - name: rest
                                        filters:
                                          - {type: IPAccess, ipAccess: {deny: [192.0.2.0/24]}}
                                        backendRefs: [{name: app}]
                                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                                admin: {address: 127.0.0.1, port: 0}
                                accessLog: {format: off}
                                """
                                        .formatted(origin.port()))
                        .start();
                Peer client = protocol.connect(gateway.port("web"))) {
            assertThat(ask(client, "/staff/x")).isEqualTo(403);
            for (String path : List.of(
                    "/staff%2Fx",
                    "/staff;a=1/x",
                    "/;;;;;../shop/z",
                    "/%2Fshop/x",
                    "/shop%2Fx",
                    "/asked%2Fx",
                    "/staff%0A",
                    "/staff%20",
                    "/staff%3Fx=1",
                    "/staff%23",
                    "/staff.",
                    "/staff::$DATA",
                    "/staff%2Fopen%5C",
                    "/login/",
                    "/login/?next=/",
                    "/login%2F",
                    "/%01staff/x")) {
                assertThat(ask(client, path)).as(path).isEqualTo(400);
                assertThat(explain(gateway, path)).as(path).contains("400", "upstreams may read the path as");
            }
            assertThat(ask(client, "/shop/a%2Fb;c")).isEqualTo(200);
            assertThat(origin.requests("/app/a%2Fb;c")).hasSize(1);
            assertThat(ask(client, "/other%2Fx")).isEqualTo(200);
            assertThat(ask(client, "/staff/open/x%20y")).isEqualTo(200);
            for (String path : List.of("/team/", "/login/x", "/")) {
                assertThat(ask(client, path)).as(path).isEqualTo(200);
                assertThat(explain(gateway, path)).as(path).doesNotContain("upstreams may read the path as");
            }
        }
    }

    private static String explain(GatewayJar gateway, String path) throws Exception {
        String query = "listener=web&path=" + URLEncoder.encode(path, StandardCharsets.UTF_8);
        return gateway.admin("/explain?" + query, Duration.ofSeconds(20)).body();
    }

    private static int ask(Peer client, String path) throws Exception {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", path), true);
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }
}
