package dev.gateway.overload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.Overload.Refusing;
import org.junit.jupiter.api.Test;

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
}
