package dev.gateway.exchange.request;

import dev.gateway.config.listener.ListenerConfig.HeadersWithUnderscores;
import dev.gateway.exchange.route.Route;
import dev.gateway.exchange.settings.ExchangeSettings;
import dev.gateway.exchange.settings.RequestIdSettings;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.HopByHop;
import dev.gateway.message.Method;
import dev.gateway.message.OddNames;
import dev.gateway.message.ProxyFields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.RequestRules;
import dev.gateway.message.Scheme;
import dev.gateway.message.UpgradeWish;
import dev.gateway.message.forwarded.ForwardedFields;
import dev.gateway.message.path.PathNormalizer;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Checks a request's head independently of its route, and prepares it for forwarding. No state.
 */
public final class RequestChecks {
    /** The protocol of an upgrade to a WebSocket. */
    public static final AsciiString WEBSOCKET = new AsciiString("websocket");

    /** Length of an HTTP/1.1 request line without method and path. Other protocols are measured as if they had one. */
    private static final int LINE_OVERHEAD = "  HTTP/1.1\r\n".length() - 1;

    private RequestChecks() {}

    /**
     * Checks a request, and brings its path into normal form.
     *
     * @return why the gateway refuses it, or null
     */
    public static @Nullable Failure check(RequestHead head, ExchangeSettings settings) {
        if (head.method().equals(Method.TRACE)) {
            // As nginx does: the answer to TRACE would show the client what proxies add to requests, also this one.
            return Failure.of(Cause.NO_ROUTE, 405, "TRACE is not offered");
        }
        String problem = RequestRules.problem(head);
        if (problem != null) {
            return Failure.of(Cause.CLIENT_PROTOCOL_ERROR, problem);
        }
        return isTunnel(head) ? checkTunnel(settings) : checkRequest(head, settings);
    }

    /** Whether this is a plain CONNECT, which names a host and port only. */
    public static boolean isTunnel(RequestHead head) {
        return head.isConnect() && head.protocol() == null;
    }

    private static @Nullable Failure checkTunnel(ExchangeSettings settings) {
        return settings.offersTunnels() ? null : Failure.of(Cause.NO_ROUTE, 405, "no tunnels are offered here");
    }

    @SuppressWarnings("ReferenceEquality") // the normalizer returns the same instance for a normal path
    private static @Nullable Failure checkRequest(RequestHead head, ExchangeSettings settings) {
        int mostLine = settings.maxRequestLineBytes();
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
        long mostBytes = settings.maxRequestBodyBytes();
        if (mostBytes > 0 && head.contentLength() > mostBytes) {
            return Failure.of(
                    Cause.BODY_TOO_LARGE,
                    "announced " + head.contentLength() + " bytes of body: more than " + mostBytes
                            + " (limits.maxBody)");
        }
        return null;
    }

    /**
     * Whether the gateway must answer this {@code OPTIONS} instead of forwarding it (RFC 9110, section 7.6.2). Otherwise
     * decrements its {@code Max-Forwards}.
     */
    public static boolean isLastHop(RequestHead head) {
        if (!head.method().equals(Method.OPTIONS)) {
            return false;
        }
        AsciiString hops = head.fields().first(FieldName.MAX_FORWARDS);
        if (hops == null || !isNumber(hops)) {
            return false;
        }
        int left = hops.parseInt();
        if (left > 0) {
            head.fields().set(FieldName.MAX_FORWARDS, left - 1);
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
     * Checks whether a route allows the upgrade that a request asks for. If not, removes the upgrade from the request, if
     * the protocol allows that.
     *
     * @return why the gateway refuses the request, or null
     */
    public static @Nullable Failure checkUpgrade(RequestHead head, Route.Upgrades upgrades) {
        AsciiString protocol = head.protocol();
        UpgradeWish wish = head.wish();
        if (wish != null) {
            head.wishFor(wish.only(upgrades.tokens()));
        }
        if (protocol == null && head.wish() == null) {
            return null;
        }
        if (protocol != null && !upgrades.tokens().contains(protocol.toLowerCase())) {
            return head.refuseUpgrade()
                    ? null
                    : Failure.of(
                            Cause.NO_ROUTE,
                            501,
                            "no upgrade to " + protocol + " is offered here"); // RFC 9220, section 3
        }
        // Browsers let any page open a WebSocket to any server with the user's cookies, and send the page's origin.
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

    /** Returns what a request asks for. */
    public static Kind kind(RequestHead head) {
        AsciiString protocol = head.protocol();
        if (protocol == null) {
            return head.isConnect() ? Kind.TUNNEL : Kind.HTTP;
        }
        return protocol.contentEqualsIgnoreCase(WEBSOCKET) ? Kind.WEBSOCKET : Kind.UPGRADE;
    }

    /** Whether a GET wishes for a WebSocket and, as far as the route allows it, for nothing else. */
    public static boolean isWebSocketOnly(RequestHead head) {
        UpgradeWish wish = head.wish();
        return wish != null
                && wish.protocols().size() == 1
                && wish.protocols().get(0).contentEqualsIgnoreCase(WEBSOCKET)
                && head.method().equals(Method.GET);
    }

    /**
     * Prepares the head of a request to a destination that the client has chosen. Adds no information about the client. The
     * filters of such requests add {@code Via}.
     *
     * @param path the path as the client wrote it, which a proxy must not change (RFC 9110, section 7.7)
     */
    public static void prepareProxied(RequestHead head, AsciiString path) {
        HopByHop.stripRequest(head.fields());
        head.setScheme(Scheme.HTTP);
        head.setPath(path);
    }

    /**
     * Removes fields that only trusted proxies may send, unless the request is from one, and then what that one has not
     * written itself; returns whether there were any.
     */
    public static boolean takeOut(RequestHead head, ExchangeRecord record, ExchangeSettings settings) {
        Fields fields = head.fields();
        if (record.fromProxy) {
            boolean hadUnread = record.claims != null && ForwardedFields.removeUnread(fields, record.claims);
            return removeTwins(fields, settings) || hadUnread;
        }
        boolean hadId = settings.requestId() != ExchangeSettings.RequestIdPolicy.OFF
                && settings.requestIds().removeFrom(fields);
        boolean hadOthers =
                settings.trust().tracesOfAnyone() ? ProxyFields.removeButTraces(fields) : ProxyFields.removeAll(fields);
        return hadId || hadOthers;
    }

    /**
     * Removes twins of the fields that a trusted proxy writes: its client has sent them. Only where odd names are allowed; the
     * listener drops or refuses them otherwise.
     */
    private static boolean removeTwins(Fields fields, ExchangeSettings settings) {
        if (settings.trust().oddNames() != HeadersWithUnderscores.ALLOW) {
            return false;
        }
        boolean ofId = settings.requestId() != ExchangeSettings.RequestIdPolicy.OFF
                && OddNames.removeTwins(fields, settings.requestIds().header());
        return ProxyFields.removeTwins(fields) || ofId;
    }

    /**
     * Prepares the head for forwarding. Called before the filters, so that they may change the result. What a client shows to
     * proxies is not for them: only those of {@link #prepareProxied} check it.
     *
     * @param record has the client, what it used, and the request ID for the upstream
     */
    public static void prepare(RequestHead head, ExchangeRecord record, ExchangeSettings settings) {
        ConnectionInfo connection = record.connection;
        HopByHop.stripRequest(head.fields());
        HopByHop.stripCredentials(head.fields());
        // The scheme of the client's connection, not the one that it wrote: filters rely on it to know about TLS.
        head.setScheme(connection.scheme());
        ForwardedFields forwarded = settings.forwarded();
        if (forwarded != null) {
            forwarded.apply(head, connection.client().text(), connection.scheme(), record.target, record.claims);
        }
        AsciiString requestId = record.requestId;
        if (requestId != null && settings.requestId() != ExchangeSettings.RequestIdPolicy.OFF) {
            head.fields().set(settings.requestIds().header(), requestId);
        }
    }

    /**
     * Returns the request's ID: the client's, or a new one.
     *
     * @param fields the fields of the request, null if it could not be read
     * @param trusted whether the peer is a trusted proxy, which may set the ID
     * @return null if the policy generates none, and the client has sent none
     */
    public static @Nullable AsciiString requestId(
            @Nullable Fields fields, boolean trusted, ExchangeSettings settings, RequestIds ids) {
        RequestIdSettings wanted = settings.requestIds();
        AsciiString sent = fields == null ? null : acceptable(fields, wanted.header());
        return switch (settings.requestId()) {
            case OFF -> sent;
            case ACCEPT_OR_GENERATE -> sent != null && trusted ? sent : ids.next(wanted.format());
            case GENERATE -> ids.next(wanted.format());
        };
    }

    private static @Nullable AsciiString acceptable(Fields fields, FieldName header) {
        int at = fields.find(header, 0);
        if (at < 0 || fields.find(header, at + 1) >= 0) {
            return null; // missing, or several, of which the upstream might read another one
        }
        AsciiString sent = fields.value(at);
        return RequestIds.isAcceptable(sent) ? sent : null;
    }
}
