package dev.gateway.runtime.process.log;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import dev.gateway.format.JsonText;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Writes a line of the process log as a JSON object, with the time in the form of the access log. Safe from any thread. */
final class JsonLogEncoder extends EncoderBase<ILoggingEvent> {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern(
                    "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);
    private static final byte[] NOTHING = {};

    @Override
    public byte[] headerBytes() {
        return NOTHING;
    }

    @Override
    public byte[] encode(ILoggingEvent event) {
        JsonText json = new JsonText();
        json.object()
                .put("time", TIME.format(Instant.ofEpochMilli(event.getTimeStamp())))
                .put("level", event.getLevel().toString().toLowerCase(Locale.ROOT))
                .put("logger", event.getLoggerName())
                .put("message", event.getFormattedMessage());
        if (event.getThrowableProxy() != null) {
            json.put("exception", ThrowableProxyUtil.asString(event.getThrowableProxy()));
        }
        return (json.endObject() + "\n").getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public byte[] footerBytes() {
        return NOTHING;
    }
}
