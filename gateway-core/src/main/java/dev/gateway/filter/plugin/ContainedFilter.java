package dev.gateway.filter.plugin;

import dev.gateway.filter.BodyInspector;
import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.FilterDefect;
import dev.gateway.filter.InspectionContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Filter of a plugin. Whatever it throws, also an error such as of a missing class, becomes a {@link FilterDefect} and fails
 * the exchange that it was called for.
 */
public final class ContainedFilter implements Filter {
    private final Filter filter;
    private final Containment containment;
    private final boolean guards;
    private final boolean refusesAll;

    /**
     * Makes it.
     *
     * @param type of the filter, for logs
     * @param source where the plugin is from, for logs
     * @param guards whether the plugin says that its filters guard
     * @param refusesAll whether the plugin says that they refuse every request
     * @throws RuntimeException whatever the filter throws
     */
    public ContainedFilter(Filter filter, String type, String source, boolean guards, boolean refusesAll) {
        this.filter = filter;
        this.containment = new Containment(type, source);
        this.refusesAll = refusesAll || filter.refusesAll();
        this.guards = guards || this.refusesAll || filter.guards();
    }

    @Override
    public boolean guards() {
        return guards;
    }

    @Override
    public boolean refusesAll() {
        return refusesAll;
    }

    private PluginContext own(FilterContext context) {
        return PluginContext.of(context, containment);
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        PluginContext own = own(context);
        Verdict verdict = containment.required(() -> filter.onRequest(head, own));
        String fault = Containment.fault(verdict);
        if (fault != null) {
            own.onDecided();
            containment.discard(verdict);
            throw containment.defect(new IllegalStateException("returned " + fault));
        }
        if (verdict instanceof Verdict.Wait wait) {
            return new Verdict.Wait(() -> containment.run(wait.cancel()));
        }
        if (own.onDecided()) {
            containment.discard(verdict);
            throw containment.defect(new IllegalStateException("resumed, but returned another verdict than Wait"));
        }
        return verdict;
    }

    @Override
    public @Nullable BodyInspector inspector(RequestHead head, InspectionContext context) {
        PluginContext own = PluginContext.inspecting(context, containment);
        BodyInspector inspector = containment.call(() -> filter.inspector(head, own));
        return inspector == null
                ? null
                : (soFar, last) -> containment.required(() -> checked(inspector.inspect(soFar, last)));
    }

    private static BodyInspector.Result checked(BodyInspector.Result result) {
        if (result instanceof BodyInspector.Refuse refusal) {
            Containment.requireUsable(refusal.failure());
        }
        return result;
    }

    @Override
    public @Nullable BodyTransform requestBody(RequestHead head, FilterContext context) {
        return contained(containment.call(() -> filter.requestBody(head, own(context))));
    }

    @Override
    public @Nullable BodyTransform responseBody(ResponseHead head, boolean last, FilterContext context) {
        return contained(containment.call(() -> filter.responseBody(head, last, own(context))));
    }

    private @Nullable BodyTransform contained(@Nullable BodyTransform transform) {
        return transform == null ? null : new ContainedTransform(transform, containment);
    }

    @Override
    public void onRequestTrailers(Fields trailers, FilterContext context) {
        containment.act(() -> filter.onRequestTrailers(trailers, own(context)));
    }

    @Override
    public void onInterim(ResponseHead head, FilterContext context) {
        containment.act(() -> filter.onInterim(head, own(context)));
    }

    @Override
    public void onEnd(FilterContext context) {
        containment.run(() -> filter.onEnd(own(context)));
    }

    @Override
    public void onResponse(ResponseHead head, FilterContext context) {
        containment.act(() -> filter.onResponse(head, own(context)));
    }

    @Override
    public void onFailure(Fields answer, FilterContext context) {
        containment.run(() -> filter.onFailure(answer, own(context)));
    }

    @Override
    public ErrorBody errorBody(ErrorAnswer answer, FilterContext context) {
        try {
            return Objects.requireNonNull(filter.errorBody(answer, own(context)), "errorBody returned null");
        } catch (Throwable e) {
            containment.defect(e); // the answer is about another failure, and stays as it is
            return ErrorBody.UNCHANGED;
        }
    }

    @Override
    public void onResponseTrailers(Fields trailers, FilterContext context) {
        containment.act(() -> filter.onResponseTrailers(trailers, own(context)));
    }
}
