package dev.gateway.filter.auth;

import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;

/** How clients that have not proven who they are get asked for it. Immutable. */
public final class Challenges {
    private final Asker asker;
    private final List<AsciiString> challenges;

    /** In whose name it is asked. */
    enum Asker {
        /** A proxy, by {@code Proxy-Authenticate}. */
        PROXY(FieldName.PROXY_AUTHENTICATE, Cause.PROXY_AUTH, 407),
        /** The server that the client wants to reach, by {@code WWW-Authenticate}. */
        SERVER(FieldName.WWW_AUTHENTICATE, Cause.AUTHZ_DENIED, 401);

        private final FieldName field;
        private final Cause cause;
        private final int status;

        Asker(FieldName field, Cause cause, int status) {
            this.field = field;
            this.cause = cause;
            this.status = status;
        }
    }

    /**
     * Makes the challenges of a proxy.
     *
     * @param realm name that the client shows to its user
     * @param basic whether a name and a password may be shown
     * @param bearer whether a token may be shown
     */
    Challenges(String realm, boolean basic, boolean bearer) {
        String quoted = quoted(realm);
        List<AsciiString> offered = new ArrayList<>();
        if (basic) {
            offered.add(new AsciiString("Basic " + quoted + ", charset=\"UTF-8\""));
        }
        if (bearer) {
            offered.add(new AsciiString("Bearer " + quoted));
        }
        this.asker = Asker.PROXY;
        this.challenges = List.copyOf(offered);
    }

    private Challenges(String challenge) {
        this.asker = Asker.SERVER;
        this.challenges = List.of(new AsciiString(challenge));
    }

    /** Returns the challenge of a server that asks for a name and a password (RFC 7617). */
    public static Challenges basic(String realm) {
        return new Challenges("Basic " + quoted(realm) + ", charset=\"UTF-8\"");
    }

    /** Returns the challenge of a server that asks for a key, which no registered scheme is for. */
    public static Challenges key(String realm) {
        return new Challenges("ApiKey " + quoted(realm));
    }

    /** Returns the challenge of a server that asks for a token (RFC 6750). */
    public static Challenges bearer(String realm) {
        return new Challenges("Bearer " + quoted(realm));
    }

    /**
     * Returns the challenge of a server that says what is wrong with a token (RFC 6750, section 3.1).
     *
     * @param error such as {@code invalid_token}
     */
    public static Challenges bearer(String realm, String error) {
        return new Challenges("Bearer " + quoted(realm) + ", error=\"" + error + '"');
    }

    private static String quoted(String realm) {
        return "realm=\"" + realm.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /** Refuses a request, and asks for credentials. */
    public Verdict refuse(String why) {
        return refuse(asker.status, why);
    }

    /** Refuses a request with another status than the usual one, and asks for credentials. */
    public Verdict refuse(int status, String why) {
        if (challenges.isEmpty()) {
            // Nothing to ask for: a 407 has to name a scheme (RFC 9110, section 15.5.8).
            return new Verdict.Refuse(Failure.of(Cause.PROXY_AUTH, 403, "no client certificate"));
        }
        Fields fields = new Fields();
        for (AsciiString challenge : challenges) {
            fields.add(asker.field, challenge);
        }
        return new Verdict.Refuse(Failure.of(asker.cause, status, why), fields);
    }
}
