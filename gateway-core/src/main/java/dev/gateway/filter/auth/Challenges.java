package dev.gateway.filter.auth;

import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;

/** How clients that have not proven who they are get asked for it: {@code Proxy-Authenticate}. Immutable. */
final class Challenges {
    private final List<AsciiString> challenges;

    /**
     * Makes the challenges of a filter.
     *
     * @param realm name that the client shows to its user
     * @param basic whether a name and a password may be shown
     * @param bearer whether a token may be shown
     */
    Challenges(String realm, boolean basic, boolean bearer) {
        String quoted = "realm=\"" + realm.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
        List<AsciiString> offered = new ArrayList<>();
        if (basic) {
            offered.add(new AsciiString("Basic " + quoted + ", charset=\"UTF-8\""));
        }
        if (bearer) {
            offered.add(new AsciiString("Bearer " + quoted));
        }
        this.challenges = List.copyOf(offered);
    }

    /** Refuses a request, and asks for credentials. */
    Verdict refuse(String why) {
        if (challenges.isEmpty()) {
            // Nothing to ask for: a 407 has to name a scheme (RFC 9110, section 15.5.8).
            return new Verdict.Refuse(Failure.of(Cause.PROXY_AUTH, 403, "no client certificate"));
        }
        Fields fields = new Fields();
        for (AsciiString challenge : challenges) {
            fields.add(FieldName.PROXY_AUTHENTICATE, challenge);
        }
        return new Verdict.Refuse(Failure.of(Cause.PROXY_AUTH, why), fields);
    }
}
