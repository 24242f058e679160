package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.ExchangeState.Action;
import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.ExchangeState.Intake;
import dev.gateway.exchange.ExchangeState.Pending;
import dev.gateway.exchange.ExchangeState.Phase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The machine as a table: every event in every phase; what the table does not name changes nothing. */
class ExchangeStateTest {
    /** How each phase is reached. */
    private static final Map<Phase, List<Event>> PATHS = new TreeMap<>(Map.of(
            Phase.ROUTING, List.of(),
            Phase.FILTERING, List.of(Event.FILTER_WAITS),
            Phase.CONNECTING, List.of(Event.ROUTED),
            Phase.BACKING_OFF, List.of(Event.ROUTED, Event.RETRY),
            Phase.REQUESTED, List.of(Event.ROUTED, Event.OPENED),
            Phase.RESPONDING, List.of(Event.ROUTED, Event.OPENED, Event.RESPONSE_HEAD),
            Phase.TUNNELLING, List.of(Event.ROUTED, Event.OPENED, Event.TUNNEL_HEAD),
            Phase.DONE, List.of(Event.CLIENT_GONE)));

    private static final String TABLE =
            """
            ROUTING     FILTER_WAITS   FILTERING    NOTHING
            ROUTING     ROUTED         CONNECTING   OPEN
            ROUTING     REPLIED        DONE         ANSWER
            ROUTING     FAILED         DONE         ANSWER
            ROUTING     CLIENT_GONE    DONE         RECORD
            FILTERING   FILTER_WAITS   FILTERING    NOTHING
            FILTERING   ROUTED         CONNECTING   OPEN
            FILTERING   REPLIED        DONE         ANSWER
            FILTERING   FAILED         DONE         ANSWER
            FILTERING   CLIENT_GONE    DONE         RECORD
            CONNECTING  OPENED         REQUESTED    SEND_REQUEST
            CONNECTING  RETRY          BACKING_OFF  WAIT
            CONNECTING  FAILED         DONE         ANSWER
            CONNECTING  CLIENT_GONE    DONE         RECORD
            BACKING_OFF BACKED_OFF     CONNECTING   OPEN
            BACKING_OFF FAILED         DONE         ANSWER
            BACKING_OFF CLIENT_GONE    DONE         RECORD
            REQUESTED   RETRY          BACKING_OFF  WAIT
            REQUESTED   RESPONSE_HEAD  RESPONDING   FORWARD_HEAD
            REQUESTED   TUNNEL_HEAD    TUNNELLING   FORWARD_HEAD
            REQUESTED   FAILED         DONE         ANSWER
            REQUESTED   CLIENT_GONE    DONE         RECORD
            RESPONDING  RESPONSE_ENDED DONE         FINISH_AND_RESET_UPSTREAM
            RESPONDING  FAILED         DONE         RESET_CLIENT
            RESPONDING  CLIENT_GONE    DONE         RECORD
            TUNNELLING  REQUEST_ENDED  TUNNELLING   HALF_CLOSE
            TUNNELLING  RESPONSE_ENDED TUNNELLING   HALF_CLOSE
            TUNNELLING  FAILED         DONE         RESET_CLIENT
            TUNNELLING  CLIENT_GONE    DONE         RECORD
            """;

    private static ExchangeState in(Phase phase) {
        ExchangeState state = new ExchangeState();
        PATHS.getOrDefault(phase, List.of()).forEach(state::on);
        assertThat(state.phase()).isEqualTo(phase);
        return state;
    }

    @ParameterizedTest
    @EnumSource(Phase.class)
    void everyEventInEveryPhaseDoesWhatTheTableSays(Phase phase) {
        Map<String, String> expected = new TreeMap<>();
        TABLE.lines()
                .map(line -> line.split(" +"))
                .filter(cells -> cells[0].equals(phase.name()))
                .forEach(cells -> expected.put(cells[1], cells[2] + " " + cells[3]));
        List<String> wrong = new ArrayList<>();
        for (Event event : Event.values()) {
            ExchangeState state = in(phase);
            Action action = state.on(event);
            String does = state.phase() + " " + action;
            String should = expected.getOrDefault(event.name(), phase + " NOTHING");
            if (!does.equals(should)) {
                wrong.add(event + " in " + phase + ": " + does + " instead of " + should);
            }
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void aResponseThatEndsAfterTheRequestEndsTheExchange() {
        ExchangeState state = in(Phase.REQUESTED);
        state.on(Event.REQUEST_ENDED);
        state.on(Event.RESPONSE_HEAD);
        assertThat(state.on(Event.RESPONSE_ENDED)).isEqualTo(Action.FINISH);
        assertThat(state.isDone()).isTrue();
    }

    @Test
    void theNextAttemptSendsTheRequestsEndAnew() {
        ExchangeState state = in(Phase.REQUESTED);
        state.on(Event.REQUEST_ENDED);
        state.on(Event.RETRY);
        state.on(Event.BACKED_OFF);
        state.on(Event.OPENED);
        state.on(Event.RESPONSE_HEAD);
        assertThat(state.on(Event.RESPONSE_ENDED)).isEqualTo(Action.FINISH_AND_RESET_UPSTREAM);
    }

    @Test
    void aTunnelWhoseClientHadEndedBeforeItOpenedEndsWithItsUpstream() {
        ExchangeState state = in(Phase.REQUESTED);
        state.on(Event.REQUEST_ENDED);
        state.on(Event.TUNNEL_HEAD);
        assertThat(state.isRequestEnded()).isTrue();
        assertThat(state.on(Event.RESPONSE_ENDED)).isEqualTo(Action.FINISH);
    }

    @ParameterizedTest
    @CsvSource({"REQUEST_ENDED, RESPONSE_ENDED", "RESPONSE_ENDED, REQUEST_ENDED"})
    void aTunnelEndsWhenBothDirectionsHave(Event first, Event second) {
        ExchangeState state = in(Phase.TUNNELLING);
        assertThat(state.on(first)).isEqualTo(Action.HALF_CLOSE);
        assertThat(state.phase()).isEqualTo(Phase.TUNNELLING);
        assertThat(state.on(second)).isEqualTo(Action.FINISH);
        assertThat(state.isDone()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "ROUTING, FILTERS, HOLD",
        "FILTERING, FILTERS, HOLD",
        "CONNECTING, ATTEMPT, HOLD",
        "BACKING_OFF, BACKOFF, HOLD",
        "REQUESTED, ATTEMPT, FORWARD",
        "RESPONDING, ATTEMPT, FORWARD",
        "TUNNELLING, ATTEMPT, FORWARD",
        "DONE, NOTHING, DISCARD"
    })
    void eachPhaseKnowsWhatToUndoAndWhereBytesGo(Phase phase, Pending pending, Intake intake) {
        assertThat(in(phase).pending()).isEqualTo(pending);
        assertThat(in(phase).intake()).isEqualTo(intake);
    }

    @ParameterizedTest
    @CsvSource({
        "ROUTING, false, false, false",
        "FILTERING, false, false, false",
        "CONNECTING, false, false, false",
        "BACKING_OFF, false, false, false",
        "REQUESTED, true, false, false",
        "RESPONDING, true, true, false",
        "TUNNELLING, true, true, true",
        "DONE, false, false, false"
    })
    void eachPhaseKnowsHowFarItHasCome(Phase phase, boolean requested, boolean responded, boolean tunnel) {
        assertThat(in(phase).isRequested()).isEqualTo(requested);
        assertThat(in(phase).isResponded()).isEqualTo(responded);
        assertThat(in(phase).isTunnel()).isEqualTo(tunnel);
    }

    @ParameterizedTest
    @CsvSource({
        "REQUESTED, FAILED, false",
        "REQUESTED, CLIENT_GONE, false",
        "RESPONDING, FAILED, true",
        "RESPONDING, CLIENT_GONE, true",
        "RESPONDING, RESPONSE_ENDED, true",
        "TUNNELLING, FAILED, true"
    })
    void anExchangeThatHasEndedKnowsWhetherItWasAnsweredByTheUpstream(Phase phase, Event last, boolean responded) {
        ExchangeState state = in(phase);
        state.on(last);
        assertThat(state.isDone()).isTrue();
        assertThat(state.isResponded()).isEqualTo(responded);
    }

    @Test
    void theNextAttemptHasNotRequestedYet() {
        ExchangeState state = in(Phase.REQUESTED);
        state.on(Event.RETRY);
        state.on(Event.BACKED_OFF);
        assertThat(state.isRequested()).isFalse();
    }
}
