package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Browser;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Scripts of pages of other origins use a route if the gateway lets them, whatever the upstream says of that. */
@Timeout(90)
class CorsIT {
    private static final String PAGE = "https://shop.example";

    /** Says of CORS what the gateway must not pass on. */
    private static Origin origin() throws IOException {
        return Origin.start().otherwise((stream, head) -> {
            stream.receiveBody();
            stream.send(
                    Head.response(
                            200,
                            "access-control-allow-origin",
                            "https://of-the-upstream.example",
                            "vary",
                            "accept",
                            "x-id",
                            "7"),
                    false);
            stream.send("data", true);
        });
    }

    private static String yaml(Origin origin, Pairing pairing, String allowed) {
        String cors = "{type: CORS, cors: {" + allowed + "}}";
        return """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: pages, address: 127.0.0.1, port: 0, protocol: HTTP}
                routes:
                  - parentRefs: [{name: pages}]
                    rules: [{filters: [{type: DirectResponse, directResponse: {contentType: text/html, body: page}}]}]
                  - name: api
                    parentRefs: [{name: clear}]
                    rules:
                      - filters: [%1$s]
                        backendRefs: [{name: app}]
                      - matches: [{path: {value: /answer}}]
                        filters: [%1$s, {type: DirectResponse, directResponse: {statusCode: 404, body: none}}]
                      - matches: [{path: {value: /down}}]
                        filters: [%1$s]
                        backendRefs: [{name: down}]
                upstreams:
                  - {name: app, endpoints: [{host: 127.0.0.1, port: %2$d}], protocol: %3$s}
                  - {name: down, endpoints: [{unix: nobody.sock}]}
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {path: access.log}
                """
                .formatted(cors, origin.port(), pairing.upstream);
    }

    private static Head ask(Peer client, String method, String path, String... fields) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request(method, path, fields), true);
        Head head = stream.receiveFinal();
        stream.receiveBody();
        return head;
    }

    private static Head preflight(Peer client, String origin) throws IOException {
        return ask(client, "OPTIONS", "/", "origin", origin, "access-control-request-method", "PUT");
    }

    @ParameterizedTest
    @EnumSource
    void pagesOfAllowedOriginsMayReadAllAnswersOfTheRoute(Pairing pairing) throws Exception {
        String allowed = "allowOrigins: [\"" + PAGE + "\"], allowMethods: [PUT], exposeHeaders: [X-Id], maxAge: 10m";
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, allowed));
                Peer client = rig.connect(pairing.client)) {
            Head preflight = preflight(client, PAGE);
            assertThat(preflight.status()).isEqualTo(204);
            assertThat(preflight.all("access-control-allow-origin")).containsExactly(PAGE);
            assertThat(preflight.all("access-control-allow-methods")).containsExactly("PUT");
            assertThat(preflight.all("access-control-max-age")).containsExactly("600");
            assertThat(preflight.get("content-length")).isEmpty();
            assertThat(origin.requests("/")).isEmpty();

            Head answer = ask(client, "PUT", "/", "origin", PAGE);
            assertThat(answer.all("access-control-allow-origin")).containsExactly(PAGE);
            assertThat(answer.all("access-control-expose-headers")).containsExactly("X-Id");
            assertThat(String.join(", ", answer.all("vary"))).isEqualToIgnoringCase("accept, origin");
            assertThat(origin.requests("/")).hasSize(1);

            // What the gateway answers itself, by a filter or because the upstream cannot be reached.
            assertThat(ask(client, "GET", "/answer", "origin", PAGE))
                    .satisfies(head -> assertThat(head.status()).isEqualTo(404))
                    .satisfies(head ->
                            assertThat(head.all("access-control-allow-origin")).containsExactly(PAGE));
            assertThat(ask(client, "GET", "/down", "origin", PAGE))
                    .satisfies(head -> assertThat(head.status()).isIn(502, 503))
                    .satisfies(head ->
                            assertThat(head.all("access-control-allow-origin")).containsExactly(PAGE))
                    .satisfies(head -> assertThat(head.all("vary")).containsExactly("Origin"));

            Head other = preflight(client, "https://evil.example");
            assertThat(other.status()).isEqualTo(204);
            assertThat(other.get("access-control-allow-origin")).isEmpty();
            assertThat(ask(client, "GET", "/", "origin", "https://evil.example").get("access-control-allow-origin"))
                    .isEmpty();

            rig.reload(yaml(origin, pairing, "allowOrigins: [\"https://*.example\"], allowCredentials: true"));
            assertThat(ask(client, "GET", "/", "origin", "https://evil.example"))
                    .satisfies(head ->
                            assertThat(head.all("access-control-allow-origin")).containsExactly("https://evil.example"))
                    .satisfies(head -> assertThat(head.all("access-control-allow-credentials"))
                            .containsExactly("true"));
            assertThat(ask(client, "GET", "/", "origin", "https://evil.test/.example")
                            .get("access-control-allow-origin"))
                    .isEmpty();
        }
    }

    /** The status that a script of a page sees, with the field that it may read; or "refused". */
    private static String fetch(Browser browser, String url, String method) throws IOException, InterruptedException {
        return browser.evaluate("return fetch('" + url + "', {method: '" + method + "', headers: {'x-tenant': 'a'}})"
                + ".then(r => r.status + ' ' + r.headers.get('x-id'), () => 'refused')");
    }

    @Test
    void aBrowserLetsScriptsReadWhatTheGatewayAllows() throws Exception {
        try (Browser browser = Browser.start();
                Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, Pairing.H1_TO_H1, "allowOrigins: [\"https://other.example\"]"))) {
            String page = "http://127.0.0.1:" + rig.port("pages");
            String api = "http://127.0.0.1:" + rig.port("clear");
            browser.open(page + "/");
            assertThat(fetch(browser, api + "/", "PUT")).isEqualTo("refused");
            assertThat(origin.requests("/")).isEmpty();

            rig.reload(yaml(
                    origin,
                    Pairing.H1_TO_H1,
                    "allowOrigins: [\"" + page + "\"], allowMethods: [PUT], allowHeaders: [X-Tenant],"
                            + " exposeHeaders: [X-Id], maxAge: 0s"));
            assertThat(fetch(browser, api + "/", "PUT")).isEqualTo("200 7");
            assertThat(fetch(browser, api + "/", "DELETE")).isEqualTo("refused");
            assertThat(fetch(browser, api + "/answer", "GET")).isEqualTo("404 null");
            assertThat(origin.requests("/")).hasSize(1);
        }
    }
}
