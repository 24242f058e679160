package dev.gateway.connect.assembly;

import dev.gateway.connect.ConnectTally;
import dev.gateway.connect.Policies;
import dev.gateway.connect.ProxyAutoConfig;
import dev.gateway.exchange.route.Router;
import dev.gateway.filter.auth.ProxyAuthentication;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.upstream.Upstream;
import io.netty.util.AsciiString;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An entry of the connect section at run time. Immutable except for what it counts.
 *
 * @param tunnels routes every CONNECT
 * @param upstreams where that leads
 * @param policies who may reach what, for those who ask about it
 * @param tally what is counted and seen of it
 * @param clients the proxy auto-configuration that clients get
 * @param page the request that is answered with a script for clients, and by what; null if none is
 * @param login who clients are, null if nobody is asked
 */
public record ConnectEntry(
        Router tunnels,
        List<Upstream> upstreams,
        Policies policies,
        ConnectTally tally,
        ProxyAutoConfig clients,
        @Nullable Page page,
        @Nullable ProxyAuthentication login) {
    /** Returns the routes of a listener with the page before them, if there is one. */
    public Router withPage(Router routes) {
        return page == null ? routes : head -> page.isAskedFor(head) ? page.match : routes.match(head);
    }

    /** A page of the listener itself: no proxied request leads to it. */
    record Page(AsciiString path, Router.Match match) {
        boolean isAskedFor(RequestHead head) {
            return !head.isAbsoluteForm()
                    && (head.method().equals(Method.GET) || head.method().equals(Method.HEAD))
                    && head.queryStart() == path.length()
                    && AsciiString.regionMatches(head.path(), false, 0, path, 0, path.length());
        }
    }
}
