package dev.gateway.runtime.process.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.Test;

class LogbackLevelsTest {
    @Test
    void noLevelPrintsThePasswordsOfStores() {
        LogbackProvider provider = new LogbackProvider();
        provider.initialize();
        LoggerContext context = (LoggerContext) provider.getLoggerFactory();
        context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME).setLevel(Level.TRACE);
        context.getLogger("io.lettuce").setLevel(Level.TRACE);
        assertThat(context.getLogger("io.lettuce.core.RedisClient").isTraceEnabled())
                .isTrue();
        assertThat(context.getLogger(LogbackProvider.WITH_PASSWORDS).isDebugEnabled())
                .isFalse();
        context.stop();
    }

    @Test
    void theLevelOfTheLoggerThatPrintsPasswordsIsFixed() {
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        try {
            LogbackLevels levels = new LogbackLevels(timer);
            assertThatThrownBy(() -> levels.set(LogbackProvider.WITH_PASSWORDS, "trace", null))
                    .hasMessageContaining("passwords");
            assertThatThrownBy(() -> levels.set(LogbackProvider.WITH_PASSWORDS, "inherit", null))
                    .hasMessageContaining("passwords");
        } finally {
            timer.shutdownNow();
        }
    }
}
