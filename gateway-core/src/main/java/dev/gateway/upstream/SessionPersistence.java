package dev.gateway.upstream;

import dev.gateway.config.upstream.SessionPersistenceConfig.SameSite;
import dev.gateway.message.Cookies;
import dev.gateway.message.Fields;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Session persistence (sticky sessions) of one upstream: a cookie names the endpoint that answered. Later requests with the
 * cookie go to that endpoint as long as it takes them. Safe from any thread.
 */
public final class SessionPersistence {
    private static final int MOST_COOKIES = 3;

    private final String upstream;
    private final AsciiString name;
    private final long timeoutSeconds;
    private final SameSite sameSite;
    private final LongSupplier clock;
    private final Supplier<List<String>> keyTexts;
    private volatile State state;

    /** The state that depends on the keys and the endpoints; {@code texts} are the keys that it was made from. */
    private record State(List<String> texts, SessionKeys keys, List<Host> hosts, Map<Long, Endpoint> ids) {}

    /**
     * The session of a request.
     *
     * @param endpoint null if the endpoint of the session takes none now
     * @param end in seconds since 1970, 0 for never
     * @param isOld whether the gateway replaces the cookie: another key signs now, or the cookie outlives the timeout
     */
    public record Kept(@Nullable Endpoint endpoint, long end, boolean isOld) {}

    /**
     * Makes it, for an upstream that reports its endpoints by {@link #onChoice}.
     *
     * @param keys returns the keys; the first signs, all are accepted. Called for each request; returns the same list until
     *     the keys change
     * @param timeoutSeconds after which a session ends, 0 for never
     * @param sameSite to which requests from pages of other sites browsers add the cookie
     * @param clock seconds since 1970
     */
    public SessionPersistence(
            String upstream,
            String cookie,
            Supplier<List<String>> keys,
            long timeoutSeconds,
            SameSite sameSite,
            LongSupplier clock) {
        this.upstream = upstream;
        this.name = new AsciiString(cookie);
        this.timeoutSeconds = timeoutSeconds;
        this.sameSite = sameSite;
        this.clock = clock;
        this.keyTexts = keys;
        List<String> texts = keys.get();
        this.state = new State(texts, new SessionKeys(upstream, texts), List.of(), Map.of());
    }

    /** The set of endpoints that take requests of sessions has changed. */
    synchronized void onChoice(List<Host> hosts) {
        State before = state;
        if (!hosts.equals(before.hosts)) {
            state = new State(before.texts, before.keys, hosts, before.keys.ids(hosts));
        }
    }

    /** Returns the state for the current keys. */
    @SuppressWarnings("ReferenceEquality") // another list means other keys
    private State current() {
        State known = state;
        List<String> texts = keyTexts.get();
        return texts == known.texts ? known : useKeys(texts);
    }

    @SuppressWarnings("ReferenceEquality") // as above
    private synchronized State useKeys(List<String> texts) {
        State before = state;
        if (texts == before.texts) {
            return before; // another event loop was faster
        }
        SessionKeys renewed = new SessionKeys(upstream, texts);
        State next = new State(texts, renewed, before.hosts, renewed.ids(before.hosts));
        state = next;
        return next;
    }

    /**
     * Returns the session of a request, null if it has no valid one. Looks at several cookies
     * of the name, because an application may have set others for other paths or domains.
     */
    public @Nullable Kept find(Fields fields) {
        State now = current();
        SessionKeys.Claims claims = null;
        for (int i = 0; i < MOST_COOKIES && claims == null; i++) {
            AsciiString token = Cookies.value(fields, name, i);
            if (token == null) {
                return null;
            }
            claims = now.keys.verify(token, clock.getAsLong());
        }
        if (claims == null) {
            return null;
        }
        long latest = latestEnd();
        boolean tooLong = latest != 0 && (claims.end() == 0 || claims.end() > latest); // the timeout was longer then
        return new Kept(now.ids.get(claims.id()), tooLong ? latest : claims.end(), tooLong || claims.key() > 0);
    }

    /**
     * Whether a request has a session here, and this upstream continues it.
     *
     * @param only whether nothing but sessions goes to this upstream. Then a session ends with its endpoint; else another
     *     endpoint of this upstream takes it over.
     */
    public boolean continues(Fields fields, boolean only) {
        Kept kept = find(fields);
        return kept != null && (only ? kept.endpoint() != null : !state.hosts.isEmpty());
    }

    /** Returns for how many seconds a session lasts, 0 for no limit. */
    public long timeoutSeconds() {
        return timeoutSeconds;
    }

    /** Returns when a session ends that begins now. */
    private long latestEnd() {
        return timeoutSeconds == 0 ? 0 : clock.getAsLong() + timeoutSeconds;
    }

    /** Returns the name of the cookie. */
    public String cookie() {
        return name.toString();
    }

    /** Removes the cookie from a request: endpoints of this upstream must not see it. */
    public void strip(Fields fields) {
        Cookies.remove(fields, name);
    }

    /** Returns the value of Set-Cookie that begins a session at an endpoint. */
    public AsciiString begin(Endpoint endpoint, boolean secure) {
        return setCookie(endpoint, latestEnd(), secure);
    }

    /** Returns the value of Set-Cookie that continues a session at its endpoint and keeps its end. */
    public AsciiString renew(Endpoint endpoint, Kept kept, boolean secure) {
        return setCookie(endpoint, kept.end, secure);
    }

    private AsciiString setCookie(Endpoint endpoint, long end, boolean secure) {
        StringBuilder cookie = new StringBuilder(128);
        cookie.append(name)
                .append('=')
                .append(current().keys.token(endpoint, end))
                .append("; Path=/");
        if (end != 0) {
            cookie.append("; Max-Age=").append(Math.max(1, end - clock.getAsLong()));
        }
        // Browsers refuse a cookie with None and without Secure.
        SameSite written = sameSite == SameSite.NONE && !secure ? SameSite.LAX : sameSite;
        return new AsciiString(cookie.append("; HttpOnly")
                .append(secure ? "; Secure" : "")
                .append("; SameSite=")
                .append(written));
    }
}
