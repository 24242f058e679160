package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.Fakes.FakeServerStream;
import dev.gateway.exchange.Fakes.Settings;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.testing.Buffers;
import io.netty.buffer.Unpooled;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LocalReplyTest {
    private long wallMillis = 784_111_777_999L;

    private final LocalReply replies = new LocalReply(() -> wallMillis);

    private FakeServerStream refuse(Failure failure) {
        FakeServerStream client = new FakeServerStream();
        replies.send(client, null, failure, new Settings(), new LocalReply.About(null, null, new Fields()));
        return client;
    }

    @Test
    void everyFailureSaysWhenItWasAnsweredAndThatNobodyKeepsIt() {
        for (Cause cause : Cause.values()) {
            if (cause != Cause.UNKNOWN) {
                FakeServerStream client = refuse(Failure.of(cause, 503, "test"));
                assertThat(client.field("Date")).as(cause.label()).isEqualTo("Sun, 06 Nov 1994 08:49:37 GMT");
                assertThat(client.field("Cache-Control")).as(cause.label()).isEqualTo("no-store");
            }
        }
    }

    @Test
    void theDateGoesOnWithTheClock() {
        Failure failure = Failure.of(Cause.NO_ROUTE, "test");
        assertThat(refuse(failure).field("Date")).isEqualTo("Sun, 06 Nov 1994 08:49:37 GMT");
        wallMillis++;
        assertThat(refuse(failure).field("Date")).isEqualTo("Sun, 06 Nov 1994 08:49:38 GMT");
        wallMillis += 999;
        assertThat(refuse(failure).field("Date")).isEqualTo("Sun, 06 Nov 1994 08:49:38 GMT");
        wallMillis -= 60_000; // somebody has set the clock back
        assertThat(refuse(failure).field("Date")).isEqualTo("Sun, 06 Nov 1994 08:48:38 GMT");
    }

    @Test
    void aDateThatAFilterHasSetStays() {
        FakeServerStream client = new FakeServerStream();
        Fields fields = new Fields();
        fields.add(FieldName.DATE, "Thu, 01 Jan 1970 00:00:00 GMT");
        Verdict.Reply reply = new Verdict.Reply(new ResponseHead(200, null, fields, 0), Unpooled.EMPTY_BUFFER);
        replies.send(client, ExchangeRig.head("GET", "/"), reply, new Settings());
        assertThat(client.field("Date")).isEqualTo("Thu, 01 Jan 1970 00:00:00 GMT");
    }

    @Test
    void anAnswerThatMayHaveNoBodyAnnouncesNone() {
        for (int status : new int[] {204, 304}) {
            FakeServerStream client = new FakeServerStream();
            Verdict.Reply reply =
                    new Verdict.Reply(new ResponseHead(status, null, new Fields(), 0), Buffers.of("never sent"));
            replies.send(client, ExchangeRig.head("GET", "/"), reply, new Settings());
            assertThat(client.field("Content-Length")).isNull();
            assertThat(client.body).isEmpty();
            assertThat(client.ended).isTrue();
        }
    }

    @Test
    void datesAreWrittenAsHttpWantsThem() {
        assertThat(LocalReply.httpDate(784_111_777).toString())
                .isEqualTo("Sun, 06 Nov 1994 08:49:37 GMT"); // the RFC's example
        DateTimeFormatter expected = DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US);
        for (int day = 0; day < 366; day++) {
            long second = TimeUnit.DAYS.toSeconds(day) + day;
            assertThat(LocalReply.httpDate(second).toString())
                    .isEqualTo(expected.format(Instant.ofEpochSecond(second).atOffset(ZoneOffset.UTC)));
        }
    }
}
