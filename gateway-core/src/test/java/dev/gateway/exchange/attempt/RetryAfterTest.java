package dev.gateway.exchange.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import io.netty.util.AsciiString;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RetryAfterTest {
    private static final long NOW = 784_111_777_000L; // Sun, 06 Nov 1994 08:49:37 GMT

    @ParameterizedTest
    @CsvSource(
            textBlock =
                    """
            0, 0
            7, 7000
            999999999, 999999999000
            1000000000, 9223372036854775807
            99999999999999999999999, 9223372036854775807
            1000000000s, 0
            -1, 0
            1.5, 0
            soon, 0
            '', 0
            'Sun, 06 Nov 1994 08:49:40 GMT', 3000
            'Sun, 06 Nov 1994 08:49:37 GMT', 0
            'Sun, 06 Nov 1994 08:49:00 GMT', 0
            'Mon, 06 Nov 1994 08:49:40 GMT', 0
            'Tuesday, 06-Nov-07 08:49:40 GMT', 410227203000
            'Monday, 06-Nov-07 08:49:40 GMT', 0
            'Sun, 06 Nov 1994 09:49:40 +0100', 3000
            'Sun Nov  6 08:49:40 1994', 3000
            'Wed Nov 16 08:49:37 1994', 864000000
            'Sun Nov 6 08:49:40 1994', 0
            'Sun, 06 Nov 1994', 0
            'Sun, 06 Foo 1994 08:49:40 GMT', 0
            """)
    void secondsAndDatesAreRead(String value, long millis) {
        Fields fields = new Fields();
        assertThat(RetryAfter.millis(fields, NOW)).isZero();
        fields.add(FieldName.RETRY_AFTER, new AsciiString(value));
        assertThat(RetryAfter.millis(fields, NOW)).isEqualTo(millis);
    }
}
