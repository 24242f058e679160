package dev.gateway.observe.otlp;

import dev.gateway.message.FieldName;
import dev.gateway.observe.ExchangeObserver;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.AttemptKind;
import dev.gateway.observe.accesslog.Redaction;
import dev.gateway.observe.trace.Trace;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.SourceAddress;
import dev.gateway.time.TimerWheel;
import io.netty.util.AsciiString;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceId;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.TraceStateBuilder;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Makes spans of the exchanges of one event loop that are recorded: one of the exchange, and one of each attempt, by
 * OpenTelemetry's conventions for HTTP. A tunnel's attempt ends when the tunnel is open.
 */
final class LoopSpans implements ExchangeObserver {
    private static final Set<String> METHODS =
            Set.of("CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE");
    private static final int SERVER_ERROR = 500;
    private static final int CLIENT_ERROR = 400;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final Consumer<SpanData> export;
    private final Receiver.Origin origin;
    private final Redaction redaction;
    private final TimerWheel clock;
    private final IdentityHashMap<ExchangeRecord, Attempt> attempts = new IdentityHashMap<>(); // running attempts
    private final IdentityHashMap<ExchangeRecord, Attempt> hedges = new IdentityHashMap<>(); // beside them

    /** An attempt that has begun: what of it the record forgets when the next one does. */
    private record Attempt(long span, long startNanos, int number) {}

    LoopSpans(Consumer<SpanData> export, Receiver.Origin origin, Redaction redaction, TimerWheel clock) {
        this.export = export;
        this.origin = origin;
        this.redaction = redaction;
        this.clock = clock;
    }

    @Override
    public void onAttemptBegun(ExchangeRecord exchange) {
        Trace trace = exchange.trace;
        if (trace != null) {
            of(exchange).put(exchange, new Attempt(trace.attempt(), exchange.attemptNanos, exchange.attempts));
        }
    }

    /** Returns the running attempts of the kind that the record shows. */
    private IdentityHashMap<ExchangeRecord, Attempt> of(ExchangeRecord exchange) {
        return exchange.attemptKind == AttemptKind.HEDGE ? hedges : attempts;
    }

    @Override
    public void onAttemptEnded(ExchangeRecord exchange, int status, @Nullable Failure failure, boolean again) {
        Attempt attempt = of(exchange).remove(exchange);
        Trace trace = exchange.trace;
        if (attempt == null || trace == null) {
            return; // begun before anybody observed
        }
        AttributesBuilder attributes = Attributes.builder();
        String method = method(exchange, attributes);
        address(attributes, String.valueOf(exchange.endpoint)); // which may be another than was chosen at first
        attributes.put(HttpKeys.URL_FULL, url(exchange));
        attributes.put(HttpKeys.UPSTREAM, exchange.upstream);
        if (attempt.number > 1) {
            attributes.put(HttpKeys.RESEND_COUNT, (long) attempt.number - 1);
        }
        if (exchange.hop != null && !exchange.hop.dialed().isEmpty()) {
            attributes.put(HttpKeys.PEER_ADDRESS, host(exchange.hop.dialed()));
        }
        String error =
                failure != null ? failure.cause().label() : status >= CLIENT_ERROR ? Integer.toString(status) : "";
        String detail = failure == null ? "" : failure.detail();
        outcome(attributes, status, error);
        List<EventData> events = new ArrayList<>();
        event(events, exchange, "gateway.connected", exchange.requestedNanos);
        event(events, exchange, "gateway.response_head", exchange.respondedNanos);
        long end = exchange.openedNanos != 0
                ? exchange.openedNanos
                : exchange.endNanos != 0 ? exchange.endNanos : clock.nanoTime();
        export.accept(new FinishedSpan(
                origin,
                method,
                SpanKind.CLIENT,
                context(trace, attempt.span),
                context(trace, trace.span()),
                new FinishedSpan.Times(epoch(exchange, attempt.startNanos), epoch(exchange, end), events),
                attributes.build(),
                error.isEmpty() ? StatusData.unset() : StatusData.create(StatusCode.ERROR, detail)));
    }

    @Override
    public void onCompleted(ExchangeRecord exchange) {
        attempts.remove(exchange);
        hedges.remove(exchange);
        Trace trace = exchange.trace;
        if (trace == null) {
            return;
        }
        AttributesBuilder attributes = Attributes.builder();
        String method = method(exchange, attributes);
        request(exchange, attributes);
        String error = exchange.cause != null
                ? exchange.cause.label()
                : exchange.status >= SERVER_ERROR ? Integer.toString(exchange.status) : "";
        outcome(attributes, exchange.status, error);
        // What the client has done wrong is no error of a server, as the conventions have it.
        boolean ours = !error.isEmpty() && (exchange.status < CLIENT_ERROR || exchange.status >= SERVER_ERROR);
        List<EventData> events = new ArrayList<>();
        event(events, exchange, "gateway.response_head", exchange.respondedNanos);
        event(events, exchange, "gateway.tunnel_open", exchange.openedNanos);
        export.accept(new FinishedSpan(
                origin,
                method,
                SpanKind.SERVER,
                context(trace, trace.span()),
                parent(trace),
                new FinishedSpan.Times(
                        epoch(exchange, exchange.startNanos), epoch(exchange, exchange.endNanos), events),
                attributes.build(),
                ours ? StatusData.create(StatusCode.ERROR, exchange.detail) : StatusData.unset()));
    }

    // ---- attributes

    /** Returns the span's name: the method, for what else there is differs with each request. */
    private static String method(ExchangeRecord exchange, AttributesBuilder attributes) {
        String method =
                exchange.method == null ? "_OTHER" : exchange.method.name().toString();
        boolean known = METHODS.contains(method);
        attributes.put(HttpKeys.METHOD, known ? method : "_OTHER");
        if (!known && exchange.method != null) {
            attributes.put(HttpKeys.METHOD_ORIGINAL, method);
        }
        return known ? method : "HTTP";
    }

    private void request(ExchangeRecord exchange, AttributesBuilder attributes) {
        attributes.put(HttpKeys.SCHEME, exchange.scheme.toString());
        String target = redaction.url(exchange.path).toString();
        int query = target.indexOf('?');
        attributes.put(HttpKeys.PATH, query < 0 ? target : target.substring(0, query));
        if (query >= 0) {
            attributes.put(HttpKeys.QUERY, target.substring(query + 1));
        }
        address(attributes, exchange.authority.toString());
        attributes.put(HttpKeys.CLIENT_ADDRESS, exchange.client.text().toString());
        if (exchange.client.port() != 0) {
            attributes.put(HttpKeys.CLIENT_PORT, (long) exchange.client.port());
        }
        SourceAddress peer = exchange.connection.peer();
        if (peer.ip() != null) {
            attributes.put(HttpKeys.PEER_ADDRESS, peer.text().toString());
            attributes.put(HttpKeys.PEER_PORT, (long) peer.port());
        }
        HttpVersion version = exchange.connection.version();
        if (version != HttpVersion.TCP) {
            attributes.put(HttpKeys.PROTOCOL_NAME, "http");
            attributes.put(HttpKeys.PROTOCOL_VERSION, version.shortNumber());
        }
        AsciiString agent = exchange.fields == null ? null : exchange.fields.first(FieldName.USER_AGENT);
        if (agent != null) {
            attributes.put(
                    HttpKeys.USER_AGENT,
                    redaction.headerValue(FieldName.USER_AGENT, agent).toString());
        }
        attributes.put(HttpKeys.LISTENER, exchange.connection.listenerName());
        attributes.put(HttpKeys.ROUTE, exchange.route);
        attributes.put(HttpKeys.ATTEMPTS, (long) exchange.attempts);
        if (exchange.requestId != null) {
            attributes.put(HttpKeys.REQUEST_ID, exchange.requestId.toString());
        }
    }

    private String url(ExchangeRecord exchange) {
        return exchange.scheme + "://" + exchange.authority + redaction.url(exchange.path);
    }

    private static void outcome(AttributesBuilder attributes, int status, String error) {
        if (status != 0) {
            attributes.put(HttpKeys.STATUS, (long) status);
        }
        if (!error.isEmpty()) {
            attributes.put(HttpKeys.ERROR, error);
        }
    }

    private static void address(AttributesBuilder attributes, String hostAndPort) {
        String host = host(hostAndPort);
        if (!host.isEmpty()) {
            attributes.put(HttpKeys.SERVER_ADDRESS, host);
            String port = hostAndPort.substring(hostAndPort.lastIndexOf(':') + 1);
            if (!port.isEmpty() && port.length() <= 5 && port.chars().allMatch(c -> c >= '0' && c <= '9')) {
                attributes.put(HttpKeys.SERVER_PORT, Long.parseLong(port));
            }
        }
    }

    private static String host(String hostAndPort) {
        int colon = hostAndPort.lastIndexOf(':');
        boolean port = colon > hostAndPort.lastIndexOf(']') && !hostAndPort.startsWith("unix:");
        String host = port ? hostAndPort.substring(0, colon) : hostAndPort;
        return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
    }

    // ---- times and ids

    private static void event(List<EventData> events, ExchangeRecord exchange, String name, long nanos) {
        if (nanos != 0) {
            events.add(EventData.create(epoch(exchange, nanos), name, Attributes.empty()));
        }
    }

    private static long epoch(ExchangeRecord exchange, long nanos) {
        return exchange.startMillis * NANOS_PER_MILLI + nanos - exchange.startNanos;
    }

    private static SpanContext context(Trace trace, long span) {
        return SpanContext.create(
                TraceId.fromLongs(trace.high(), trace.low()),
                SpanId.fromLong(span),
                TraceFlags.getSampled(),
                state(trace));
    }

    private static SpanContext parent(Trace trace) {
        return trace.parent() == 0
                ? SpanContext.getInvalid()
                : SpanContext.createFromRemoteParent(
                        TraceId.fromLongs(trace.high(), trace.low()),
                        SpanId.fromLong(trace.parent()),
                        TraceFlags.getSampled(),
                        state(trace));
    }

    private static TraceState state(Trace trace) {
        if (trace.state().isEmpty()) {
            return TraceState.getDefault();
        }
        TraceStateBuilder state = TraceState.builder();
        String[] members = trace.state().toString().split(",");
        for (int i = members.length - 1; i >= 0; i--) { // what is put last stands first
            String member = members[i].strip();
            int equals = member.indexOf('=');
            if (equals > 0) {
                state.put(member.substring(0, equals), member.substring(equals + 1));
            }
        }
        return state.build();
    }
}
