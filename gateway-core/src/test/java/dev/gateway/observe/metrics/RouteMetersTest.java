package dev.gateway.observe.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.Method;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.Records;
import dev.gateway.stream.Cause;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is counted of the requests of one route. */
class RouteMetersTest {
    private final RouteMeters meters = new RouteMeters();

    @ParameterizedTest
    @CsvSource({
        "0, none",
        "99, none",
        "100, 1xx",
        "199, 1xx",
        "200, 2xx",
        "404, 4xx",
        "599, 5xx",
        "600, none",
        "-1, none"
    })
    void aStatusIsOfAClass(int status, String label) {
        assertThat(RouteMeters.codeClassLabel(RouteMeters.codeClass(status))).isEqualTo(label);
    }

    private List<String> counted() {
        List<String> counted = new ArrayList<>();
        meters.requests.forEach((key, count) -> counted.add(
                RouteMeters.method(key) + " " + RouteMeters.status(key) + " " + RouteMeters.cause(key) + " " + count));
        return counted;
    }

    private void request(@Nullable Method method, int status, @Nullable Cause cause) {
        ExchangeRecord record = Records.record("/", status, cause);
        record.method = method;
        meters.completed(record, 1_000_000);
    }

    @Test
    void eachMethodStatusAndCauseIsCountedApart() {
        List<String> expected = new ArrayList<>();
        for (Method method : RouteMeters.METHODS) {
            request(method, 200, null);
            expected.add(method + " 200 null 1");
        }
        for (Cause cause : Cause.values()) {
            request(Method.GET, cause.status(), cause);
            expected.add("GET " + cause.status() + " " + cause + " 1");
        }
        assertThat(counted()).containsExactlyInAnyOrderElementsOf(expected);
    }

    @Test
    void whatClientsMakeUpIsOneMethod() {
        request(Method.of("BREW"), 200, null);
        request(Method.of("get"), 200, null); // methods have a case
        request(null, 200, null); // the head could not be made out
        assertThat(counted()).containsExactly("OTHER 200 null 3");
    }

    @Test
    void requestsOfOneKindAreAddedUp() {
        for (int i = 0; i < 3; i++) {
            request(Method.GET, 502, Cause.CONNECT_FAILED);
        }
        assertThat(counted()).containsExactly("GET 502 CONNECT_FAILED 3");
    }

    @Test
    void durationsAreKeptByClassOfStatus() {
        request(Method.GET, 200, null);
        request(Method.GET, 204, null);
        request(Method.GET, 0, Cause.CLIENT_CLOSED);
        assertThat(meters.durations[2]).isNotNull();
        assertThat(meters.durations[0]).isNotNull();
        assertThat(meters.durations[5]).isNull();
        assertThat(meters.durationSeconds()).isEqualTo(0.003);
        long[] buckets = new long[20];
        meters.addDurationsTo(buckets);
        assertThat(buckets).startsWith(0, 0, 0, 3, 0); // to 1 ms
    }

    @Test
    void aWebSocketIsActiveUntilItEndsAndARefusedOneNeverWas() {
        ExchangeRecord socket = Records.tunnel(Kind.WEBSOCKET, 200, Cause.IDLE_TIMEOUT);
        meters.opened(socket);
        meters.opened(Records.tunnel(Kind.WEBSOCKET, 200, null));
        meters.opened(Records.tunnel(Kind.TUNNEL, 200, null));
        assertThat(meters.webSocketsActive()).isEqualTo(2);
        meters.completed(socket, 1);
        meters.completed(Records.tunnel(Kind.WEBSOCKET, 403, null), 1);
        assertThat(meters.webSocketsActive()).isEqualTo(1);
        assertThat(meters.webSockets()).isEqualTo(2);
        List<String> ended = new ArrayList<>();
        meters.forEachWebSocketEnded((cause, count) -> ended.add(cause + " " + count));
        assertThat(ended).containsExactly("IDLE_TIMEOUT 1");
    }
}
