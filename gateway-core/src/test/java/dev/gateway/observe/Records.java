package dev.gateway.observe;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.ExchangeRecord.Side;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.HttpVersion;
import io.netty.util.AsciiString;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Records of exchanges that never happened. */
public final class Records {
    private Records() {}

    public static ExchangeRecord record(String path, int status, @Nullable Cause cause) {
        ConnectionInfo connection = new ConnectionInfo(
                0, "web", HttpVersion.HTTP_1_1, new InetSocketAddress("192.0.2.7", 5555), null, null);
        ExchangeRecord record = new ExchangeRecord(connection);
        record.method = Method.GET;
        record.scheme = new AsciiString("http");
        record.authority = new AsciiString("shop.example.com");
        record.path = bytes(path);
        record.fields = new Fields();
        record.route = "shop";
        record.generation = 7;
        record.upstream = "app";
        record.endpoint = new NamedEndpoint("app.test:9000");
        record.attempts = 1;
        record.status = status;
        record.cause = cause;
        record.detail = cause == null ? "" : "made by the test";
        record.startMillis = 1_700_000_000_123L;
        record.startNanos = 1_000;
        record.attemptNanos = 2_000;
        record.requestedNanos = 3_000;
        record.respondedNanos = 1_003_000;
        record.endNanos = 3_001_000;
        record.sentBytes = 42;
        return record;
    }

    /** A tunnel that was open for two milliseconds, or a record of one that was not opened. */
    public static ExchangeRecord tunnel(Kind kind, int status, @Nullable Cause cause) {
        ExchangeRecord record = record("", status, cause);
        record.kind = kind;
        record.method = Method.CONNECT;
        record.authority = new AsciiString("api.example.com:443");
        record.receivedBytes = 7;
        if (status == 200) {
            record.openedNanos = record.respondedNanos;
            record.endedBy = Side.CLIENT;
        }
        return record;
    }

    public static AsciiString bytes(String latin1) {
        return new AsciiString(latin1.getBytes(StandardCharsets.ISO_8859_1));
    }

    public static void userAgent(ExchangeRecord record, String value) {
        Fields fields = new Fields();
        fields.add(FieldName.USER_AGENT, bytes(value));
        record.fields = fields;
    }
}
