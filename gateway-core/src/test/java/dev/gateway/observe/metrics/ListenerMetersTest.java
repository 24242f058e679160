package dev.gateway.observe.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.Records;
import dev.gateway.stream.Cause;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Which failures of exchanges are whose, as the statistics of a listener tell. */
class ListenerMetersTest {
    private final ListenerMeters meters = new ListenerMeters();

    private void exchange(int status, @Nullable Cause cause, boolean responded) {
        ExchangeRecord record = Records.record("/", status, cause);
        if (!responded) {
            record.respondedNanos = 0;
        }
        meters.begun();
        meters.completed(record);
    }

    @ParameterizedTest
    @CsvSource({
        "200, , true, 0, 0", // all is well
        "502, , true, 0, 0", // the upstream's own answer
        "502, CONNECT_FAILED, false, 1, 0", // the gateway's answer
        "404, NO_ROUTE, false, 0, 0", // the client's mistake
        "200, UPSTREAM_RESET_IN_BODY, true, 0, 1",
        "200, CLIENT_CLOSED, true, 0, 1",
        "503, UPSTREAM_RESET_IN_BODY, true, 0, 1",
        "502, RETRY_LIMIT, true, 1, 0", // the last answer was forwarded whole
        "502, RETRY_BUDGET, true, 1, 0"
    })
    void anErrorIsTheGatewaysOrABrokenResponseNeverBoth(
            int status, @Nullable Cause cause, boolean responded, int handlerErrors, int replyErrors) {
        exchange(status, cause, responded);
        assertThat(meters.handlerErrors()).isEqualTo(handlerErrors);
        assertThat(meters.replyErrors()).isEqualTo(replyErrors);
    }

    @Test
    void aRequestIsActiveUntilItIsCompleted() {
        meters.begun();
        meters.begun();
        meters.completed(Records.record("/", 200, null));
        assertThat(meters.requests()).isEqualTo(2);
        assertThat(meters.requestsActive()).isEqualTo(1);
    }

    @Test
    void aTunnelThatEndsBadlyIsNoErrorOfItsRequest() {
        meters.completed(Records.tunnel(Kind.TUNNEL, 200, Cause.UPSTREAM_RESET_IN_BODY));
        assertThat(meters.replyErrors()).isZero();
        assertThat(meters.tunnels.total())
                .as("one that was never opened is no tunnel")
                .isZero();
    }

    @Test
    void oddFieldNamesAreAViolation() {
        ExchangeRecord record = Records.record("/", 200, null);
        meters.completed(record);
        assertThat(meters.violations()).isEmpty();
        record.hasOddNames = true;
        meters.completed(record);
        assertThat(Objects.requireNonNull(meters.violations().get("odd_field_name"))
                        .get(0))
                .isEqualTo(1);
    }

    @Test
    void bytesOfTunnelsAreTakenOffThoseOfHttpInBothDirections() {
        ExchangeRecord tunnel = Records.tunnel(Kind.TUNNEL, 200, null);
        meters.onReceived(100);
        meters.onSent(1_000);
        meters.tunnels.bytes(tunnel, 30, 400);
        meters.tunnels.bytes(Records.tunnel(Kind.WEBSOCKET, 200, null), 5, 60);
        assertThat(meters.httpReceivedBytes()).isEqualTo(65);
        assertThat(meters.httpSentBytes()).isEqualTo(540);
        meters.tunnels.bytes(tunnel, 0, 100); // the connection tells its bytes later
        assertThat(meters.httpSentBytes()).as("it never falls").isEqualTo(540);
    }

    @ParameterizedTest
    @EnumSource(Cause.class)
    void onlyPoliciesDenyTunnels(Cause cause) {
        boolean policy = cause.name().startsWith("POLICY_")
                || switch (cause) {
                    case NO_ROUTE, AUTHZ_DENIED, PROXY_AUTH, LOOP_DETECTED, RATE_LIMITED, OVERLOAD -> true;
                    default -> false;
                };
        TunnelMeters tunnels = new TunnelMeters();
        tunnels.ended(Records.tunnel(Kind.TUNNEL, cause.status(), cause));
        tunnels.forEachEnded((denied, ended, count) -> {
            assertThat(ended).isEqualTo(cause);
            assertThat(denied).isEqualTo(policy);
            assertThat(count).isEqualTo(1);
        });
        assertThat(tunnels.total()).as("it was asked for").isEqualTo(1);
        assertThat(tunnels.active()).isZero();
    }

    @Test
    void aTunnelIsActiveBetweenItsOpeningAndItsEnd() {
        TunnelMeters tunnels = new TunnelMeters();
        ExchangeRecord tunnel = Records.tunnel(Kind.TUNNEL, 200, null);
        tunnels.opened(tunnel);
        tunnels.opened(Records.tunnel(Kind.WEBSOCKET, 200, null)); // counted by its route
        assertThat(tunnels.active()).isEqualTo(1);
        tunnels.ended(tunnel);
        tunnels.ended(Records.tunnel(Kind.WEBSOCKET, 200, null));
        assertThat(tunnels.active()).isZero();
        assertThat(tunnels.total()).isEqualTo(1);
        assertThat(tunnels.durations.sumSeconds()).isEqualTo(0.001_998);
    }
}
