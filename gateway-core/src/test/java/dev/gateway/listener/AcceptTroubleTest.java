package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What the log says of connections that are not accepted. */
class AcceptTroubleTest {
    private final AtomicLong clock = new AtomicLong();
    private final AcceptTrouble trouble = new AcceptTrouble(clock::get);
    private final Logger logger = (Logger) LoggerFactory.getLogger(AcceptTrouble.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

    @BeforeEach
    void listen() {
        lines.start();
        logger.addAppender(lines);
    }

    @AfterEach
    void stop() {
        logger.detachAppender(lines);
    }

    private List<String> lines() {
        return lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    @Test
    void itIsToldAtOnceAndThenOnceAMinuteWithACount() {
        for (int i = 0; i < 100; i++) {
            trouble.onFailed("web", new IOException("no"));
        }
        clock.addAndGet(TimeUnit.SECONDS.toNanos(61));
        trouble.onFailed("web", new IOException("no"));
        assertThat(lines())
                .containsExactly(
                        "listener web could not accept a connection (1 so far): java.io.IOException: no",
                        "listener web could not accept a connection (101 so far): java.io.IOException: no");
    }

    @Test
    void clientsThatWaitAreToldOfApart() {
        trouble.onFailed("web", new IOException("no"));
        trouble.onFull("web", 45);
        trouble.onFull("web", 45);
        assertThat(lines()).hasSize(2);
        assertThat(lines().get(1)).contains("all 45 client connections", "ulimit -n");
    }
}
