package dev.gateway.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ActiveCheckTest {
    private static final ActiveCheck.Http CHECK = new ActiveCheck.Http(
            "/", null, List.of(new ActiveCheck.Statuses(200, 299), new ActiveCheck.Statuses(401, 401)));

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
