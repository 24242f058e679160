package dev.gateway.filter.timing;

import dev.gateway.filter.BodyInspector;
import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.InspectionContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.timing.FilterTimes.Phase;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Filter whose calls are measured: the time that it takes from its event loop. The time that a filter waits for something
 * else is not part of it.
 */
public final class TimedFilter implements Filter {
    private final Filter filter;
    private final FilterTimes times;

    /** Makes it. */
    public TimedFilter(Filter filter, FilterTimes times) {
        this.filter = filter;
        this.times = times;
    }

    private void record(Phase phase, long start) {
        times.record(phase, System.nanoTime() - start);
    }

    @Override
    public boolean guards() {
        return filter.guards();
    }

    @Override
    public boolean onlyLimits() {
        return filter.onlyLimits();
    }

    @Override
    public boolean seesAllAnswers() {
        return filter.seesAllAnswers();
    }

    @Override
    public boolean refusesAll() {
        return filter.refusesAll();
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        long start = System.nanoTime();
        try {
            return filter.onRequest(head, context);
        } finally {
            record(Phase.REQUEST, start);
        }
    }

    @Override
    public @Nullable BodyInspector inspector(RequestHead head, InspectionContext context) {
        BodyInspector inspector = filter.inspector(head, context);
        return inspector == null ? null : (soFar, last) -> inspect(inspector, soFar, last);
    }

    private BodyInspector.Result inspect(BodyInspector inspector, ByteBuf soFar, boolean last) {
        long start = System.nanoTime();
        try {
            return inspector.inspect(soFar, last);
        } finally {
            record(Phase.BODY, start);
        }
    }

    @Override
    public @Nullable BodyTransform requestBody(RequestHead head, FilterContext context) {
        return timed(filter.requestBody(head, context));
    }

    @Override
    public void onRequestTrailers(Fields trailers, FilterContext context) {
        long start = System.nanoTime();
        try {
            filter.onRequestTrailers(trailers, context);
        } finally {
            record(Phase.REQUEST, start);
        }
    }

    @Override
    public void onEnd(FilterContext context) {
        filter.onEnd(context);
    }

    @Override
    public void onInterim(ResponseHead head, FilterContext context) {
        filter.onInterim(head, context);
    }

    @Override
    public void onResponse(ResponseHead head, FilterContext context) {
        long start = System.nanoTime();
        try {
            filter.onResponse(head, context);
        } finally {
            record(Phase.RESPONSE, start);
        }
    }

    @Override
    public @Nullable BodyTransform responseBody(ResponseHead head, boolean last, FilterContext context) {
        return timed(filter.responseBody(head, last, context));
    }

    @Override
    public void onFailure(Fields answer, FilterContext context) {
        filter.onFailure(answer, context);
    }

    @Override
    public ErrorBody errorBody(ErrorAnswer answer, FilterContext context) {
        return filter.errorBody(answer, context);
    }

    @Override
    public void onResponseTrailers(Fields trailers, FilterContext context) {
        long start = System.nanoTime();
        try {
            filter.onResponseTrailers(trailers, context);
        } finally {
            record(Phase.RESPONSE, start);
        }
    }

    private @Nullable BodyTransform timed(@Nullable BodyTransform transform) {
        return transform == null ? null : new TimedTransform(transform);
    }

    private final class TimedTransform implements BodyTransform {
        private final BodyTransform transform;

        TimedTransform(BodyTransform transform) {
            this.transform = transform;
        }

        @Override
        public Result transform(ByteBuf in, Input input) {
            long start = System.nanoTime();
            try {
                return transform.transform(in, input);
            } finally {
                record(Phase.BODY, start);
            }
        }

        @Override
        public void close() {
            transform.close();
        }
    }
}
