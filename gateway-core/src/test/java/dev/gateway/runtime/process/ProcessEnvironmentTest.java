package dev.gateway.runtime.process;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class ProcessEnvironmentTest {
    @Test
    void theAccessLogOfAnEmbeddedGatewayIsPartOfTheApplicationsLog() throws Exception {
        Logger logger = (Logger) LoggerFactory.getLogger(ProcessEnvironment.ACCESS_LOGGER);
        ListAppender<ILoggingEvent> seen = new ListAppender<>();
        seen.start();
        logger.addAppender(seen);
        logger.setLevel(Level.INFO);
        try {
            ProcessEnvironment.shared().out().write("{\"path\":\"/{}\"}\n".getBytes(StandardCharsets.UTF_8));
        } finally {
            logger.setLevel(null);
            logger.detachAppender(seen);
        }
        assertThat(seen.list).extracting(ILoggingEvent::getFormattedMessage).containsExactly("{\"path\":\"/{}\"}");
    }
}
