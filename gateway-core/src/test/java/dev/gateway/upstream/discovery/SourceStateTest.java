package dev.gateway.upstream.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.upstream.SourceStatus;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SourceStateTest {
    @ParameterizedTest
    @CsvSource({
        "file, 1, '', x:a has an empty list",
        "srv, 1, '', x:a says that there is no such service",
        "dns, 1, '', x:a has no addresses",
        "dns, -1, '', x:a has not answered yet",
        "srv, -1, NXDOMAIN, x:a: NXDOMAIN"
    })
    void whyASourceHasNoEndpointsIsSaid(String kind, long age, String problem, String why) {
        SourceStatus status = new SourceStatus(age, problem.isEmpty() ? 0 : 1, problem);
        assertThat(new SourceState("x:a", kind, "g.yaml:1:1", 0, status).whyEmpty())
                .isEqualTo(why);
    }
}
