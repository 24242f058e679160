package dev.gateway.upstream;

import dev.gateway.message.Cookies;
import dev.gateway.message.Fields;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Session persistence (sticky sessions) of one upstream: a cookie names the endpoint that answered, and later requests with
 * it go there while that endpoint is chosen. Safe from any thread.
 */
public final class SessionPersistence {
    private static final int MOST_COOKIES = 3;

    private final String upstream;
    private final AsciiString name;
    private final long timeoutSeconds;
    private final LongSupplier clock;
    private volatile State state;

    /** What changes with the keys and the endpoints. */
    private record State(SessionKeys keys, List<Host> hosts, Map<Long, Endpoint> ids) {}

    /**
     * The session of a request.
     *
     * @param end in seconds since 1970, 0 for never
     * @param isOld whether the gateway replaces the cookie: another key signs now, or the cookie outlives the timeout
     */
    public record Kept(Endpoint endpoint, long end, boolean isOld) {}

    /**
     * Makes it, for an upstream that tells it of its endpoints.
     *
     * @param keys the first signs, all are accepted
     * @param timeoutSeconds after which a session ends, 0 for never
     * @param clock seconds since 1970
     */
    public SessionPersistence(
            String upstream, String cookie, List<String> keys, long timeoutSeconds, LongSupplier clock) {
        this.upstream = upstream;
        this.name = new AsciiString(cookie);
        this.timeoutSeconds = timeoutSeconds;
        this.clock = clock;
        this.state = new State(new SessionKeys(upstream, keys), List.of(), Map.of());
    }

    /** Other endpoints are chosen than before. */
    synchronized void onChoice(List<Host> hosts) {
        if (!hosts.equals(state.hosts)) {
            state = new State(state.keys, hosts, state.keys.ids(hosts));
        }
    }

    /** Signs with the first of these keys from now on, and accepts all of them and no others. */
    public synchronized void useKeys(List<String> keys) {
        SessionKeys renewed = new SessionKeys(upstream, keys);
        state = new State(renewed, state.hosts, renewed.ids(state.hosts));
    }

    /**
     * Returns the session of a request, null if it has none or its endpoint is not chosen now. Browsers send cookies of one
     * name that an application has set for other paths or domains, too.
     */
    public @Nullable Kept find(Fields fields) {
        State now = state;
        SessionKeys.Claims claims = null;
        for (int i = 0; i < MOST_COOKIES && claims == null; i++) {
            AsciiString token = Cookies.value(fields, name, i);
            if (token == null) {
                return null;
            }
            claims = now.keys.verify(token, clock.getAsLong());
        }
        Endpoint endpoint = claims == null ? null : now.ids.get(claims.id());
        if (claims == null || endpoint == null) {
            return null;
        }
        long latest = latestEnd();
        boolean tooLong = latest != 0 && (claims.end() == 0 || claims.end() > latest); // as the configuration once was
        return new Kept(endpoint, tooLong ? latest : claims.end(), tooLong || claims.key() > 0);
    }

    /** Returns when a session ends that begins now. */
    private long latestEnd() {
        return timeoutSeconds == 0 ? 0 : clock.getAsLong() + timeoutSeconds;
    }

    /** Returns the name of the cookie. */
    public String cookie() {
        return name.toString();
    }

    /** Removes the cookie: it is the gateway's, and endpoints of this upstream get no part of it. */
    public void strip(Fields fields) {
        Cookies.remove(fields, name);
    }

    /** Returns the value of Set-Cookie that begins a session at an endpoint. */
    public AsciiString begin(Endpoint endpoint, boolean secure) {
        return setCookie(endpoint, latestEnd(), secure);
    }

    /** Returns the value of Set-Cookie that goes on with a session: it ends when it would have ended. */
    public AsciiString renew(Kept kept, boolean secure) {
        return setCookie(kept.endpoint, kept.end, secure);
    }

    private AsciiString setCookie(Endpoint endpoint, long end, boolean secure) {
        StringBuilder cookie = new StringBuilder(128);
        cookie.append(name).append('=').append(state.keys.token(endpoint, end)).append("; Path=/");
        if (end != 0) {
            cookie.append("; Max-Age=").append(Math.max(1, end - clock.getAsLong()));
        }
        return new AsciiString(
                cookie.append("; HttpOnly").append(secure ? "; Secure" : "").append("; SameSite=Lax"));
    }
}
