package dev.gateway.runtime.process;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.gateway.files.StartException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class SystemdTest {
    private final AtomicInteger told = new AtomicInteger();
    private final HandRun first = new HandRun();
    private final HandRun second = new HandRun();
    private final Watchdog watchdog = new Watchdog(List.of(first, second), told::incrementAndGet);

    /** Does what it is given when the test says so. */
    private static final class HandRun implements Executor {
        private final Queue<Runnable> tasks = new ArrayDeque<>();

        @Override
        public void execute(Runnable task) {
            tasks.add(task);
        }

        void run() {
            while (!tasks.isEmpty()) {
                tasks.remove().run();
            }
        }
    }

    @Test
    void nothingIsToldBeforeTheLoopsHaveAnswered() {
        watchdog.look();
        assertThat(told).hasValue(0);
        first.run();
        second.run();
        assertThat(told).hasValue(0);
        watchdog.look();
        assertThat(told).hasValue(1);
    }

    @Test
    void oneLoopThatIsStuckEndsWhatIsTold() {
        watchdog.look();
        first.run();
        second.run();
        for (int i = 0; i < 10; i++) {
            watchdog.look();
            first.run();
        }
        assertThat(told).hasValue(1);
        assertThat(second.tasks).as("asked of a loop that does not answer").hasSize(1);
        second.run();
        watchdog.look();
        assertThat(told).hasValue(2);
    }

    @Test
    void whatIsAskedOfAnotherProcessIsNotHeeded() throws StartException {
        Map<String, String> environment =
                Map.of("NOTIFY_SOCKET", "@nobody", "WATCHDOG_USEC", "3000000", "WATCHDOG_PID", "7");
        assertThat(Systemd.of(environment, 7).watchdogNanos()).isEqualTo(TimeUnit.SECONDS.toNanos(3));
        assertThat(Systemd.of(environment, 8).watchdogNanos()).isZero();
        assertThat(Systemd.of(Map.of("NOTIFY_SOCKET", "@nobody"), 7).watchdogNanos())
                .isZero();
    }

    @Test
    void whoCannotBeToldIsNotInTheWay() throws StartException {
        Logger logger = (Logger) LoggerFactory.getLogger(Systemd.class);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        logger.addAppender(lines);
        try {
            Systemd.of(Map.of("NOTIFY_SOCKET", "vsock:2:1234"), 1).ready("Serving");
            assertThat(lines.list)
                    .as("warned of once, when it is set up")
                    .singleElement()
                    .satisfies(line -> assertThat(line.getFormattedMessage())
                            .startsWith("Cannot notify systemd of the service's state: "));
            lines.list.clear();
            Systemd nobody = Systemd.of(Map.of("NOTIFY_SOCKET", "@nobody-listens-here"), 1);
            nobody.ready("Serving");
            assertThat(lines.list).singleElement().satisfies(line -> assertThat(line.getFormattedMessage())
                    .startsWith("Cannot notify @nobody-listens-here of the service's state: "));
            lines.list.clear();
            nobody.alive(); // many times an hour, so it warns of nothing
            Systemd.of(Map.of(), 1).ready("Serving");
            assertThat(lines.list).noneMatch(line -> line.getLevel().isGreaterOrEqual(Level.WARN));
        } finally {
            logger.detachAppender(lines);
        }
    }
}
