package dev.gateway.overload;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.gateway.config.OverloadConfig;
import dev.gateway.config.value.Position;
import dev.gateway.overload.Overload.Refusing;
import dev.gateway.testing.LoggedLines;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class OverloadTest {
    private final Overload overload = new Overload();
    private final Source heap = new Source(Resource.HEAP);
    private final Source memory = new Source(Resource.DIRECT_MEMORY);

    private static final class Source implements Pressure {
        private final Resource resource;
        private double level;

        Source(Resource resource) {
            this.resource = resource;
        }

        @Override
        public Resource resource() {
            return resource;
        }

        @Override
        public double level() {
            return level;
        }
    }

    OverloadTest() {
        overload.watch(heap);
        overload.watch(memory);
    }

    private Refusing at(double level) {
        heap.level = level;
        overload.review();
        return overload.refusing();
    }

    @Test
    void refusesConnectionsFirstAndThenRequests() {
        assertThat(at(0.80)).isEqualTo(Refusing.NOTHING);
        assertThat(overload.refusesConnections()).isFalse();
        assertThat(at(0.86)).isEqualTo(Refusing.CONNECTIONS);
        assertThat(overload.refusesConnections()).isTrue();
        assertThat(overload.refusesRequests()).isFalse();
        assertThat(at(0.93)).isEqualTo(Refusing.REQUESTS);
        assertThat(overload.refusesConnections()).isTrue();
        assertThat(overload.refusesRequests()).isTrue();
    }

    @Test
    void takesNewWorkOnlyWhenThereIsMoreRoomThanWhenItBeganToRefuse() {
        at(0.93);
        assertThat(at(0.90)).isEqualTo(Refusing.REQUESTS);
        assertThat(at(0.86)).isEqualTo(Refusing.CONNECTIONS);
        assertThat(at(0.81)).isEqualTo(Refusing.CONNECTIONS);
        assertThat(at(0.79)).isEqualTo(Refusing.NOTHING);
        assertThat(at(0.84)).isEqualTo(Refusing.NOTHING);
    }

    @Test
    void recoversAtOnceWhenAllIsFreed() {
        at(1);
        assertThat(at(0.1)).isEqualTo(Refusing.NOTHING);
    }

    @Test
    void theSourceWithLeastLeftDecides() {
        memory.level = 0.95;
        assertThat(at(0.1)).isEqualTo(Refusing.REQUESTS);
        memory.level = 0.1;
        assertThat(at(0.1)).isEqualTo(Refusing.NOTHING);
    }

    @Test
    void exactlyAtALimitNothingMoreIsRefused() {
        assertThat(at(0.85)).isEqualTo(Refusing.NOTHING);
        assertThat(at(0.92)).isEqualTo(Refusing.CONNECTIONS);
    }

    @Test
    void whatItLooksAtIsToldWithTheLevelOfTheLastReview() {
        memory.level = 0.25;
        at(0.5);
        heap.level = 0.75; // not reviewed yet
        assertThat(overload.sources()).containsExactly(heap, memory);
        assertThat(overload.level(heap)).isEqualTo(0.5);
        assertThat(overload.level(memory)).isEqualTo(0.25);
        assertThat(overload.level(new Source(Resource.LAG))).isZero();
    }

    @Test
    void theLogSaysOnceWhatIsShortAndWhatIsRefused() {
        List<String> messages;
        try (LoggedLines log = LoggedLines.of(Overload.class).from(Level.INFO)) {
            memory.level = 0.3;
            for (double level : new double[] {0.5, 0.86, 0.87, 0.95, 0.95, 0.86, 0.5, 0.99, 0.1}) {
                at(level);
            }
            messages = log.messages();
        }
        assertThat(messages)
                .containsExactly(
                        "Overload: heap is 86 % in use; new connections are refused",
                        "Overload: heap is 95 % in use; new connections and requests are refused",
                        "No more overload: accepting requests again",
                        "No more overload: accepting connections again",
                        "Overload: heap is 99 % in use; new connections and requests are refused",
                        "No more overload: accepting connections and requests again");
    }

    @Test
    void keepAliveEndsBeforeAnythingIsRefused() {
        assertThat(keepsAliveAt(0.80)).isTrue();
        assertThat(keepsAliveAt(0.81)).isFalse();
        assertThat(overload.refusing()).isEqualTo(Refusing.NOTHING);
        assertThat(keepsAliveAt(0.76)).isFalse();
        assertThat(keepsAliveAt(0.75)).isTrue();
        assertThat(keepsAliveAt(0.80)).isTrue();
    }

    private boolean keepsAliveAt(double level) {
        at(level);
        return !overload.endsKeepAlive();
    }

    @Test
    void whatIsSwitchedOffRefusesNothing() {
        overload.configure(new OverloadConfig(Position.NOWHERE, 0, 0.6, 0.85, Duration.ofSeconds(1), 0));
        assertThat(at(1)).isEqualTo(Refusing.NOTHING);
        assertThat(overload.endsKeepAlive()).isFalse();
        memory.level = 0.61;
        assertThat(at(1)).isEqualTo(Refusing.CONNECTIONS);
        memory.level = 0.68;
        assertThat(at(1)).isEqualTo(Refusing.REQUESTS);
    }

    @Test
    void descriptorsForClientsEndKeepAliveButRefuseNobody() {
        AtomicInteger taken = new AtomicInteger();
        overload.watch(new OpenFilesPressure(taken::get, () -> 100));
        taken.set(81);
        assertThat(keepsAliveAt(0)).isFalse();
        taken.set(100);
        assertThat(at(0)).isEqualTo(Refusing.NOTHING);
        taken.set(75);
        assertThat(keepsAliveAt(0)).isTrue();
    }

    @Test
    void whatIsDoneIsCountedForTheResourceThatIsShort() {
        at(0.95);
        overload.onRefused(Action.REFUSE_REQUEST);
        overload.onKeepAliveEnded();
        memory.level = 0.99;
        at(0.1);
        overload.onRefused(Action.REFUSE_CONNECTION);
        assertThat(overload.actions().count(Action.REFUSE_REQUEST, Resource.HEAP))
                .isOne();
        assertThat(overload.actions().count(Action.END_KEEP_ALIVE, Resource.HEAP))
                .isOne();
        assertThat(overload.actions().count(Action.REFUSE_CONNECTION, Resource.DIRECT_MEMORY))
                .isOne();
        assertThat(overload.actions().count(Action.REFUSE_CONNECTION, Resource.HEAP))
                .isZero();
    }

    /** Whatever happens to whatever it looks at, it never refuses without need, nor accepts what it has no room for. */
    @Test
    void anySequenceOfLevelsIsJudgedByTheLimitsAndEndsInCalm() {
        Random random = new Random(27);
        for (int i = 0; i < 20_000; i++) {
            heap.level = random.nextInt(101) / 100.0;
            memory.level = random.nextInt(101) / 100.0;
            double worst = Math.max(heap.level, memory.level);
            overload.review();
            if (worst > 0.92) {
                assertThat(overload.refusesRequests()).isTrue();
            } else if (worst > 0.85) {
                assertThat(overload.refusesConnections()).isTrue();
            } else if (worst > 0.80) {
                assertThat(overload.endsKeepAlive()).isTrue();
                assertThat(overload.refusesRequests()).isFalse();
            } else if (worst <= 0.75) {
                assertThat(overload.refusing()).isEqualTo(Refusing.NOTHING);
                assertThat(overload.endsKeepAlive()).isFalse();
            }
        }
    }
}
