package dev.gateway.tests.observability;

import static dev.gateway.tests.support.OtlpReceiver.attribute;
import static dev.gateway.tests.support.OtlpReceiver.hex;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.ClosedPort;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.NameServer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.OtlpReceiver;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Span.SpanKind;
import io.opentelemetry.proto.trace.v1.Status.StatusCode;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a receiver of OTLP is sent of exchanges, their attempts and tunnels. */
class SpanExportIT {
    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    private static final String CALLER = "00f067aa0ba902b7";

    private static int get(Peer client, String path, String... fields) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", path, fields), true);
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }

    @ParameterizedTest
    @EnumSource
    void anExchangeIsASpanAndItsAttemptAnother(Pairing pairing) throws Exception {
        try (OtlpReceiver receiver = new OtlpReceiver();
                Origin origin = Origin.start().on("/a", Behaviors.text("ok"));
                Rig rig = Rig.to(origin, pairing)
                        .listener("trustedProxies: [127.0.0.1/32]")
                        .top(receiver.spans("{ratio: 0}"))
                        .start();
                Peer client = rig.connect(pairing)) {
            get(client, "/a", "traceparent", "00-" + TRACE + "-" + CALLER + "-00"); // not sampled, and so not sent
            get(client, "/a?b=c", "traceparent", "00-" + TRACE + "-" + CALLER + "-01", "tracestate", "x=1,y=2");
            List<Span> spans = receiver.awaitSpans(2);
            Span attempt = spans.get(0);
            Span exchange = spans.get(1);
            assertThat(hex(exchange.getTraceId())).isEqualTo(TRACE).isEqualTo(hex(attempt.getTraceId()));
            assertThat(hex(exchange.getParentSpanId())).isEqualTo(CALLER);
            assertThat(attempt.getParentSpanId()).isEqualTo(exchange.getSpanId());
            assertThat(exchange.getTraceState()).isEqualTo("x=1,y=2");
            assertThat(attempt.getKind()).isEqualTo(SpanKind.SPAN_KIND_CLIENT);
            assertThat(exchange.getName()).isEqualTo("GET");
            assertThat(attribute(exchange, "http.request.method")).isEqualTo("GET");
            assertThat(attribute(exchange, "url.path")).isEqualTo("/a");
            assertThat(attribute(exchange, "url.query")).isEqualTo("b=c");
            assertThat(attribute(exchange, "http.response.status_code")).isEqualTo("200");
            assertThat(attribute(exchange, "network.protocol.version"))
                    .isEqualTo(pairing.client.isHttp2() ? "2" : "1.1");
            assertThat(attribute(exchange, "gateway.route")).isEqualTo("all");
            assertThat(attribute(exchange, "error.type")).isEmpty();
            assertThat(attribute(attempt, "server.port")).isEqualTo(Integer.toString(origin.port()));
            assertThat(attempt.getStartTimeUnixNano())
                    .isBetween(exchange.getStartTimeUnixNano(), exchange.getEndTimeUnixNano());
            assertThat(attempt.getEventsList())
                    .extracting(Span.Event::getName)
                    .containsExactly("gateway.connected", "gateway.response_head");
            assertThat(origin.requests("/a").get(0).all("traceparent"))
                    .containsExactly("00-" + TRACE + "-" + CALLER + "-00");
            assertThat(origin.requests("/a").get(1).all("traceparent"))
                    .containsExactly("00-" + TRACE + "-" + hex(attempt.getSpanId()) + "-01");
            assertThat(rig.awaitAccessLog(2).get(1))
                    .contains("\"traceId\":\"" + TRACE + "\",\"spanId\":\"" + hex(exchange.getSpanId()) + "\"");
        }
    }

    @CrossPairingTest
    void eachAttemptIsASpan(Pairing pairing) throws Exception {
        AtomicInteger count = new AtomicInteger();
        try (OtlpReceiver receiver = new OtlpReceiver();
                Origin origin = Origin.start().on("/", (stream, head) -> {
                    stream.receiveBody();
                    int status = count.incrementAndGet() == 1 ? 503 : 200;
                    stream.send(Head.response(status, "content-length", "0"), true);
                });
                Rig rig = Rig.to(origin, pairing)
                        .rule("retry: {attempts: 1, codes: [503], backoff: 1ms}")
                        .top(receiver.spans("{}"))
                        .start();
                Peer client = rig.connect(pairing)) {
            assertThat(get(client, "/")).isEqualTo(200);
            List<Span> spans = receiver.awaitSpans(3);
            Span exchange = spans.get(2);
            assertThat(spans.subList(0, 2))
                    .allSatisfy(each -> assertThat(each.getParentSpanId()).isEqualTo(exchange.getSpanId()));
            assertThat(spans.get(0).getSpanId()).isNotEqualTo(spans.get(1).getSpanId());
            assertThat(attribute(spans.get(0), "error.type")).isEqualTo("503");
            assertThat(spans.get(0).getStatus().getCode()).isEqualTo(StatusCode.STATUS_CODE_ERROR);
            assertThat(attribute(spans.get(1), "http.request.resend_count")).isEqualTo("1");
            assertThat(attribute(exchange, "gateway.attempts")).isEqualTo("2");
            assertThat(exchange.getStatus().getCode()).isEqualTo(StatusCode.STATUS_CODE_UNSET);
        }
    }

    @CrossPairingTest
    void aFailureHasItsCause(Pairing pairing) throws Exception {
        int port = ClosedPort.number();
        try (OtlpReceiver receiver = new OtlpReceiver();
                Rig rig = Rig.to(port)
                        .upstreamProtocol(pairing.upstream)
                        .rule("matches: [{path: {type: PathPrefix, value: /here}}]")
                        .top(receiver.spans("{}"))
                        .start();
                Peer client = rig.connect(pairing)) {
            assertThat(get(client, "/there")).isEqualTo(404);
            Span unrouted = receiver.awaitSpans(1).get(0);
            assertThat(attribute(unrouted, "error.type")).isEqualTo("no_route");
            assertThat(unrouted.getStatus().getCode()).isEqualTo(StatusCode.STATUS_CODE_UNSET);
            assertThat(get(client, "/here")).isEqualTo(502);
            String line = rig.awaitAccessLog(2).get(1);
            assertThat(line).contains("\"cause\":\"connect_failed\"");
            // An attempt that reached nobody is made again, once.
            List<Span> spans = receiver.awaitSpans(line.contains("\"attempts\":2") ? 3 : 2);
            assertThat(spans).allSatisfy(each -> {
                assertThat(attribute(each, "error.type")).isEqualTo("connect_failed");
                assertThat(each.getStatus().getCode()).isEqualTo(StatusCode.STATUS_CODE_ERROR);
            });
        }
    }

    @Test
    void aTunnelIsOneSpan() throws Exception {
        try (OtlpReceiver receiver = new OtlpReceiver();
                Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.start(
                        """
                        listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                        admin: {port: 0}
                        connect:
                          - name: egress
                            parentRefs: [{name: clear}]
                            allowedPorts: [%1$d]
                            allow: [127.0.0.1]
                            trustedDestinations: [127.0.0.1]
                        %2$s
                        """
                                .formatted(origin.port(), receiver.spans("{}")));
                Http1Peer client = Http1Peer.connect(rig.port())) {
            String authority = "127.0.0.1:" + origin.port();
            client.raw("CONNECT " + authority + " HTTP/1.1\r\nhost: " + authority + "\r\n\r\n");
            assertThat(client.response("CONNECT").receiveFinal().status()).isEqualTo(200);
            client.raw("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
            PeerStream inner = client.response("GET");
            inner.receiveFinal();
            assertThat(inner.receiveBody()).isEqualTo("ok");
            client.halfClose();
            List<Span> spans = receiver.awaitSpans(2);
            assertThat(spans.get(1).getName()).isEqualTo("CONNECT");
            assertThat(attribute(spans.get(1), "server.address")).isEqualTo("127.0.0.1");
            assertThat(spans.get(1).getEventsList())
                    .extracting(Span.Event::getName)
                    .contains("gateway.tunnel_open");
            assertThat(spans.get(0).getEndTimeUnixNano())
                    .isLessThanOrEqualTo(spans.get(1).getEndTimeUnixNano());
            assertThat(spans.get(0).getParentSpanId()).isEqualTo(spans.get(1).getSpanId());
        }
    }

    @Test
    void spansThatNobodyTakesAreCounted() throws Exception {
        int port = ClosedPort.number();
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.to(origin.port())
                        .top(
                                "tracing: {mode: export, export: {scheduleDelay: 1ms}}\notlp: {endpoint: \"http://127.0.0.1:"
                                        + port + "\", timeout: 500ms}")
                        .start();
                Http1Peer client = Http1Peer.connect(rig.port())) {
            get(client, "/");
            rig.awaitMetric(2, "gateway_tracing_spans_dropped_total");
        }
    }

    @Test
    void aReloadBeginsAndEndsTheExport() throws Exception {
        try (OtlpReceiver receiver = new OtlpReceiver();
                Origin origin = Origin.start().on("/", Behaviors.text("ok"))) {
            String config =
                    """
                    listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                    admin: {port: 0}
                    routes: [{rules: [{backendRefs: [{name: app}]}]}]
                    upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                    %s
                    """;
            try (Rig rig = Rig.start(config.formatted(origin.port(), ""));
                    Http1Peer client = Http1Peer.connect(rig.port())) {
                get(client, "/");
                rig.reload(config.formatted(origin.port(), receiver.spans("{}")));
                get(client, "/");
                receiver.awaitSpans(2);
                get(client, "/");
                rig.reload(config.formatted(origin.port(), "tracing: {mode: propagate}")); // sends what is left
                get(client, "/");
                receiver.awaitSpans(2);
            }
            assertThat(receiver.hasSpans()).isFalse();
        }
    }

    /** No resolver of the machine knows the name, and its answers hold for an hour. */
    @Test
    void aReceiverHasANameOfOurNameServersAndIsFoundAgainWhenItMoves() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                OtlpReceiver former = OtlpReceiver.startAt("127.0.0.1", 0);
                OtlpReceiver next = OtlpReceiver.startAt("127.0.0.2", former.port());
                NameServer names =
                        new NameServer().holdFor(3600).knowsNoExtensions().moves("collector.test", "127.0.0.1");
                Rig rig = Rig.to(origin.port())
                        .top(
                                """
                                tracing: {mode: export, sampler: {}, export: {scheduleDelay: 20ms}}
                                otlp: {endpoint: "http://collector.test:%d", serviceName: edge}
                                resolver: {nameServers: ["127.0.0.1:%d"], maxTtl: 1h}
                                """
                                        .formatted(former.port(), names.port()))
                        .start();
                Http1Peer client = Http1Peer.connect(rig.port())) {
            get(client, "/");
            former.awaitSpans(2);
            names.moves("collector.test", "127.0.0.2");
            former.stop();
            get(client, "/");
            next.awaitSpans(2);
            assertThat(rig.metric("gateway_tracing_spans_dropped_total")).isZero();
            assertThat(rig.metric("gateway_dns_early_lookups_total")).isPositive();
        }
    }

    /** The former address still answers, and the exporter keeps a connection to it. */
    @Test
    @Timeout(60)
    void aReceiverIsFollowedWhenItsNameMoves() throws Exception {
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                OtlpReceiver former = OtlpReceiver.startAt("127.0.0.1", 0);
                OtlpReceiver next = OtlpReceiver.startAt("127.0.0.2", former.port());
                NameServer names = new NameServer().holdFor(1).moves("collector.test", "127.0.0.1");
                Rig rig = Rig.to(origin.port())
                        .top(
                                """
                                tracing: {mode: export, sampler: {}, export: {scheduleDelay: 20ms}}
                                otlp: {endpoint: "http://collector.test:%d", serviceName: edge}
                                resolver: {nameServers: ["127.0.0.1:%d"]}
                                """
                                        .formatted(former.port(), names.port()))
                        .start();
                Http1Peer client = Http1Peer.connect(rig.port())) {
            get(client, "/");
            former.awaitSpans(2);
            names.moves("collector.test", "127.0.0.2");
            while (!next.hasSpans()) {
                get(client, "/");
                Thread.sleep(20); // until the name is asked for again; the test's timeout interrupts it
            }
            assertThat(rig.metric("gateway_tracing_spans_dropped_total")).isZero();
        }
    }
}
