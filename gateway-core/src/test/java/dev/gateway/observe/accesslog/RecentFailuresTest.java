package dev.gateway.observe.accesslog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.format.JsonText;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.NamedEndpoint;
import dev.gateway.observe.Records;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which failed exchanges are kept, and what of them. */
class RecentFailuresTest {
    private static final long SECOND = 1_000_000_000L;
    private static final Redaction REDACTION = new Redaction(new Redaction.Hidden(Set.of("token"), Set.of()));

    private final RecentFailures first = new RecentFailures();
    private final RecentFailures second = new RecentFailures();

    private static void add(RecentFailures to, int number, String path, Cause cause) {
        ExchangeRecord record = Records.record(path, cause.status(), cause);
        record.startMillis = number * 1000L;
        record.startNanos = number * SECOND;
        record.endNanos = number * SECOND + 5_000_000;
        to.add(record, REDACTION);
    }

    private List<FailedExchange> latest() {
        return RecentFailures.latest(List.of(first, second));
    }

    @Test
    void theLastOnesOfAllLoopsAreToldLatestFirst() {
        for (int i = 1; i <= 60; i++) {
            add(i % 2 == 0 ? first : second, i, "/" + i, Cause.CONNECT_FAILED);
        }
        assertThat(latest()).hasSize(50);
        assertThat(latest().get(0).request().path()).isEqualTo("/60");
        assertThat(latest().get(49).request().path()).isEqualTo("/11");
        assertThat(latest().get(0).endMillis()).isEqualTo(60_005);
    }

    @Test
    void whatClientsDoDoesNotPushOutWhatUpstreamsDo() {
        add(first, 1, "/broken", Cause.UPSTREAM_TIMEOUT);
        for (int i = 2; i <= 1000; i++) {
            add(first, i, "/wp-login.php", Cause.NO_ROUTE);
        }
        assertThat(latest()).hasSize(51);
        assertThat(latest()).extracting(each -> each.request().path()).contains("/broken");
    }

    @Test
    void aFloodIsCountedAndNotCopied() {
        for (int i = 0; i < 1000; i++) {
            add(first, 7, "/" + i, Cause.OVERLOAD);
        }
        assertThat(latest()).hasSize(50);
        assertThat(first.leftOut()).isEqualTo(950);
        add(first, 9, "/later", Cause.OVERLOAD);
        assertThat(latest().get(0).request().path()).isEqualTo("/later");
    }

    @Test
    void secretsAreHiddenAndLongTextsCut() {
        add(first, 1, "/a?x=1&token=secret", Cause.CONNECT_FAILED);
        add(first, 2, "/" + "a".repeat(300) + "?token=secret", Cause.CONNECT_FAILED);
        ExchangeRecord record = Records.record("/", 503, null);
        record.startNanos = 3 * SECOND;
        record.endNanos = 3 * SECOND;
        record.requestId = new AsciiString("id-1");
        record.endpoint = new NamedEndpoint("a:1");
        record.tryAgain(0, Failure.of(Cause.CONNECT_FAILED, "refused"));
        record.endpoint = new NamedEndpoint("b:1");
        record.detail = "d".repeat(1000);
        first.add(record, REDACTION);
        JsonText json = new JsonText();
        json.array("all");
        latest().forEach(each -> each.write(json));
        assertThat(json.endArray().toString())
                .contains("\"path\":\"/a?x=1&token=***\"", "\"requestId\":\"id-1\"")
                .contains("\"endpoint\":\"b:1\"", "\"tried\":[{\"endpoint\":\"a:1\",\"cause\":\"connect_failed\"}]")
                .doesNotContain("secret", "a".repeat(257), "d".repeat(257));
    }
}
