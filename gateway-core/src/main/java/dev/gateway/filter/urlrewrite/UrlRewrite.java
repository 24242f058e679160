package dev.gateway.filter.urlrewrite;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.rewrite.PathRewrite;
import dev.gateway.message.Authority;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** Changes host and path before a request is forwarded (the Gateway API's URLRewrite). */
public final class UrlRewrite implements Filter {
    private final @Nullable AsciiString hostname;
    private final @Nullable PathRewrite path;

    /**
     * Makes the filter; null leaves as it is.
     *
     * @throws IllegalArgumentException if the host name is not valid
     */
    public UrlRewrite(@Nullable String hostname, @Nullable PathRewrite path) {
        this.hostname = hostname == null ? null : new AsciiString(hostname);
        if (this.hostname != null && !Authority.isValid(this.hostname)) {
            throw new IllegalArgumentException("not a host: " + hostname);
        }
        this.path = path;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        if (hostname != null) {
            head.setAuthority(hostname);
        }
        if (path != null) {
            context.rewritePath(head, path.apply(head, context.matchedPrefixLength()));
        }
        return Verdict.PROCEED;
    }
}
