package dev.gateway.filter.plugin;

import dev.gateway.filter.FilterContext;
import dev.gateway.filter.InspectionContext;
import dev.gateway.filter.MirrorTarget;
import dev.gateway.filter.RequestWord;
import dev.gateway.filter.UpstreamCall;
import dev.gateway.filter.Verdict;
import dev.gateway.message.ClientTarget;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.Identity;
import dev.gateway.stream.SourceAddress;
import dev.gateway.upstream.Upstream;
import io.netty.util.AsciiString;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * What one filter of a plugin sees of one exchange. The filter may hold it until the exchange ends: its state stays its own,
 * and it resumes nobody but itself.
 */
final class PluginContext implements InspectionContext {
    private final FilterContext exchange;
    private final Containment containment;
    private @Nullable InspectionContext tunnel; // null until the exchange makes the inspector
    private @Nullable Object state;
    private boolean mayResume = true;
    private long held; // of the charged bytes, so that it does not release those of others

    private PluginContext(FilterContext exchange, Containment containment) {
        this.exchange = exchange;
        this.containment = containment;
    }

    /** Returns the one of the filter that is being called, which has it from its first call on. */
    static PluginContext of(FilterContext exchange, Containment containment) {
        if (exchange.kept() instanceof PluginContext known) {
            return known;
        }
        PluginContext made = new PluginContext(exchange, containment);
        exchange.keep(made);
        return made;
    }

    /** Returns it, now that the filter may inspect bytes. */
    static PluginContext inspecting(InspectionContext exchange, Containment containment) {
        PluginContext own = of(exchange, containment);
        own.tunnel = exchange;
        return own;
    }

    /** The filter has decided at once, so it cannot resume. Returns whether it has done so already. */
    boolean onDecided() {
        boolean resumed = !mayResume;
        mayResume = false;
        return resumed;
    }

    @Override
    public void resume(Verdict verdict) {
        if (!mayResume) {
            containment.discard(verdict);
            containment.defect(new IllegalStateException("resumed, but the gateway does not wait for it"));
            return;
        }
        mayResume = false;
        String fault = verdict instanceof Verdict.Wait ? "another Wait" : Containment.fault(verdict);
        if (fault != null) {
            if (!(verdict instanceof Verdict.Wait)) {
                containment.discard(verdict);
            }
            Failure failure = containment.failure(new IllegalStateException("resumed with " + fault));
            exchange.resume(new Verdict.Refuse(failure));
        } else {
            exchange.resume(verdict);
        }
    }

    @Override
    public void keep(Object kept) {
        state = kept;
    }

    @Override
    public @Nullable Object kept() {
        return state;
    }

    @Override
    public ConnectionInfo connection() {
        return exchange.connection();
    }

    @Override
    public void rewritePath(RequestHead head, AsciiString path) {
        exchange.rewritePath(head, path);
    }

    @Override
    public CharSequence word(RequestWord word) {
        return exchange.word(word);
    }

    @Override
    public ClientTarget target() {
        return exchange.target();
    }

    @Override
    public SourceAddress client() {
        return exchange.client();
    }

    @Override
    public int matchedPrefixLength() {
        return exchange.matchedPrefixLength();
    }

    @Override
    public @Nullable Identity identity() {
        return exchange.identity();
    }

    @Override
    public void setIdentity(Identity identity) {
        exchange.setIdentity(identity);
    }

    @Override
    public Map<String, String> claims() {
        return exchange.claims();
    }

    @Override
    public void setClaims(Map<String, String> claims) {
        exchange.setClaims(claims);
    }

    @Override
    public void setTunnelServerName(String name) {
        if (tunnel == null) {
            throw new IllegalStateException("only inspectors know what a tunnel asks for");
        }
        tunnel.setTunnelServerName(name);
    }

    @Override
    public long nanoTime() {
        return exchange.nanoTime();
    }

    @Override
    public long movedBytes() {
        return exchange.movedBytes();
    }

    @Override
    public UpstreamCall call(Upstream upstream, UpstreamCall.Request request, UpstreamCall.Callback callback) {
        return exchange.call(upstream, request, callback);
    }

    @Override
    public void mirror(MirrorTarget target) {
        exchange.mirror(target);
    }

    @Override
    public boolean tryHold(long bytes, boolean needed) {
        if (bytes < 0) {
            throw new IllegalArgumentException("holds " + bytes + " bytes");
        }
        boolean holds = exchange.tryHold(bytes, needed);
        held += holds ? bytes : 0;
        return holds;
    }

    @Override
    public void release(long bytes) {
        if (bytes < 0 || bytes > held) {
            throw new IllegalStateException("released " + bytes + " bytes, but holds " + held);
        }
        held -= bytes;
        exchange.release(bytes);
    }

    @Override
    public void limitRequestBody(long maxBytes, String by) {
        exchange.limitRequestBody(maxBytes, by);
    }

    @Override
    public Executor loop() {
        return exchange.loop();
    }
}
