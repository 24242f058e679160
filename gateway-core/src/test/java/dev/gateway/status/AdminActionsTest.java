package dev.gateway.status;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.admin.AdminPages.Outcome;
import dev.gateway.admin.AdminResponse;
import dev.gateway.admin.DirectQuestions;
import dev.gateway.runtime.process.LogLevels;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Actions of operators, and the answers that they get. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // what each test's start sets
class AdminActionsTest {
    private static final String YAML =
            """
            listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
            routes: [{rules: [{backendRefs: [{name: app}, {name: one}]}]}]
            upstreams:
              - {name: app, endpoints: [{host: 127.0.0.1, port: 9001}, {host: 127.0.0.1, port: 9002}]}
              - {name: one, endpoints: [{host: 127.0.0.1, port: 9003}]}
            admin: {enabled: false}
            accessLog: {format: off}
            workers: 1
            """;

    @TempDir
    Path directory;

    private StatusRig rig;
    private final BlockingQueue<String> asked = new LinkedBlockingQueue<>();
    private final List<@Nullable Duration> times = new ArrayList<>();
    private Outcome reloaded = Outcome.done("generation 2 is active");

    /** Notes what it is asked for. */
    private final class Noted implements Operations {
        @Override
        public CompletableFuture<Outcome> reload(String reason) {
            asked.add("reload: " + reason);
            return CompletableFuture.completedFuture(reloaded);
        }

        @Override
        public void drain() {
            asked.add("drain and end");
        }

        @Override
        public void drainAndStay() {
            asked.add("drain and stay");
        }
    }

    /** Notes the levels that are set, and refuses the level "loud". */
    private final class NotedLevels implements LogLevels {
        @Override
        public Map<String, String> levels() {
            return Map.of("root", "info");
        }

        @Override
        public String set(String logger, String level, @Nullable Duration time) {
            if (level.equals("loud")) {
                throw new IllegalArgumentException("level: expected error, warn, info, debug, trace, off or inherit");
            }
            asked.add(logger + "=" + level);
            times.add(time);
            return "logger " + logger + ": " + level;
        }
    }

    @BeforeEach
    void start() throws Exception {
        rig = StatusRig.start(YAML, directory);
        new AdminActions(new Noted(), new NotedLevels(), rig.endpointDrain).addTo(rig.pages);
    }

    @AfterEach
    void stop() {
        rig.close();
    }

    private AdminResponse post(String path) {
        return DirectQuestions.post(rig.pages, path);
    }

    private static String told(AdminResponse response) {
        return response.status() + " " + response.text();
    }

    @Test
    void aReloadIsAnsweredWithWhatCameOfIt() {
        assertThat(told(post("/reload"))).isEqualTo("200 generation 2 is active\n");
        reloaded = Outcome.failed("gateway.yaml:1:1: unknown key 'x'");
        assertThat(told(post("/reload"))).isEqualTo("422 gateway.yaml:1:1: unknown key 'x'\n");
        assertThat(asked).containsExactly("reload: requested by a test", "reload: requested by a test");
    }

    @ParameterizedTest
    @CsvSource({
        "/drain, draining; /ready tells how far, drain and stay",
        "/quit, 'draining, then ending', drain and end"
    })
    void theEndBeginsWhenTheClientHasItsAnswer(String path, String told, String operation) throws Exception {
        AdminResponse response = post(path);
        assertThat(told(response)).isEqualTo("202 " + told + "\n");
        assertThat(asked).isEmpty();
        response.next().run();
        assertThat(asked.take()).isEqualTo(operation);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/endpoints/",
                "/endpoints/app",
                "/endpoints/app:drain",
                "/endpoints/app/127.0.0.1:9001",
                "/endpoints/app/127.0.0.1:9001:stop"
            })
    void whatNamesNoEndpointOrNothingToDoIsExplained(String path) {
        assertThat(told(post(path))).isEqualTo("404 expected /endpoints/UPSTREAM/HOST:PORT:drain, or :undrain\n");
    }

    @Test
    void anEndpointOrUpstreamThatThereIsNotIsSaid() {
        assertThat(told(post("/endpoints/elsewhere/127.0.0.1:9001:drain")))
                .isEqualTo("404 no upstream elsewhere: expected one of app, one\n");
        assertThat(told(post("/endpoints/appp/127.0.0.1:9001:drain")))
                .isEqualTo("404 no upstream appp: did you mean app?\n");
        assertThat(told(post("/endpoints/app/127.0.0.1:1:drain")))
                .isEqualTo("404 upstream app has no endpoint 127.0.0.1:1: expected one of 127.0.0.1:9001,"
                        + " 127.0.0.1:9002\n");
    }

    private List<String> states() {
        var app = Objects.requireNonNull(rig.active().upstream("app"));
        return app.endpoints().stream()
                .map(each -> app.health().report(each).state().label())
                .toList();
    }

    @Test
    void anEndpointDrainsUntilItIsToldOtherwise() {
        assertThat(told(post("/endpoints/app/127.0.0.1:9002:drain")))
                .isEqualTo("200 endpoint 127.0.0.1:9002 of upstream app gets no new requests\n");
        assertThat(states()).containsExactly("healthy", "draining");
        assertThat(told(post("/endpoints/app/127.0.0.1%3A9002:undrain")))
                .isEqualTo("200 endpoint 127.0.0.1:9002 of upstream app gets requests again\n");
        assertThat(states()).containsExactly("healthy", "healthy");
        assertThat(told(post("/endpoints/app/127.0.0.1%3A9002:undrain")))
                .isEqualTo("200 endpoint 127.0.0.1:9002 of upstream app did not drain: nothing has changed\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "drain?sessions=soon|sessions: expected a duration such as 2h, or 0s",
                "drain?session=1h|unknown parameter 'session': expected one of sessions"
            })
    void aDrainThatIsNotUnderstoodChangesNothing(String action, String message) {
        assertThat(told(post("/endpoints/app/127.0.0.1:9002:" + action))).isEqualTo("422 " + message + "\n");
        assertThat(states()).containsExactly("healthy", "healthy");
    }

    @Test
    void aLogLevelIsThatOfTheRootUntilSomebodyChangesItUnlessAskedOtherwise() {
        assertThat(told(post("/log-level?level=debug"))).isEqualTo("200 logger root: debug\n");
        assertThat(told(post("/log-level?logger=a.b&level=trace&for=10m"))).isEqualTo("200 logger a.b: trace\n");
        assertThat(asked).containsExactly("root=debug", "a.b=trace");
        assertThat(times).containsExactly(null, Duration.ofMinutes(10));
        assertThat(DirectQuestions.get(rig.pages, "/log-level").text())
                .isEqualToIgnoringWhitespace("{\"root\":\"info\"}");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "level=loud|level: expected error, warn, info, debug, trace, off or inherit",
                "level=info&for=soon|for: expected a duration such as 10m",
                "level=info&for=0s|for: expected a duration such as 10m",
                "level=info&for=|for: expected a duration such as 10m",
                "levl=info|unknown parameter 'levl': expected one of for, level, logger"
            })
    void aLogLevelThatThereIsNotChangesNothing(String query, String message) {
        assertThat(told(post("/log-level?" + query))).isEqualTo("422 " + message + "\n");
        assertThat(asked).isEmpty();
    }

    @Test
    void whoEmbedsTheGatewayHasTheLevelsOfTheLog() {
        new AdminActions(new Noted(), null, rig.endpointDrain).addTo(rig.pages);
        String told =
                "422 the log belongs to the program that runs this gateway, and so do its levels: set them there\n";
        assertThat(told(post("/log-level?level=debug"))).isEqualTo(told);
        assertThat(told(DirectQuestions.get(rig.pages, "/log-level"))).isEqualTo(told);
        assertThat(asked).isEmpty();
    }
}
