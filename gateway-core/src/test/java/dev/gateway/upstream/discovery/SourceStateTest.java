package dev.gateway.upstream.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.upstream.SourceStatus;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SourceStateTest {
    @ParameterizedTest
    @CsvSource({"1, '', x:a has an empty list", "-1, '', x:a has not answered yet", "-1, NXDOMAIN, x:a: NXDOMAIN"})
    void whyASourceHasNoEndpointsIsSaid(long age, String problem, String why) {
        SourceStatus status = new SourceStatus(age, problem.isEmpty() ? 0 : 1, problem);
        assertThat(new SourceState("x:a", "x", "g.yaml:1:1", 0, status, "has an empty list").whyEmpty())
                .isEqualTo(why);
    }
}
