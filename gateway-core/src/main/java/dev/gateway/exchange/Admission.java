package dev.gateway.exchange;

import dev.gateway.message.FieldName;
import dev.gateway.message.ForwardedFields;
import dev.gateway.message.HopByHop;
import dev.gateway.message.Method;
import dev.gateway.message.PathNormalizer;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import io.netty.util.AsciiString;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * What happens to a request's head at the door, whatever its route: it is checked, and made ready to be forwarded. No
 * state.
 */
final class Admission {
    private static final FieldName MAX_FORWARDS = FieldName.of("Max-Forwards");

    private Admission() {}

    /**
     * Checks a request, and brings its path into normal form.
     *
     * @return why it is refused, or null
     */
    @SuppressWarnings("ReferenceEquality") // a normal path comes back as the same instance, which is cheap to see
    static @Nullable Failure check(RequestHead head, ExchangeSettings settings, int listener, int active) {
        int most = settings.maxExchangesPerLoop();
        if (most > 0 && active > most) {
            return Failure.of(Cause.OVERLOAD, "more than " + most + " exchanges on this event loop");
        }
        Method method = head.method();
        if (method.equals(Method.CONNECT)) {
            return Failure.of(Cause.NO_ROUTE, 405, "no tunnels are offered here");
        }
        if (method.equals(Method.TRACE)) {
            // As nginx does: its answer would show the client what proxies, ours included, add to requests.
            return Failure.of(Cause.NO_ROUTE, 405, "TRACE is not offered");
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
            return Failure.of(Cause.BODY_TOO_LARGE, "announced " + head.contentLength() + " bytes of body");
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
        AsciiString hops = head.fields().first(MAX_FORWARDS);
        if (hops == null || !isNumber(hops)) {
            return false;
        }
        int left = hops.parseInt();
        if (left > 0) {
            head.fields().set(MAX_FORWARDS, Integer.toString(left - 1));
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
     * Makes the head ready to be forwarded, before filters, so that they have the last word.
     *
     * @return the request's id, null if the policy is to have none
     */
    static @Nullable AsciiString prepare(
            RequestHead head, ConnectionInfo connection, ExchangeSettings settings, RequestIds ids) {
        HopByHop.stripRequest(head.fields());
        // How the client is connected, not what it wrote: upstreams take :scheme for whether a request came securely.
        head.setScheme(connection.scheme());
        boolean trusted = settings.trusts(connection);
        ForwardedFields forwarded = settings.forwarded(connection.listener());
        if (forwarded != null) {
            InetSocketAddress local = connection.local();
            forwarded.apply(
                    head, connection.peerIp(), connection.scheme(), local == null ? 0 : local.getPort(), trusted);
        }
        AsciiString via = settings.via(connection.version());
        if (via != null) {
            head.fields().add(FieldName.VIA, via);
        }
        return requestId(head, settings.requestId(), trusted, ids);
    }

    private static @Nullable AsciiString requestId(
            RequestHead head, ExchangeSettings.RequestIdPolicy policy, boolean trusted, RequestIds ids) {
        int at = head.fields().find(FieldName.X_REQUEST_ID, 0);
        AsciiString sent = at < 0 ? null : head.fields().value(at);
        boolean one = head.fields().find(FieldName.X_REQUEST_ID, at + 1) < 0; // else upstream might read another
        boolean acceptable = sent != null && one && RequestIds.isAcceptable(sent);
        switch (policy) {
            case OFF:
                return acceptable ? sent : null;
            case ACCEPT_OR_GENERATE:
                if (acceptable && trusted) {
                    return sent;
                }
                break;
            case GENERATE:
                break;
        }
        AsciiString made = ids.next();
        head.fields().set(FieldName.X_REQUEST_ID, made);
        return made;
    }
}
