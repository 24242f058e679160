package dev.gateway.filter.limit;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.KeyedHash;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Rate limiting and concurrency limiting: a request passes if each limit has room for it, and else takes nothing from any.
 * What limits have counted outlives the filter.
 */
public final class RateLimit implements Filter {
    private final KeyedHash hash;
    private final Limit[] limits;
    private final LimitKey[] keys;
    private final Failure[] refusals;
    private final @Nullable LimitFields fields; // null if responses have none
    private final boolean remembers; // what was taken: for the fields of the response, or to be returned at the end

    /**
     * A limit of the rule.
     *
     * @param policy how responses name it
     * @param detail what the log says of requests that it refuses
     */
    public record Limited(Limit limit, LimitKey key, LimitPolicy policy, String detail) {}

    /**
     * Makes the filter.
     *
     * @param announces whether responses have the fields {@code RateLimit} and {@code RateLimit-Policy}
     */
    public RateLimit(LimitTables tables, List<Limited> limited, boolean announces) {
        this.hash = tables.hash();
        this.limits = limited.stream().map(Limited::limit).toArray(Limit[]::new);
        this.keys = limited.stream().map(Limited::key).toArray(LimitKey[]::new);
        this.refusals = limited.stream()
                .map(each -> Failure.of(Cause.RATE_LIMITED, each.detail))
                .toArray(Failure[]::new);
        this.fields = announces
                ? new LimitFields(limited.stream().map(Limited::policy).toList())
                : null;
        this.remembers = announces || limited.stream().anyMatch(each -> each.limit instanceof ConcurrencyLimit);
    }

    @Override
    public boolean guards() {
        return true;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        long nanos = context.nanoTime();
        long[] taken = remembers ? new long[limits.length] : null;
        for (int i = 0; i < limits.length; i++) {
            long result = limits[i].take(key(i, head, context), nanos);
            if (result < 0) {
                giveBack(i, taken, head, context);
                limits[i].countDenied();
                return refusal(i, result);
            }
            if (taken != null) {
                taken[i] = result;
            }
        }
        for (Limit limit : limits) {
            limit.countAllowed();
        }
        if (taken != null) {
            context.keep(taken);
        }
        return Verdict.PROCEED;
    }

    private long key(int index, RequestHead head, FilterContext context) {
        return keys[index].of(hash, limits[index].purpose(), head, context);
    }

    private void giveBack(int count, long @Nullable [] taken, RequestHead head, FilterContext context) {
        for (int i = 0; i < count; i++) {
            limits[i].giveBack(key(i, head, context), taken == null ? 0 : taken[i]);
        }
    }

    private Verdict refusal(int index, long result) {
        long seconds = limits[index].secondsToWait(result);
        Fields added = new Fields();
        added.add(FieldName.RETRY_AFTER, Long.toString(seconds));
        if (fields != null) {
            fields.addRefused(added, index, seconds);
        }
        return new Verdict.Refuse(refusals[index], added);
    }

    @Override
    public void onResponse(ResponseHead head, FilterContext context) {
        addFields(head.fields(), context);
    }

    @Override
    public void onFailure(Fields answer, FilterContext context) {
        addFields(answer, context);
    }

    private void addFields(Fields to, FilterContext context) {
        if (fields != null && context.kept() instanceof long[] taken) {
            fields.add(to, limits, taken);
        }
    }

    @Override
    public void onEnd(FilterContext context) {
        if (context.kept() instanceof long[] taken) {
            for (int i = 0; i < limits.length; i++) {
                limits[i].onEnd(taken[i]);
            }
        }
    }
}
