package dev.gateway.upstream.health;

import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.Scheme;
import dev.gateway.stream.ClientStream;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.stream.EndpointAuthority;
import dev.gateway.upstream.stream.StreamKind;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** TCP health check: makes a connection, with TLS if the upstream has it. The check succeeds if the connection is made. */
final class TcpQuestion implements Question {
    private final RequestHead head;

    TcpQuestion(Upstream upstream, Endpoint endpoint) {
        this.head = new RequestHead(
                Method.CONNECT,
                Scheme.of(upstream.settings().tls() != null),
                EndpointAuthority.of(endpoint, upstream.settings()),
                AsciiString.EMPTY_STRING,
                Fields.none(),
                RequestHead.UNKNOWN_LENGTH);
    }

    @Override
    public StreamKind kind() {
        return StreamKind.CONNECTION_CHECK;
    }

    @Override
    public void send(ClientStream stream) {
        stream.head(head, true);
    }

    @Override
    public void onHead(ResponseHead response) {}

    @Override
    public @Nullable String failure() {
        return null;
    }
}
