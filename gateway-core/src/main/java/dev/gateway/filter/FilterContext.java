package dev.gateway.filter;

import dev.gateway.message.ClientTarget;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Identity;
import dev.gateway.stream.SourceAddress;
import dev.gateway.upstream.Upstream;
import io.netty.util.AsciiString;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Filter context: what a filter may know of the exchange, and how it answers late. Valid on the exchange's event loop only.
 */
public interface FilterContext {
    /** Returns the downstream connection. */
    ConnectionInfo connection();

    /** Returns where the request comes from: whom limits for each client count it for. */
    SourceAddress client();

    /** Returns the scheme, host and port that the client used, here or at a trusted proxy in front. */
    ClientTarget target();

    /** Returns how much of the path the route's PathPrefix match covered, in bytes; 0 for other matches. */
    int matchedPrefixLength();

    /** Returns who the client is, null if no filter has found out. */
    @Nullable
    Identity identity();

    /** Says who the client is; seen by the filters that follow, and logged. */
    void setIdentity(Identity identity);

    /** Returns claims of the token that a filter has verified, by their names: those that were asked for and are there. */
    Map<String, String> claims();

    /** Says which claims have been verified; seen by the filters that follow. */
    void setClaims(Map<String, String> claims);

    /**
     * Changes path and query of the request for the upstream. The word {@link RequestWord#PATH} keeps what was matched; {@link
     * RequestHead#setPath} changes it, too.
     */
    default void rewritePath(RequestHead head, AsciiString path) {
        head.setPath(path);
    }

    /**
     * Returns what is known of the request; empty if it is not known. No word has credentials that an access filter takes out
     * of the request: until all of them have seen it, the path is without its query.
     */
    CharSequence word(RequestWord word);

    /** Returns the event loop's clock, for durations. */
    long nanoTime();

    /** Returns how many bytes of content, or of a tunnel, have passed between the client and the gateway, in both directions. */
    long movedBytes();

    /** Keeps an object of this exchange for the filter that is being called; it replaces what the filter kept before. */
    void keep(Object state);

    /** Returns what the filter that is being called has kept of this exchange, null if nothing. */
    @Nullable
    Object kept();

    /**
     * Sends a request of the filter's own. The callback may be called before this method returns.
     *
     * @param upstream one of those that the filter was made with
     */
    UpstreamCall call(Upstream upstream, UpstreamCall.Request request, UpstreamCall.Callback callback);

    /**
     * Has a copy of the request sent to another upstream: what goes upstream after all filters, if anything does. To be
     * called from {@link Filter#onRequest}. Neither the answer to the copy nor its failure has an effect on the exchange.
     */
    void mirror(MirrorTarget target);

    /**
     * Charges the client for memory that the exchange takes, until it ends or the filter {@link #release}s it.
     *
     * @param needed whether the exchange fails without it; if not, the last half of the memory stays free for others
     * @return false, with nothing charged, if it is too much
     * @throws IllegalArgumentException if a plugin wants to hold a negative number of bytes
     */
    boolean tryHold(long bytes, boolean needed);

    /**
     * Releases bytes that {@link #tryHold} has charged for this filter: it has freed them before the exchange ends.
     *
     * @throws IllegalStateException if a plugin releases more than it holds, or a negative number
     */
    void release(long bytes);

    /**
     * Limits the request's body, as the client sends it. A larger one fails the exchange. The smallest limit counts.
     *
     * @param by the name of the limit, for the log
     */
    void limitRequestBody(long maxBytes, String by);

    /** Returns what runs tasks on the exchange's event loop, for a filter that answers from another thread. */
    Executor loop();

    /** Continues after {@link Verdict.Wait}, with the awaited verdict; once. */
    void resume(Verdict verdict);
}
