package dev.gateway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@link DrainCommand} asks a gateway for, and how long it waits. */
@Timeout(60)
class DrainCommandTest {
    private static final String DONE =
            FakeAdmin.http(200, "endpoint 10.0.0.7:80 of upstream app gets no new requests\n");

    private final CommandRun run = new CommandRun();

    /** Returns what {@code /upstreams} says of the endpoint; another upstream has an endpoint of the same name. */
    private static String upstreams(String endpoint) {
        return FakeAdmin.http(
                200,
                """
                {"generation": 1, "upstreams": [
                 {"name": "other", "endpoints": [{"endpoint": "10.0.0.7:80", "state": "healthy", "requestsActive": 9}]},
                 {"name": "app", "tunnels": {"inUse": 1}, "endpoints": [
                  {"endpoint": "10.0.0.6:80", "state": "healthy", "requestsActive": 7}%s]}]}
                """
                        .formatted(endpoint.isEmpty() ? "" : ", {\"endpoint\": \"10.0.0.7:80\", " + endpoint + "}"));
    }

    private static List<String> lines(String text) {
        return text.lines().toList();
    }

    private static List<String> asked(FakeAdmin admin) {
        return admin.requests().stream()
                .map(request -> request.replaceAll(" HTTP/1.1\r\n(?s:.*)", ""))
                .toList();
    }

    @Test
    void withoutWaitingOneRequestIsMade() throws Exception {
        try (FakeAdmin admin = FakeAdmin.answering(DONE)) {
            assertThat(run.gateway("drain", "--admin", admin.address(), "app", "10.0.0.7:80"))
                    .isZero();
            assertThat(asked(admin)).containsExactly("POST /endpoints/app/10.0.0.7%3A80:drain");
            assertThat(admin.requests().get(0)).contains(" by gateway drain\r\n");
        }
        assertThat(lines(run.out())).containsExactly("endpoint 10.0.0.7:80 of upstream app gets no new requests");
    }

    @Test
    void itWaitsUntilNothingRunsThere() throws Exception {
        try (FakeAdmin admin = FakeAdmin.answering(
                DONE,
                upstreams("\"state\": \"draining\", \"requestsActive\": 2, \"sessionsForSeconds\": 0.3"),
                upstreams("\"state\": \"draining\", \"requestsActive\": 0, \"sessionsForSeconds\": 0.1"),
                upstreams("\"state\": \"draining\", \"requestsActive\": 1"),
                upstreams("\"state\": \"draining\", \"requestsActive\": 0"))) {
            assertThat(run.gateway(
                            "drain", "--admin", admin.address(), "app", "10.0.0.7:80", "--wait", "--sessions=300ms"))
                    .isZero();
            assertThat(asked(admin))
                    .startsWith("POST /endpoints/app/10.0.0.7%3A80:drain?sessions=300ms", "GET /upstreams")
                    .hasSize(5);
        }
        assertThat(lines(run.out()))
                .containsExactly(
                        "endpoint 10.0.0.7:80 of upstream app gets no new requests",
                        "2 requests and tunnels run, and its sessions stay at 10.0.0.7:80",
                        "its sessions stay at 10.0.0.7:80",
                        "1 request or tunnel runs at 10.0.0.7:80",
                        "nothing runs at 10.0.0.7:80 any more");
        assertThat(run.err()).isEmpty();
    }

    @Test
    void whatIsNotOverInTimeIsAnErrorThatSaysHowFarItIs() throws Exception {
        try (FakeAdmin admin =
                FakeAdmin.answering(DONE, upstreams("\"state\": \"draining\", \"requestsActive\": 3, \"inUse\": 1"))) {
            assertThat(run.gateway(
                            "drain", "--admin", admin.address(), "app", "10.0.0.7:80", "--wait", "--timeout", "1ms"))
                    .isEqualTo(1);
        }
        assertThat(lines(run.err()))
                .containsExactly("after 1ms: 3 requests and tunnels run at 10.0.0.7:80; the endpoint keeps draining");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'\"state\": \"healthy\", \"requestsActive\": 0'|10.0.0.7:80 does not drain any more: somebody has put it"
                        + " back into service",
                "''|10.0.0.7:80 has left upstream app, and the gateway does not show what still runs there"
            })
    void whatIsNoLongerDrainedIsNotSaidToBeOver(String endpoint, String message) throws Exception {
        try (FakeAdmin admin = FakeAdmin.answering(DONE, upstreams(endpoint))) {
            assertThat(run.gateway("drain", "--admin", admin.address(), "app", "10.0.0.7:80", "--wait"))
                    .isEqualTo(1);
        }
        assertThat(lines(run.err())).containsExactly(message);
    }

    @Test
    void aRefusalEndsItBeforeItWaits() throws Exception {
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(403, "not from there\n"))) {
            assertThat(run.gateway("drain", "--admin", admin.address(), "app", "10.0.0.7:80", "--wait"))
                    .isEqualTo(1);
            assertThat(admin.requests()).hasSize(1);
        }
        assertThat(run.err()).isEqualTo("not from there\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "drain app 10.0.0.7:80 --wait --timeout 5|--timeout: expected a duration such as 5m: did you mean '5ms' or '5s'?",
                "drain app 10.0.0.7:80 --timeout 5m|--timeout limits --wait: add --wait",
                "drain app|Missing required parameter: 'ENDPOINT'",
                "undrain|Missing required parameters: 'UPSTREAM', 'ENDPOINT'"
            })
    void aWrongCommandLineAsksNobody(String command, String message) {
        assertThat(run.gateway((command + " --admin 127.0.0.1:1").split(" "))).isEqualTo(2);
        assertThat(lines(run.err()).get(0)).isEqualTo(message);
    }
}
