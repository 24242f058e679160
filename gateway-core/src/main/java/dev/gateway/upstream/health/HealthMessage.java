package dev.gateway.upstream.health;

import dev.gateway.message.grpc.MalformedMessageException;
import dev.gateway.message.grpc.ProtoReader;
import dev.gateway.message.grpc.ProtoWriter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/** The messages of {@code grpc.health.v1.Health/Check}, in the length-prefixed framing of gRPC. */
final class HealthMessage {
    private static final int SERVICE = 1; // HealthCheckRequest.service
    private static final int STATUS = 1; // HealthCheckResponse.status
    private static final int SERVING = 1;
    private static final int MOST_BYTES = 1024;

    private final byte[] bytes = new byte[MOST_BYTES];
    private int length; // MOST_BYTES + 1 if the message is too long

    /** Returns the framed request for a service; an empty name means the whole server. */
    static ByteBuf request(String service) {
        return new ProtoWriter().text(SERVICE, service).framed();
    }

    /** Adds a part of the response. The caller still owns the buffer. */
    void add(ByteBuf data) {
        int size = data.readableBytes();
        if (length + size <= MOST_BYTES) {
            data.getBytes(data.readerIndex(), bytes, length, size);
            length += size;
        } else {
            length = MOST_BYTES + 1;
        }
    }

    /** Returns why the complete response does not say that the service is healthy, null if it does. */
    @Nullable
    String failure() {
        if (length > MOST_BYTES) {
            return "answered with a message that is too long";
        }
        try {
            long status = status(ProtoReader.open(Unpooled.wrappedBuffer(bytes, 0, length)));
            return status == SERVING ? null : "answered " + word(status);
        } catch (MalformedMessageException e) {
            return "answered " + e.getMessage();
        }
    }

    /** Returns the last status in a message, 0 if it has none. Ignores other fields. */
    private static long status(ProtoReader in) throws MalformedMessageException {
        long status = 0;
        while (in.next()) {
            if (in.field() == STATUS) {
                status = in.number();
            }
        }
        return status;
    }

    private static String word(long status) {
        if (status == 0) {
            return "UNKNOWN";
        } else if (status == 2) {
            return "NOT_SERVING";
        }
        return status == 3 ? "SERVICE_UNKNOWN" : "the serving status " + status;
    }
}
