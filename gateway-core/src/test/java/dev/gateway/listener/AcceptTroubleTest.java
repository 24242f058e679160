package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.testing.LoggedLines;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the log says of connections that are not accepted. */
class AcceptTroubleTest {
    private final AtomicLong clock = new AtomicLong();
    private final AcceptTrouble trouble = new AcceptTrouble(clock::get);
    private final LoggedLines log = LoggedLines.of(AcceptTrouble.class);

    @AfterEach
    void stop() {
        log.close();
    }

    @Test
    void itIsToldAtOnceAndThenOnceAMinuteWithACount() {
        for (int i = 0; i < 100; i++) {
            trouble.onFailed("web", new IOException("no"));
        }
        clock.addAndGet(TimeUnit.SECONDS.toNanos(61));
        trouble.onFailed("web", new IOException("no"));
        assertThat(log.messages())
                .containsExactly(
                        "listener web could not accept a connection (1 so far): java.io.IOException: no",
                        "listener web could not accept a connection (101 so far): java.io.IOException: no");
    }

    @Test
    void clientsThatWaitAreToldOfApart() {
        trouble.onFailed("web", new IOException("no"));
        trouble.onFull("web", 45);
        trouble.onFull("web", 45);
        assertThat(log.messages()).hasSize(2);
        assertThat(log.messages().get(1)).contains("all 45 client connections", "ulimit -n");
    }
}
