package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.exchange.route.Route;
import dev.gateway.filter.BodyInspector;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.InspectionContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.RequestHead;
import dev.gateway.observe.ExchangeRecord.Side;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.StreamEvents;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What looks at a client's first bytes before they go upstream. */
class InspectionTest extends ExchangeRig {
    private final List<String> inspected = new ArrayList<>();

    /** Lets tunnels pass whose first three bytes are these. */
    private void inspect(String expected) {
        filters.add(new Filter() {
            @Override
            public BodyInspector inspector(RequestHead head, InspectionContext context) {
                return (soFar, last) -> {
                    String text = soFar.toString(StandardCharsets.UTF_8);
                    inspected.add(text + (last ? "." : ""));
                    return text.startsWith(expected)
                            ? BodyInspector.PASS
                            : text.length() < 3 && !last
                                    ? BodyInspector.MORE
                                    : new BodyInspector.Refuse(Failure.of(Cause.POLICY_SNI, "another name"));
                };
            }
        });
    }

    @Test
    void bytesAreHeldWithoutCreditUntilTheyHaveBeenSeen() {
        inspect("abc");
        StreamEvents events = tunnel();
        for (String part : List.of("a", "b")) {
            events.onData(bytes(part), false);
            events.onReadComplete();
        }
        opener.last().events.onData(bytes("banner"), false);
        assertThat(upstream().body).isEmpty();
        assertThat(client.consumed).isZero();
        assertThat(client.body).as("the other way is open").hasToString("banner");
        events.onData(bytes("cd"), false);
        events.onReadComplete();
        assertThat(upstream().body).hasToString("abcd");
        assertThat(upstream().unflushed).isZero();
        assertThat(client.consumed).isEqualTo(4);
        events.onData(bytes("e"), false);
        assertThat(upstream().body).hasToString("abcde");
        assertThat(inspected).containsExactly("a", "ab", "abcd");
        close(events);
    }

    @Test
    void whatMustNotPassResetsBothSides() {
        inspect("abc");
        StreamEvents events = tunnel();
        events.onData(bytes("xyz"), false);
        assertThat(upstream().body).isEmpty();
        assertThat(upstream().reset).extracting(Failure::cause).isEqualTo(Cause.POLICY_SNI);
        assertThat(client.reset).extracting(Failure::cause).isEqualTo(Cause.POLICY_SNI);
        assertThat(record().cause).isEqualTo(Cause.POLICY_SNI);
        assertThat(record().endedBy).isEqualTo(Side.GATEWAY);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void bytesSentAheadAreSeenBeforeAnythingIsDialed(boolean pass) {
        inspect("abc");
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                later.add(context);
                return new Verdict.Wait(() -> {});
            }
        });
        offerTunnels();
        StreamEvents events = connect("api.example.com:443");
        events.onData(bytes(pass ? "abc" : "xyz"), false);
        assertThat(inspected).as("nobody has been let in yet").isEmpty();
        later.get(0).resume(Verdict.PROCEED);
        if (pass) {
            opener.last().succeed();
            opener.last().events.onHead(response(200), false);
            assertThat(upstream().body).hasToString("abc");
            close(events);
        } else {
            assertAnswered(403, Cause.POLICY_SNI);
            assertThat(opener.openings).isEmpty();
        }
    }

    private final List<FilterContext> later = new ArrayList<>();

    @ParameterizedTest
    @CsvSource({"ab, false", "abc, true"})
    void aClientThatEndsBeforeItHasSaidEnoughIsDecidedOn(String said, boolean passes) {
        inspect("abc");
        StreamEvents events = tunnel();
        events.onData(bytes(said), true);
        if (passes) {
            assertThat(upstream().ended).isTrue();
            opener.last().events.onData(bytes("x"), true);
            assertThat(record().cause).isNull();
        } else {
            assertThat(upstream().body).isEmpty();
            assertThat(client.reset).isNotNull();
            assertThat(record().cause).isEqualTo(Cause.POLICY_SNI);
        }
    }

    @Test
    void aClientThatNeverSpeaksIsDecidedOnAtOnce() {
        inspect("abc");
        offerTunnels();
        handler().onRequest(client, head("CONNECT", "api.example.com:443", ""), true);
        assertAnswered(403, Cause.POLICY_SNI);
        assertThat(inspected).containsExactly(".");
    }

    @Test
    void aClientThatDoesNotSayEnoughIsLeftWhenItsTimeIsUp() {
        inspect("abc");
        timeouts =
                new Route.Timeouts(0, 0, 0, new TunnelTimeouts(Duration.ofMillis(100), Duration.ZERO, Duration.ZERO));
        StreamEvents events = tunnel();
        pass(70);
        events.onData(bytes("a"), false);
        pass(70);
        assertThat(client.reset).isNull();
        pass(70);
        assertThat(record().cause).isEqualTo(Cause.IDLE_TIMEOUT);
    }

    @Test
    void anInspectorThatWantsMoreWhereNoMoreComesFailsItsTunnelAlone() {
        filters.add(new Filter() {
            @Override
            public BodyInspector inspector(RequestHead head, InspectionContext context) {
                return (soFar, last) -> BodyInspector.MORE;
            }
        });
        StreamEvents events = tunnel();
        events.onData(bytes("a"), true);
        assertThat(client.reset).isNotNull();
        assertThat(record().cause).isEqualTo(Cause.UNKNOWN);
    }

    @Test
    void everyInspectorIsAsked() {
        inspect("a");
        inspect("ab");
        StreamEvents events = tunnel();
        events.onData(bytes("a"), false);
        assertThat(upstream().body).isEmpty();
        events.onData(bytes("b"), false);
        assertThat(upstream().body).hasToString("ab");
        assertThat(inspected).containsExactly("a", "a", "ab");
        close(events);
    }

    @Test
    void theBodyOfARequestCanBeInspectedToo() {
        inspect("abc");
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("ab"), false);
        assertThat(upstream().body).isEmpty();
        events.onData(bytes("xx"), true);
        assertAnswered(403, Cause.POLICY_SNI);
        assertThat(upstream().reset).isNotNull();
    }
}
