package dev.gateway.exchange;

import dev.gateway.exchange.body.TransformsInTurn;
import dev.gateway.exchange.request.RequestWords;
import dev.gateway.exchange.route.Router;
import dev.gateway.filter.BodyInspector;
import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
import dev.gateway.filter.Filter;
import dev.gateway.filter.InspectionContext;
import dev.gateway.filter.MirrorTarget;
import dev.gateway.filter.RequestWord;
import dev.gateway.filter.UpstreamCall;
import dev.gateway.filter.Verdict;
import dev.gateway.message.ClientTarget;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Identity;
import dev.gateway.stream.SourceAddress;
import dev.gateway.upstream.Upstream;
import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs a route's filters over one request and its response. Keeps its position while a filter answers later. */
final class FilterChain implements InspectionContext {
    private static final Logger log = LoggerFactory.getLogger(FilterChain.class);

    private final Router.Match match;
    private final List<Filter> filters;
    private final ExchangeContext exchange;
    private final Decisions decisions;
    private int passed; // filters that have proceeded
    private int current; // the filter that this calls now
    private @Nullable Object @Nullable [] kept; // state of each filter, null if no filter keeps any
    private @Nullable AsciiString matchedPath; // null if no filter has rewritten it
    private @Nullable Identity identity;
    private Map<String, String> claims = Map.of();
    private @Nullable Verdict early; // the verdict of a filter that called resume() before it returned Wait
    private @Nullable Runnable waiting; // cancels the filter that answers later
    private @Nullable List<FilterCall> calls; // null if no filter has made any
    private @Nullable List<MirrorTarget> mirrors; // null if no filter wants a copy
    private boolean running;
    private boolean closed;
    private boolean over;

    /** Gets the decisions of the filters. */
    interface Decisions {
        /** A filter answers later. */
        void onFilterWaits();

        /** A filter has replied, and no further filter runs. The owner owns the reply's body. */
        void onFilterReplied(Verdict.Reply reply);

        /** A filter has refused the request. */
        void onFilterRefused(Verdict.Refuse refusal);

        /** Every filter has proceeded. */
        void onFiltersProceeded();

        /** The request's body may have this number of bytes at most; the log names {@code by} as the limit. */
        void limitRequestBody(long maxBytes, String by);

        /** A filter threw an exception after it was resumed. */
        void onDefect(Throwable defect);
    }

    FilterChain(Router.Match match, ExchangeContext exchange, Decisions decisions) {
        this.match = match;
        this.filters = match.route().filters();
        this.exchange = exchange;
        this.decisions = decisions;
    }

    @Override
    public ConnectionInfo connection() {
        return exchange.record.connection;
    }

    @Override
    public CharSequence word(RequestWord word) {
        return word == RequestWord.PATH ? path() : RequestWords.of(exchange.record, word);
    }

    @Override
    public void rewritePath(RequestHead head, AsciiString path) {
        if (matchedPath == null) {
            matchedPath = head.path();
        }
        head.setPath(path);
    }

    /** Returns the path before it was rewritten; without its query if that may still have credentials. */
    private AsciiString path() {
        AsciiString path = matchedPath == null ? exchange.head.path() : matchedPath;
        for (int i = passed + 1; i < filters.size(); i++) {
            if (filters.get(i).guards()) {
                int query = path.indexOf('?', 0);
                return query < 0 ? path : path.subSequence(0, query, false);
            }
        }
        return path;
    }

    @Override
    public ClientTarget target() {
        return exchange.record.target;
    }

    @Override
    public SourceAddress client() {
        return exchange.record.client;
    }

    @Override
    public int matchedPrefixLength() {
        return match.prefixLength();
    }

    @Override
    public @Nullable Identity identity() {
        return identity;
    }

    @Override
    public void setIdentity(Identity identity) {
        this.identity = identity;
        exchange.record.identity = identity.name();
    }

    @Override
    public Map<String, String> claims() {
        return claims;
    }

    @Override
    public void setClaims(Map<String, String> claims) {
        this.claims = claims;
    }

    @Override
    public void setTunnelServerName(String name) {
        exchange.record.tunnelServerName = name;
    }

    @Override
    public long nanoTime() {
        return exchange.loop.wheel.nanoTime();
    }

    @Override
    public long movedBytes() {
        return exchange.record.receivedBytes + exchange.record.sentBytes;
    }

    @Override
    public void keep(Object state) {
        if (kept == null) {
            kept = new @Nullable Object[filters.size()];
        }
        kept[current] = state;
    }

    @Override
    public @Nullable Object kept() {
        return kept == null ? null : kept[current];
    }

    @Override
    public boolean tryHold(long bytes, boolean needed) {
        if (exchange.state.isDone()) {
            return false; // nobody would give it back
        }
        if (!needed) {
            return exchange.held.tryAddSpare(bytes);
        }
        boolean holds = exchange.held.tryAdd(bytes);
        if (!holds) {
            exchange.onNoRoom(bytes);
        }
        return holds;
    }

    @Override
    public void release(long bytes) {
        if (!exchange.state.isDone()) {
            exchange.held.remove(bytes);
        }
    }

    @Override
    public void limitRequestBody(long maxBytes, String by) {
        decisions.limitRequestBody(maxBytes, by);
    }

    @Override
    public Executor loop() {
        return exchange.loop.wheel.loop();
    }

    @Override
    public UpstreamCall call(Upstream upstream, UpstreamCall.Request request, UpstreamCall.Callback callback) {
        if (over) {
            request.body().release();
            throw new IllegalStateException("a call after the exchange's end");
        }
        List<FilterCall> made = calls;
        if (made == null) {
            made = new ArrayList<>(1);
            calls = made;
        }
        made.removeIf(FilterCall::isDone);
        FilterCall call = new FilterCall(exchange, upstream, request, callback, decisions::onDefect);
        made.add(call);
        call.begin();
        return call;
    }

    @Override
    public void mirror(MirrorTarget target) {
        List<MirrorTarget> made = mirrors;
        if (made == null) {
            made = new ArrayList<>(1);
            mirrors = made;
        }
        made.add(target);
    }

    /** Returns where copies of the request go, null for nowhere. */
    @Nullable
    List<MirrorTarget> mirrors() {
        return mirrors;
    }

    private void cancelCalls() {
        if (calls != null) {
            List.copyOf(calls).forEach(FilterCall::cancel);
        }
    }

    /** Runs the filters from the current position, and reports the result to the decisions. */
    void run() {
        while (passed < filters.size()) {
            Verdict verdict = ask(filters.get(passed));
            if (closed) {
                discard(verdict);
                return;
            }
            if (verdict instanceof Verdict.Wait wait) {
                if (early == null) {
                    waiting = wait.cancel();
                    decisions.onFilterWaits();
                    return;
                }
                verdict = early;
                early = null;
            }
            if (!accept(verdict)) {
                return;
            }
        }
        decisions.onFiltersProceeded();
    }

    private Verdict ask(Filter filter) {
        running = true;
        current = passed;
        try {
            Verdict verdict = filter.onRequest(exchange.head, this);
            if (early != null && !(verdict instanceof Verdict.Wait)) {
                discard(verdict);
                throw new IllegalStateException("a filter resumed, but returned another verdict than Wait");
            }
            return verdict;
        } catch (RuntimeException | Error e) {
            closed = true;
            discardEarly();
            throw e;
        } finally {
            running = false;
        }
    }

    /** Returns whether the next filter is to run. */
    private boolean accept(Verdict verdict) {
        if (verdict instanceof Verdict.Proceed) {
            passed++;
            return true;
        }
        closed = true;
        if (verdict instanceof Verdict.Reply reply) {
            try {
                onResponse(reply.head());
            } catch (RuntimeException e) {
                discard(verdict);
                throw e;
            }
            decisions.onFilterReplied(reply);
        } else if (verdict instanceof Verdict.Refuse refuse) {
            decisions.onFilterRefused(refuse);
        } else {
            throw new IllegalStateException("a filter waited for another wait");
        }
        return false;
    }

    @Override
    public void resume(Verdict verdict) {
        if (closed) {
            discard(verdict);
        } else if (running && early == null) {
            early = verdict;
        } else if (waiting == null) {
            discard(verdict);
            throw new IllegalStateException("resumed a filter that was not waiting");
        } else {
            waiting = null;
            if (calls != null) {
                calls.removeIf(FilterCall::isDone); // their questions and answers are charged no more
            }
            try {
                if (accept(verdict)) {
                    run();
                }
            } catch (RuntimeException e) {
                decisions.onDefect(e);
            }
        }
    }

    /** The exchange is over: filters must not resume it any more. */
    void cancel() {
        closed = true;
        cancelCalls(); // first: a filter may fail
        Runnable cancel = waiting;
        if (cancel != null) {
            waiting = null;
            cancel.run();
        }
        discardEarly();
    }

    private void discardEarly() {
        Verdict verdict = early;
        if (verdict != null) {
            early = null;
            discard(verdict);
        }
    }

    private static void discard(Verdict verdict) {
        if (verdict instanceof Verdict.Reply reply) {
            reply.body().release();
        } else if (verdict instanceof Verdict.Wait wait) {
            wait.cancel().run();
        }
    }

    /** Returns the inspector of the first bytes of the request, null for none. Called when every filter has proceeded. */
    @Nullable
    BodyInspector inspector() {
        BodyInspector all = null;
        for (current = 0; current < filters.size(); current++) {
            BodyInspector next = filters.get(current).inspector(exchange.head, this);
            all = all == null ? next : next == null ? all : new InTurn(all, next);
        }
        return all;
    }

    /** Returns the transform of the request's body, null for none. Called when every filter has proceeded. */
    @Nullable
    BodyTransform requestBody() {
        BodyTransform all = null;
        for (int i = 0; i < passed; i++) {
            current = i;
            try {
                all = then(all, filters.get(i).requestBody(exchange.head, this));
            } catch (RuntimeException e) {
                close(all);
                throw e;
            }
        }
        current = passed;
        return all;
    }

    /**
     * Returns the transform of the response's body, null for none.
     *
     * @param last whether the response has no body
     */
    @Nullable
    BodyTransform responseBody(ResponseHead head, boolean last) {
        BodyTransform all = null;
        for (int i = passed - 1; i >= 0; i--) {
            current = i;
            try {
                all = then(all, filters.get(i).responseBody(head, last, this));
            } catch (RuntimeException e) {
                close(all);
                throw e;
            }
        }
        return all;
    }

    private static @Nullable BodyTransform then(@Nullable BodyTransform first, @Nullable BodyTransform second) {
        return first == null ? second : second == null ? first : new TransformsInTurn(first, second);
    }

    private static void close(@Nullable BodyTransform transform) {
        if (transform != null) {
            transform.close();
        }
    }

    /** Two inspectors: the second one runs when the first has passed the bytes. */
    private static final class InTurn implements BodyInspector {
        private @Nullable BodyInspector first;
        private final BodyInspector second;

        InTurn(BodyInspector first, BodyInspector second) {
            this.first = first;
            this.second = second;
        }

        @Override
        public Result inspect(ByteBuf soFar, boolean last) {
            if (first != null) {
                Result result = first.inspect(soFar, last);
                if (!(result instanceof Pass)) {
                    return result;
                }
                first = null;
            }
            return second.inspect(soFar, last);
        }
    }

    /** The exchange is over, however it ended. */
    void end() {
        over = true;
        cancelCalls();
        for (int i = passed - 1; i >= 0; i--) {
            try {
                current = i;
                filters.get(i).onEnd(this);
            } catch (RuntimeException e) {
                log.error("A filter failed at the end of an exchange", e); // the others must still run
            }
        }
        passed = 0;
    }

    /** Shows the trailers of the request to the filters that it has passed. */
    void onRequestTrailers(Fields trailers) {
        for (int i = 0; i < passed; i++) {
            current = i;
            filters.get(i).onRequestTrailers(trailers, this);
        }
        current = passed;
    }

    /** Shows the trailers of the response to the filters that have seen its head. */
    void onResponseTrailers(Fields trailers) {
        for (int i = passed - 1; i >= 0; i--) {
            current = i;
            filters.get(i).onResponseTrailers(trailers, this);
        }
    }

    /** Whether a filter edits this answer: it has proceeded, or wants to see all answers of the gateway. */
    private boolean sees(int filter) {
        return filter < passed || filters.get(filter).seesAllAnswers();
    }

    /** Returns the fields of the answer to a failure, with what filters add to it. */
    Fields onFailure(Fields given) {
        Fields fields = new Fields();
        for (int i = 0; i < given.size(); i++) {
            fields.add(given.name(i), given.value(i));
        }
        for (int i = filters.size() - 1; i >= 0; i--) {
            if (sees(i)) {
                current = i;
                try {
                    filters.get(i).onFailure(fields, this);
                } catch (RuntimeException e) {
                    log.error("A filter failed at the answer to a failure", e);
                }
            }
        }
        return fields;
    }

    /** Returns the body that the filters choose which the request has passed, the last one first. */
    ErrorBody errorBody(ErrorAnswer answer) {
        for (int i = passed - 1; i >= 0; i--) {
            current = i;
            ErrorBody body = filters.get(i).errorBody(answer, this);
            if (!(body instanceof ErrorBody.Unchanged)) {
                return body;
            }
        }
        return ErrorBody.UNCHANGED;
    }

    /** Shows an interim head to the filters that the request has passed, the last one first. */
    void onInterim(ResponseHead head) {
        for (int i = passed - 1; i >= 0; i--) {
            current = i;
            filters.get(i).onInterim(head, this);
        }
    }

    /** Shows a response to the filters that the request has passed, and to those that see all, the last one first. */
    void onResponse(ResponseHead response) {
        for (int i = filters.size() - 1; i >= 0; i--) {
            if (sees(i)) {
                current = i;
                filters.get(i).onResponse(response, this);
            }
        }
    }
}
