package dev.gateway.observe.otlp;

import static io.opentelemetry.api.common.AttributeKey.longKey;
import static io.opentelemetry.api.common.AttributeKey.stringKey;

import io.opentelemetry.api.common.AttributeKey;

/** Names of attributes: those of OpenTelemetry's stable conventions for HTTP, and some of ours. */
final class HttpKeys {
    static final AttributeKey<String> METHOD = stringKey("http.request.method");
    static final AttributeKey<String> METHOD_ORIGINAL = stringKey("http.request.method_original");
    static final AttributeKey<Long> RESEND_COUNT = longKey("http.request.resend_count");
    static final AttributeKey<Long> STATUS = longKey("http.response.status_code");
    static final AttributeKey<String> ERROR = stringKey("error.type");
    static final AttributeKey<String> SCHEME = stringKey("url.scheme");
    static final AttributeKey<String> PATH = stringKey("url.path");
    static final AttributeKey<String> QUERY = stringKey("url.query");
    static final AttributeKey<String> URL_FULL = stringKey("url.full");
    static final AttributeKey<String> SERVER_ADDRESS = stringKey("server.address");
    static final AttributeKey<Long> SERVER_PORT = longKey("server.port");
    static final AttributeKey<String> CLIENT_ADDRESS = stringKey("client.address");
    static final AttributeKey<Long> CLIENT_PORT = longKey("client.port");
    static final AttributeKey<String> PEER_ADDRESS = stringKey("network.peer.address");
    static final AttributeKey<Long> PEER_PORT = longKey("network.peer.port");
    static final AttributeKey<String> PROTOCOL_NAME = stringKey("network.protocol.name");
    static final AttributeKey<String> PROTOCOL_VERSION = stringKey("network.protocol.version");
    static final AttributeKey<String> USER_AGENT = stringKey("user_agent.original");
    static final AttributeKey<String> LISTENER = stringKey("gateway.listener");
    static final AttributeKey<String> ROUTE = stringKey("gateway.route");
    static final AttributeKey<String> UPSTREAM = stringKey("gateway.upstream");
    static final AttributeKey<Long> ATTEMPTS = longKey("gateway.attempts");
    static final AttributeKey<String> REQUEST_ID = stringKey("gateway.request_id");

    private HttpKeys() {}
}
