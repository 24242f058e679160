package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LocalReplyTest {
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
