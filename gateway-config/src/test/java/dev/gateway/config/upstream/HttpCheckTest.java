package dev.gateway.config.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.upstream.UpstreamConfig.HttpCheck;
import dev.gateway.config.value.StatusRange;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HttpCheckTest {
    private static final HttpCheck CHECK =
            new HttpCheck("/", null, List.of(new StatusRange(200, 299), new StatusRange(401, 401)));

    @ParameterizedTest
    @CsvSource({
        "199, false",
        "200, true",
        "250, true",
        "299, true",
        "300, false",
        "400, false",
        "401, true",
        "402, false"
    })
    void bothEndsOfARangeOfStatusesAreGoodAnswers(int status, boolean expected) {
        assertThat(CHECK.expects(status)).isEqualTo(expected);
    }
}
