package dev.gateway.overload;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.gateway.overload.Overload.Refusing;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class OverloadTest {
    private final Overload overload = new Overload();
    private final Source heap = new Source("heap");
    private final Source files = new Source("openFiles");

    private static final class Source implements Pressure {
        private final String name;
        private double level;

        Source(String name) {
            this.name = name;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public double level() {
            return level;
        }
    }

    OverloadTest() {
        overload.watch(heap);
        overload.watch(files);
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
        files.level = 0.95;
        assertThat(at(0.1)).isEqualTo(Refusing.REQUESTS);
        files.level = 0.1;
        assertThat(at(0.1)).isEqualTo(Refusing.NOTHING);
    }

    @Test
    void exactlyAtALimitNothingMoreIsRefused() {
        assertThat(at(Overload.CONNECTIONS)).isEqualTo(Refusing.NOTHING);
        assertThat(at(Overload.REQUESTS)).isEqualTo(Refusing.CONNECTIONS);
    }

    @Test
    void whatItLooksAtIsToldWithTheLevelOfTheLastReview() {
        files.level = 0.25;
        at(0.5);
        heap.level = 0.75; // not reviewed yet
        assertThat(overload.sources()).containsExactly(heap, files);
        assertThat(overload.level(heap)).isEqualTo(0.5);
        assertThat(overload.level(files)).isEqualTo(0.25);
        assertThat(overload.level(new Source("unknown"))).isZero();
    }

    @Test
    void theLogSaysOnceWhatIsShortAndWhatIsRefused() {
        Logger logger = (Logger) LoggerFactory.getLogger(Overload.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.setLevel(Level.INFO);
        logger.addAppender(logged);
        try {
            files.level = 0.3;
            for (double level : new double[] {0.5, 0.86, 0.87, 0.95, 0.95, 0.86, 0.5, 0.99, 0.1}) {
                at(level);
            }
        } finally {
            logger.detachAppender(logged);
            logger.setLevel(null);
        }
        assertThat(logged.list.stream().map(ILoggingEvent::getFormattedMessage))
                .containsExactly(
                        "Overload: heap is 86 % in use; new connections are refused",
                        "Overload: heap is 95 % in use; new connections and requests are refused",
                        "No more overload: accepting requests again",
                        "No more overload: accepting connections again",
                        "Overload: heap is 99 % in use; new connections and requests are refused",
                        "No more overload: accepting connections and requests again");
    }
}
