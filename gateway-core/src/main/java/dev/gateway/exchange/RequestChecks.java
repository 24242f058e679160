package dev.gateway.exchange;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.ForwardedFields;
import dev.gateway.message.HopByHop;
import dev.gateway.message.Method;
import dev.gateway.message.PathNormalizer;
import dev.gateway.message.ProxyFields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.RequestRules;
import dev.gateway.message.Scheme;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.route.Route;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import io.netty.util.AsciiString;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Checks a request's head, whatever its route, and makes it ready to be forwarded. No state.
 */
final class RequestChecks {
    /** What a request line of HTTP/1.1 has besides method and path: that of other protocols is as long. */
    private static final int LINE_OVERHEAD = "  HTTP/1.1\r\n".length() - 1;

    private RequestChecks() {}

    /**
     * Checks a request, and brings its path into normal form.
     *
     * @return why it is refused, or null
     */
    static @Nullable Failure check(RequestHead head, ExchangeSettings settings, int listener) {
        if (head.method().equals(Method.TRACE)) {
            // As nginx does: its answer would show the client what proxies, ours included, add to requests.
            return Failure.of(Cause.NO_ROUTE, 405, "TRACE is not offered");
        }
        String problem = RequestRules.problem(head);
        if (problem != null) {
            return Failure.of(Cause.CLIENT_PROTOCOL_ERROR, problem);
        }
        return isTunnel(head) ? checkTunnel(settings, listener) : checkRequest(head, settings, listener);
    }

    /** Whether this is a plain CONNECT, which names a destination and nothing there. */
    static boolean isTunnel(RequestHead head) {
        return head.isConnect() && head.protocol() == null;
    }

    private static @Nullable Failure checkTunnel(ExchangeSettings settings, int listener) {
        return settings.tunnels(listener) == null
                ? Failure.of(Cause.NO_ROUTE, 405, "no tunnels are offered here")
                : null;
    }

    @SuppressWarnings("ReferenceEquality") // a normal path comes back as the same instance, which is cheap to see
    private static @Nullable Failure checkRequest(RequestHead head, ExchangeSettings settings, int listener) {
        int mostLine = settings.maxRequestLineBytes(listener);
        if (mostLine > 0 && head.method().name().length() + head.path().length() + LINE_OVERHEAD >= mostLine) {
            return Failure.of(Cause.CLIENT_PROTOCOL_ERROR, 414, "a path that is too long");
        }
        AsciiString path = PathNormalizer.normalize(head.path());
        if (path == null) {
            return Failure.of(Cause.CLIENT_PROTOCOL_ERROR, "a path that must not be forwarded");
        }
        if (path != head.path()) {
            head.setPath(path);
        }
        long mostBytes = settings.maxRequestBodyBytes(listener);
        if (mostBytes > 0 && head.contentLength() > mostBytes) {
            return Failure.of(
                    Cause.BODY_TOO_LARGE,
                    "announced " + head.contentLength() + " bytes of body: more than " + mostBytes
                            + " (limits.maxBody)");
        }
        return null;
    }

    /**
     * Whether this is an {@code OPTIONS} that goes no further (RFC 9110, section 7.6.2); one that may go further is
     * counted down.
     */
    static boolean isLastHop(RequestHead head) {
        if (!head.method().equals(Method.OPTIONS)) {
            return false;
        }
        AsciiString hops = head.fields().first(FieldName.MAX_FORWARDS);
        if (hops == null || !isNumber(hops)) {
            return false;
        }
        int left = hops.parseInt();
        if (left > 0) {
            head.fields().set(FieldName.MAX_FORWARDS, Integer.toString(left - 1));
        }
        return left == 0;
    }

    private static boolean isNumber(AsciiString text) {
        if (text.isEmpty() || text.length() > 9) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            if (text.byteAt(i) < '0' || text.byteAt(i) > '9') {
                return false;
            }
        }
        return true;
    }

    /**
     * Checks whether a route lets a request upgrade as it wants to. If not, and it is a wish that may be ignored, the
     * request has it no more.
     *
     * @return why it is refused, or null
     */
    static @Nullable Failure checkUpgrade(RequestHead head, Route.Upgrades upgrades) {
        AsciiString protocol = head.protocol();
        if (protocol == null) {
            return null;
        }
        if (!upgrades.tokens().contains(protocol.toLowerCase())) {
            return head.refuseUpgrade()
                    ? null
                    : Failure.of(
                            Cause.NO_ROUTE,
                            501,
                            "no upgrade to " + protocol + " is offered here"); // RFC 9220, section 3
        }
        // Browsers let any page open a WebSocket to anywhere, with the user's cookies, and only tell whose page it is.
        Fields fields = head.fields();
        int origin = fields.find(FieldName.ORIGIN, 0);
        if (upgrades.origins().isEmpty() || origin < 0) {
            return null;
        }
        boolean one = fields.find(FieldName.ORIGIN, origin + 1) < 0;
        return one && upgrades.origins().contains(fields.value(origin).toLowerCase())
                ? null
                : Failure.of(Cause.AUTHZ_DENIED, "not from a page of an allowed origin");
    }

    /**
     * Makes the head ready to be forwarded to where its client wants it to go, which is not told of the client more than
     * the client tells. That it has passed here is for the filters of such requests to say.
     *
     * @param path as the client wrote it, which a proxy must not change (RFC 9110, section 7.7)
     */
    static void prepareProxied(RequestHead head, AsciiString path) {
        HopByHop.stripRequest(head.fields());
        head.setScheme(Scheme.HTTP);
        head.setPath(path);
    }

    /** Takes out what only a trusted proxy may say, if the request is from somebody else; returns whether it said it. */
    static boolean takeOut(RequestHead head, ExchangeRecord record, ClientTrust trust) {
        if (record.fromProxy) {
            return false;
        }
        Fields fields = head.fields();
        return trust.tracesOfAnyone() ? ProxyFields.removeButTraces(fields) : ProxyFields.removeAll(fields);
    }

    /**
     * Makes the head ready to be forwarded, before filters, so that they have the last word.
     *
     * @param requestId of {@link #requestId}, which the upstream is told
     */
    static void prepare(
            RequestHead head, ConnectionInfo connection, ExchangeSettings settings, @Nullable AsciiString requestId) {
        HopByHop.stripRequest(head.fields());
        // How the client is connected, not what it wrote: upstreams take :scheme for whether a request came securely.
        head.setScheme(connection.scheme());
        ForwardedFields forwarded = settings.forwarded(connection.listener());
        if (forwarded != null) {
            InetSocketAddress local = connection.local();
            forwarded.apply(head, connection.client().text(), connection.scheme(), local == null ? 0 : local.getPort());
        }
        if (requestId != null && settings.requestId() != ExchangeSettings.RequestIdPolicy.OFF) {
            head.fields().set(FieldName.X_REQUEST_ID, requestId);
        }
    }

    /**
     * Returns the request's id: the one its client sent, or a new one.
     *
     * @param fields of the request, null if none could be read
     * @param trusted whether the client is a trusted proxy, whose id counts
     * @return null if the policy is to have none
     */
    static @Nullable AsciiString requestId(
            @Nullable Fields fields, boolean trusted, ExchangeSettings settings, RequestIds ids) {
        AsciiString sent = fields == null ? null : acceptable(fields);
        return switch (settings.requestId()) {
            case OFF -> sent;
            case ACCEPT_OR_GENERATE -> sent != null && trusted ? sent : ids.next();
            case GENERATE -> ids.next();
        };
    }

    private static @Nullable AsciiString acceptable(Fields fields) {
        int at = fields.find(FieldName.X_REQUEST_ID, 0);
        if (at < 0 || fields.find(FieldName.X_REQUEST_ID, at + 1) >= 0) {
            return null; // of several, the upstream might read another
        }
        AsciiString sent = fields.value(at);
        return RequestIds.isAcceptable(sent) ? sent : null;
    }
}
