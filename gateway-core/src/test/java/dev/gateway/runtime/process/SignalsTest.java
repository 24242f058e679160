package dev.gateway.runtime.process;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.gateway.testing.LoggedLines;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** SIGWINCH stands for all signals here: whoever does not hear it ignores it. */
class SignalsTest {
    private final LoggedLines log = LoggedLines.of(Signals.class).from(Level.INFO);
    private final Semaphore heard = new Semaphore(0);

    @AfterEach
    void stop() {
        log.close();
    }

    private static void signal(String name) throws Exception {
        long self = ProcessHandle.current().pid();
        assertThat(new ProcessBuilder("sh", "-c", "kill -" + name + " " + self) // not every system has the program kill
                        .start()
                        .waitFor())
                .isZero();
    }

    @Test
    void aTaskIsRunWheneverItsSignalComes() throws Exception {
        Signals.on("WINCH", "is heard by the test", heard::release);
        assertThat(log.all()).singleElement().hasToString("[INFO] SIGWINCH is heard by the test");
        for (int i = 0; i < 3; i++) {
            signal("WINCH");
            assertThat(heard.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
        }
        Signals.on("WINCH", "is ignored again", () -> {});
    }

    @Test
    void aSignalThatTheJvmKeepsForItselfIsWarnedOf() {
        Signals.on("SEGV", "is heard by the test", heard::release);
        assertThat(log.all())
                .singleElement()
                .satisfies(line -> assertThat(line.getLevel()).isEqualTo(Level.WARN))
                .satisfies(line -> assertThat(line.getFormattedMessage()).contains("SIGSEGV"));
    }
}
