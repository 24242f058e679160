package dev.gateway.exchange.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.Fakes.Settings;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Heads;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RequestChecksTest {
    private static final FieldName MAX_FORWARDS = FieldName.of("Max-Forwards");

    private final Settings settings = new Settings();

    private static RequestHead post(long contentLength) {
        return new RequestHead(
                Method.POST,
                new AsciiString("http"),
                new AsciiString("app.example"),
                new AsciiString("/"),
                new Fields(),
                contentLength);
    }

    @ParameterizedTest
    @ValueSource(longs = {RequestHead.UNKNOWN_LENGTH, 0, 1, 999, 1000})
    void aBodyThatIsAnnouncedToBeNoLongerThanTheLimitIsAdmitted(long contentLength) {
        settings.maxBody = 1000;
        assertThat(RequestChecks.check(post(contentLength), settings)).isNull();
    }

    @ParameterizedTest
    @ValueSource(longs = {1001, Long.MAX_VALUE})
    void aBodyThatIsAnnouncedToBeLongerIsRefused(long contentLength) {
        settings.maxBody = 1000;
        assertThat(RequestChecks.check(post(contentLength), settings))
                .isNotNull()
                .satisfies(failure -> assertThat(failure.cause()).isEqualTo(Cause.BODY_TOO_LARGE))
                .satisfies(failure -> assertThat(failure.status()).isEqualTo(413));
    }

    @Test
    void withoutALimitEveryBodyIsAdmitted() {
        assertThat(RequestChecks.check(post(Long.MAX_VALUE), settings)).isNull();
    }

    /** What is no number, or a very large one, is none of our business: the request goes on with it. */
    @ParameterizedTest
    @CsvSource(
            nullValues = "none",
            value = {
                "0, true, 0",
                "000, true, 000",
                "1, false, 0",
                "10, false, 9",
                "999999999, false, 999999998",
                "1000000000, false, 1000000000",
                "99999999999999999999, false, 99999999999999999999",
                "'', false, ''",
                "-1, false, -1",
                "+0, false, +0",
                "0x0, false, 0x0",
                "'0 ', false, '0 '",
                "'0,1', false, '0,1'",
                "1:, false, 1:",
                "/1, false, /1",
                "zero, false, zero",
                "none, false, none",
            })
    void optionsAreCountedDownByANumberOnly(@Nullable String hops, boolean last, @Nullable String then) {
        RequestHead head = Heads.request("OPTIONS", "shop.example.com", "/");
        if (hops != null) {
            head.fields().add(MAX_FORWARDS, hops);
        }
        assertThat(RequestChecks.isLastHop(head)).isEqualTo(last);
        AsciiString left = head.fields().first(MAX_FORWARDS);
        assertThat(left == null ? null : left.toString()).isEqualTo(then);
    }

    @Test
    void otherMethodsAreNotCountedDown() {
        RequestHead head = Heads.get("shop.example.com", "/");
        head.fields().add(MAX_FORWARDS, "0");
        assertThat(RequestChecks.isLastHop(head)).isFalse();
        assertThat(String.valueOf(head.fields().first(MAX_FORWARDS))).isEqualTo("0");
    }
}
