package dev.gateway.filter.jwt.jwks;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.Scheme;
import dev.gateway.stream.ClientStream;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.dial.UpstreamSettings;
import dev.gateway.upstream.health.Probe;
import dev.gateway.upstream.health.Question;
import dev.gateway.upstream.stream.EndpointAuthority;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The request for a set of keys: a GET, whose answer has status 200 and a bounded body. */
final class KeyQuestion implements Question {
    private static final int OK = 200;
    private static final FieldName ACCEPT = FieldName.of("Accept");

    private final RequestHead head;
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();
    private int status;
    private boolean isTooLong;
    private long lifetimeMillis;

    KeyQuestion(KeyLocation location, Endpoint endpoint) {
        UpstreamSettings settings = location.upstream().settings();
        Fields fields = new Fields();
        fields.add(FieldName.USER_AGENT, "gateway-jwks");
        fields.add(ACCEPT, "application/jwk-set+json, application/json");
        this.head = new RequestHead(
                Method.GET,
                Scheme.of(settings.tls() != null),
                EndpointAuthority.of(endpoint, settings),
                location.path(),
                fields,
                RequestHead.UNKNOWN_LENGTH);
    }

    @Override
    public void send(ClientStream stream) {
        stream.head(head, true);
        stream.flush();
    }

    @Override
    public void onHead(ResponseHead response) {
        status = response.status();
        lifetimeMillis = KeyLifetime.millis(response.fields());
    }

    @Override
    public void onData(ByteBuf data) {
        int room = Probe.MOST_BYTES - body.size();
        isTooLong |= data.readableBytes() > room;
        if (status == OK && !isTooLong) {
            body.writeBytes(ByteBufUtil.getBytes(data));
        }
    }

    @Override
    public @Nullable String failure() {
        if (status != OK) {
            boolean isRedirect = status >= 300 && status < 400;
            return "answered " + status + (isRedirect ? ", and the gateway does not follow redirects" : "");
        }
        return isTooLong ? "sent more than 1 MiB" : null;
    }

    /** Returns the body, which is complete when there is no failure. */
    String body() {
        return body.toString(StandardCharsets.UTF_8);
    }

    /** Returns how long the answer may be used before it is fetched again. */
    long lifetimeMillis() {
        return lifetimeMillis;
    }
}
