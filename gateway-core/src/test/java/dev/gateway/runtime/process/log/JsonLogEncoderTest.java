package dev.gateway.runtime.process.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxy;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class JsonLogEncoderTest {
    @Test
    void aLineIsAnObject() {
        LoggingEvent event = new LoggingEvent();
        event.setLoggerName("dev.gateway.Any");
        event.setLevel(Level.WARN);
        event.setInstant(Instant.parse("2026-01-02T03:04:05.006Z"));
        event.setMessage("a \"word\"\nand another");
        assertThat(encode(event))
                .isEqualTo("{\"time\":\"2026-01-02T03:04:05.006Z\",\"level\":\"warn\",\"logger\":\"dev.gateway.Any\","
                        + "\"message\":\"a \\\"word\\\"\\nand another\"}\n");
        event.setThrowableProxy(new ThrowableProxy(new IllegalStateException("why")));
        assertThat(encode(event)).contains("\"exception\":\"java.lang.IllegalStateException: why");
        assertThat(encode(event).lines()).hasSize(1);
    }

    private static String encode(LoggingEvent event) {
        return new String(new JsonLogEncoder().encode(event), StandardCharsets.UTF_8);
    }
}
