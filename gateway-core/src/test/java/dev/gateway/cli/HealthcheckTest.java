package dev.gateway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link HealthcheckCommand} and {@link Healthcheck}: what a container's health check says of a gateway. */
@Timeout(60)
class HealthcheckTest {
    @Test
    void aPageThatAnswers200HasNothingToComplainAbout() throws Exception {
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(200, "ready\n"))) {
            assertThat(Healthcheck.complaint("http://" + admin.address() + "/ready"))
                    .isEmpty();
            assertThat(Healthcheck.complaint("http://" + admin.address())).isEmpty();
            assertThat(admin.requests().get(0)).startsWith("GET /ready HTTP/1.1\r\n");
            assertThat(admin.requests().get(1)).startsWith("GET / HTTP/1.1\r\n");
            assertThat(Healthcheck.complaint("http://" + admin.address() + "/ready?listener=web%2F1"))
                    .isEmpty();
            assertThat(admin.requests().get(2)).startsWith("GET /ready?listener=web%2F1 HTTP/1.1\r\n");
        }
    }

    @Test
    void anyOtherAnswerIsRepeated() throws Exception {
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(503, "draining, connections open: 3\n"))) {
            assertThat(Healthcheck.complaint("http://" + admin.address() + "/ready"))
                    .isEqualTo("503 draining, connections open: 3");
        }
    }

    @Test
    void aSocketFileIsAskedWhetherTheGatewayIsReady(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("admin.sock");
        try (FakeAdmin admin = FakeAdmin.answering(file, FakeAdmin.http(200, "ready\n"))) {
            assertThat(Healthcheck.complaint("unix:" + file)).isEmpty();
            assertThat(admin.requests().get(0)).startsWith("GET /ready HTTP/1.1\r\n");
        }
        assertThat(Healthcheck.complaint("unix:" + file)).startsWith(file + ": ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ftp://here/", "https://127.0.0.1:9901/ready", "ready", "/ready", "http:///ready"})
    void whatIsNoUrlOfAPageIsRefused(String url) {
        assertThat(Healthcheck.complaint(url)).isEqualTo("expected a URL such as http://127.0.0.1:9901/ready");
    }

    @Test
    void theCommandNamesThePageItComplainsAbout() throws Exception {
        CommandRun run = new CommandRun();
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(503, "starting\n"))) {
            String url = "http://" + admin.address() + "/startup";
            assertThat(run.gateway("healthcheck", "--url", url)).isEqualTo(1);
            assertThat(run.err()).isEqualTo(url + ": 503 starting" + System.lineSeparator());
            assertThat(run.out()).isEmpty();
        }
    }

    @Test
    void writtenPlainlyItDoesTheSame() throws Exception {
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(200, "ok\n"))) {
            String[] words = {"healthcheck", "--url", "http://" + admin.address() + "/live"};
            assertThat(Objects.requireNonNull(HealthcheckCommand.plain(words)).call())
                    .isZero();
            assertThat(admin.requests()).hasSize(1);
        }
        assertThat(HealthcheckCommand.plain(new String[] {"healthcheck", "--ur", "x"}))
                .isNull();
        assertThat(HealthcheckCommand.plain(new String[] {"healthcheck", "--url"}))
                .isNull();
    }
}
