package dev.gateway.exchange.attempt;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.SharedCaches;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.SessionResult;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.SessionPersistence;
import dev.gateway.upstream.Upstream;
import org.jspecify.annotations.Nullable;

/**
 * Sticky session of one exchange: the endpoint that its cookie names, and the cookie of its response. Confined to its event
 * loop.
 */
public final class Session {
    private final SessionPersistence persistence;
    private final boolean secure;
    private final SessionPersistence.@Nullable Kept kept;

    private Session(SessionPersistence persistence, boolean secure, SessionPersistence.@Nullable Kept kept) {
        this.persistence = persistence;
        this.secure = secure;
        this.kept = kept;
    }

    /** Reads the session of a request and removes its cookie; null if there are no sessions, as for plain tunnels. */
    public static @Nullable Session of(Upstream upstream, RequestHead head, ExchangeRecord record) {
        SessionPersistence persistence = upstream.sessions();
        if (persistence == null || (head.isConnect() && head.protocol() == null)) {
            return null;
        }
        Fields fields = head.fields();
        SessionPersistence.Kept kept = persistence.find(fields);
        persistence.strip(fields);
        return new Session(persistence, record.target.isSecure(), kept);
    }

    /** Returns the endpoint of the session; null if it has none that may be chosen. */
    public @Nullable Endpoint endpoint() {
        return kept == null ? null : kept.endpoint();
    }

    /**
     * An endpoint has answered: the session belongs to it from now on, and the response sets a cookie. Not if shared caches
     * may keep the response, which would give the session to other clients (RFC 9111, section 7.3).
     *
     * @return what became of the session; null if none has begun
     */
    public @Nullable SessionResult onAnswered(Endpoint by, ResponseHead head) {
        boolean same = kept != null && by.equals(kept.endpoint());
        if (SharedCaches.areInvited(head.fields())) {
            return same ? SessionResult.KEPT : null;
        }
        if (kept == null || !same) {
            head.fields().add(FieldName.SET_COOKIE, persistence.begin(by, secure));
            return kept == null ? SessionResult.BEGUN : SessionResult.MOVED;
        }
        if (kept.isOld()) {
            head.fields().add(FieldName.SET_COOKIE, persistence.renew(by, kept, secure));
        }
        return SessionResult.KEPT;
    }
}
