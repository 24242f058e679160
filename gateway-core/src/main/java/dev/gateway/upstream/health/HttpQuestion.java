package dev.gateway.upstream.health;

import dev.gateway.config.upstream.UpstreamConfig.HttpCheck;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.Scheme;
import dev.gateway.stream.ClientStream;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.dial.ServerName;
import dev.gateway.upstream.stream.EndpointAuthority;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** HTTP health check: a GET request. The answer is good if its status is one of the expected ones. */
final class HttpQuestion implements Question {
    private final HttpCheck policy;
    private final RequestHead head;
    private int status;

    HttpQuestion(HttpCheck policy, Upstream upstream, Endpoint endpoint) {
        this.policy = policy;
        String host = policy.host();
        Fields fields = new Fields();
        fields.add(FieldName.USER_AGENT, USER_AGENT);
        this.head = new RequestHead(
                Method.GET,
                Scheme.of(upstream.settings().tls() != null),
                host == null ? EndpointAuthority.of(endpoint, upstream.settings()) : new AsciiString(host),
                new AsciiString(policy.path()),
                fields,
                RequestHead.UNKNOWN_LENGTH);
    }

    @Override
    public @Nullable String serverName() {
        return ServerName.of(head);
    }

    @Override
    public void send(ClientStream stream) {
        stream.head(head, true);
        stream.flush();
    }

    @Override
    public void onHead(ResponseHead response) {
        status = response.status();
    }

    @Override
    public @Nullable String failure() {
        return policy.expects(status) ? null : "answered " + status;
    }
}
