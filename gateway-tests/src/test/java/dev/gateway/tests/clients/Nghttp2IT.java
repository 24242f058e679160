package dev.gateway.tests.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The clients of nghttp2: frame by frame, and many streams at once. */
class Nghttp2IT {
    private static Origin origin;
    private static Rig toHttp1;
    private static Rig toHttp2;

    @BeforeAll
    static void start() throws Exception {
        origin = Origin.start().on("/", Behaviors.text("hello")).on("/large", Behaviors.text("x".repeat(200_000)));
        toHttp1 = Rig.to(origin, Pairing.H2_TO_H1).start();
        toHttp2 = Rig.to(origin, Pairing.H2_TO_H2).start();
    }

    @AfterAll
    static void stop() throws Exception {
        toHttp1.close();
        toHttp2.close();
        origin.close();
    }

    @Test
    void aResponseIsHeadersAndDataAndItsEnd() throws Exception {
        Tools.Result result = Tools.run(Tools.find("nghttp"), "-v", "http://127.0.0.1:" + toHttp1.port() + "/");
        assertThat(result.exit()).isZero();
        assertThat(result.output())
                .contains(":status: 200")
                .contains("recv SETTINGS frame")
                .contains("; END_STREAM")
                .contains("hello")
                .doesNotContain("RST_STREAM")
                .doesNotContainIgnoringCase("transfer-encoding");
    }

    @ParameterizedTest
    @CsvSource({
        "http1, false, /",
        "http1, true, /",
        "h2c, false, /",
        "h2c, true, /",
        "http1, false, /large",
        "h2c, true, /large"
    })
    void manyStreamsAtOnceAllSucceed(String upstream, boolean tls, String path) throws Exception {
        Rig rig = upstream.equals("h2c") ? toHttp2 : toHttp1;
        int requests = path.equals("/") ? 2000 : 200;
        Tools.Result result = Tools.run(
                Tools.find("h2load"),
                "-n" + requests,
                "-c4",
                "-m50",
                (tls ? "https" : "http") + "://127.0.0.1:" + (tls ? rig.tlsPort() : rig.port()) + path);
        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output())
                .contains(requests + " succeeded, 0 failed, 0 errored, 0 timeout")
                .contains("status codes: " + requests + " 2xx");
        // Repeated header fields come from the table, not from the wire.
        Matcher saved = Pattern.compile("space savings ([0-9.]+)%").matcher(result.output());
        assertThat(saved.find()).as(result.output()).isTrue();
        assertThat(Double.parseDouble(saved.group(1))).isGreaterThan(path.equals("/") ? 80 : 50);
    }

    /** Answers of the gateway's own: as many streams at a time as the listener allows, and no upstream in between. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aThousandStreamsOfOneConnectionAreAnsweredByTheGatewayItself(boolean tls) throws Exception {
        try (Rig rig = Rig.start(
                """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP, limits: {maxConcurrentStreams: 1000}}
                  - name: secure
                    address: 127.0.0.1
                    port: 0
                    protocol: HTTPS
                    limits: {maxConcurrentStreams: 1000}
                    tls: {selfSigned: true}
                routes:
                  - rules: [{filters: [{type: DirectResponse, directResponse: {body: hello}}]}]
                admin: {port: 0}
                accessLog: {format: "off"}
                """)) {
            int requests = 20_000;
            Tools.Result result = Tools.run(
                    Tools.find("h2load"),
                    "-n" + requests,
                    "-c2",
                    "-m1000",
                    (tls ? "https://127.0.0.1:" + rig.port("secure") : "http://127.0.0.1:" + rig.port("clear")) + "/");
            assertThat(result.exit()).as(result.output()).isZero();
            assertThat(result.output())
                    .contains(requests + " succeeded, 0 failed, 0 errored, 0 timeout")
                    .contains("status codes: " + requests + " 2xx");
            assertThat(rig.metric("gateway_h2_streams_total", "side=\"downstream\""))
                    .isEqualTo(requests);
            assertThat(rig.metric("gateway_protocol_violations_total")).isZero();
        }
    }

    @Test
    void manyAnswersOfTheGatewayItselfOverHttp1() throws Exception {
        try (Rig rig = Rig.start(
                """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes:
                  - rules: [{filters: [{type: DirectResponse, directResponse: {body: hello}}]}]
                admin: {port: 0}
                accessLog: {format: "off"}
                """)) {
            Tools.Result result = Tools.run(
                    Tools.find("h2load"),
                    "--h1",
                    "-n20000",
                    "-c16",
                    "-m100",
                    "http://127.0.0.1:" + rig.port("clear") + "/");
            assertThat(result.output()).contains("20000 succeeded, 0 failed, 0 errored, 0 timeout");
            assertThat(rig.metric("gateway_downstream_requests_total", "code=\"200\""))
                    .isEqualTo(20_000);
        }
    }
}
