package dev.gateway.observe.otlp;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.Scheme;
import dev.gateway.stream.ClientStream;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.health.Probe;
import dev.gateway.upstream.health.Question;
import dev.gateway.upstream.stream.EndpointAuthority;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import io.opentelemetry.sdk.common.export.HttpResponse;
import io.opentelemetry.sdk.common.export.HttpSenderConfig;
import java.io.ByteArrayOutputStream;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One POST of spans or metrics to their receiver, and its answer. */
final class ExportQuestion implements Question, HttpResponse {
    private static final Set<Integer> LATER = Set.of(429, 502, 503, 504);

    private final RequestHead head;
    private final byte[] body;
    private final ByteArrayOutputStream answer = new ByteArrayOutputStream();
    private int status;

    ExportQuestion(RequestHead head, byte[] body) {
        this.head = head;
        this.body = body;
    }

    /** Returns the head of a request with a body of so many bytes. */
    static RequestHead head(
            Upstream upstream, Endpoint endpoint, AsciiString path, HttpSenderConfig config, int length) {
        Fields fields = new Fields();
        fields.add(FieldName.CONTENT_TYPE, config.getContentType());
        if (config.getCompressor() != null) {
            fields.add(FieldName.CONTENT_ENCODING, config.getCompressor().getEncoding());
        }
        config.getHeadersSupplier()
                .get()
                .forEach((name, values) -> values.forEach(value -> fields.add(FieldName.of(name), value)));
        return new RequestHead(
                Method.POST,
                Scheme.of(upstream.settings().tls() != null),
                EndpointAuthority.of(endpoint, upstream.settings()),
                path,
                fields,
                length);
    }

    @Override
    public void send(ClientStream stream) {
        stream.head(head, false);
        stream.data(Unpooled.wrappedBuffer(body), true);
        stream.flush();
    }

    @Override
    public void onHead(ResponseHead response) {
        status = response.status();
    }

    @Override
    public void onData(ByteBuf data) {
        int taken = Math.min(data.readableBytes(), Probe.MOST_BYTES - answer.size());
        answer.writeBytes(ByteBufUtil.getBytes(data, data.readerIndex(), taken));
    }

    @Override
    public @Nullable String failure() {
        return status / 100 == 2 ? null : "answered " + status;
    }

    /** Whether the receiver may take it later (specification of OTLP, OTLP/HTTP Response). */
    boolean isRefusedForNow() {
        return LATER.contains(status);
    }

    // ---- the answer, once it is complete

    @Override
    public int getStatusCode() {
        return status;
    }

    @Override
    public String getStatusMessage() {
        return "";
    }

    @Override
    public byte[] getResponseBody() {
        return answer.toByteArray();
    }
}
