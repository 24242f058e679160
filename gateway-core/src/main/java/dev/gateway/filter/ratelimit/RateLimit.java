package dev.gateway.filter.ratelimit;

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
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Rate limiting, concurrency limiting and byte quotas: a request passes if each limit has room for it, and else takes nothing from any.
 * What limits have counted outlives the filter.
 */
public final class RateLimit implements Filter {
    private final KeyedHash hash;
    private final Limit[] limits;
    private final LimitKey[] keys;
    private final Failure[] refusals;
    private final @Nullable LimitFields fields; // null if responses have none
    private final boolean remembers; // what was taken: for the fields of the response, or to be returned at the end
    private final int stored; // the first of those that count in stores
    private final boolean countsBytes;

    /**
     * A limit of the rule.
     *
     * @param policy how responses name it
     * @param detail what the log says of requests that it refuses
     */
    public record Limited(Limit limit, LimitKey key, LimitPolicy policy, String detail) {}

    /** What a request has taken. */
    private static final class Taken {
        private final long[] amounts;
        private final long @Nullable [] keys; // of what; null if no limit needs them when the request ends

        Taken(long[] amounts, long @Nullable [] keys) {
            this.amounts = amounts;
            this.keys = keys;
        }
    }

    /**
     * Makes the filter.
     *
     * @param announces whether responses have the fields {@code RateLimit} and {@code RateLimit-Policy}
     */
    public RateLimit(LimitTables tables, List<Limited> limits, boolean announces) {
        List<Limited> limited = limits.stream()
                .sorted(Comparator.comparing(each -> each.limit instanceof SharedLimit)) // these may have to ask
                .toList();
        this.stored = (int) limited.stream()
                .filter(each -> !(each.limit instanceof SharedLimit))
                .count();
        this.hash = tables.hash();
        this.limits = limited.stream().map(Limited::limit).toArray(Limit[]::new);
        this.keys = limited.stream().map(Limited::key).toArray(LimitKey[]::new);
        this.refusals = limited.stream()
                .map(each -> Failure.of(Cause.RATE_LIMITED, each.detail))
                .toArray(Failure[]::new);
        this.fields = announces
                ? new LimitFields(limited.stream().map(Limited::policy).toList())
                : null;
        this.countsBytes = limited.stream().anyMatch(each -> each.limit instanceof ByteLimit);
        this.remembers = announces
                || countsBytes
                || stored < limited.size()
                || limited.stream().anyMatch(each -> each.limit instanceof ConcurrencyLimit);
    }

    @Override
    public boolean guards() {
        return true;
    }

    @Override
    public boolean onlyLimits() {
        return true;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        long nanos = context.nanoTime();
        long[] taken = remembers ? new long[limits.length] : null;
        for (int i = 0; i < stored; i++) {
            long result = limits[i].take(key(i, head, context), nanos);
            if (result < 0) {
                giveBack(i, taken, head, context);
                return refuse(i, result);
            }
            if (taken != null) {
                taken[i] = result;
            }
        }
        return taken != null && stored < limits.length
                ? new StoredCheck(new InStores(), head, context, taken, stored).begin()
                : allow(taken, head, context);
    }

    private Verdict allow(long @Nullable [] taken, RequestHead head, FilterContext context) {
        for (Limit limit : limits) {
            limit.countAllowed();
        }
        if (taken != null) {
            context.keep(new Taken(taken, countsBytes ? keys(head, context) : null));
        }
        return Verdict.PROCEED;
    }

    /** What those that count in stores need of the others. */
    private final class InStores implements StoredCheck.Limits {
        @Override
        public SharedLimit shared(int index) {
            return (SharedLimit) limits[index];
        }

        @Override
        public LimitKey storeKey(int index) {
            return keys[index];
        }

        @Override
        public long key(int index, RequestHead head, FilterContext context) {
            return RateLimit.this.key(index, head, context);
        }

        @Override
        public Verdict allow(long[] taken, RequestHead head, FilterContext context) {
            return RateLimit.this.allow(taken, head, context);
        }

        @Override
        public Verdict refuse(int index, long result) {
            return RateLimit.this.refuse(index, result);
        }

        @Override
        public Verdict refuseUncounted(int index, String store) {
            Failure failure = Failure.of(Cause.RATE_LIMITED, "store " + store + " does not answer");
            return RateLimit.this.refuse(index, 1, failure);
        }

        @Override
        public void giveBack(int index, long taken, RequestHead head, FilterContext context) {
            RateLimit.this.giveBack(index, taken, head, context);
        }
    }

    private long key(int index, RequestHead head, FilterContext context) {
        return keys[index].of(hash, limits[index].purpose(), head, context);
    }

    private long[] keys(RequestHead head, FilterContext context) {
        long[] all = new long[limits.length];
        for (int i = 0; i < all.length; i++) {
            all[i] = limits[i] instanceof ByteLimit ? key(i, head, context) : 0;
        }
        return all;
    }

    private void giveBack(int count, long @Nullable [] taken, RequestHead head, FilterContext context) {
        for (int i = 0; i < count; i++) {
            giveBack(i, taken == null ? 0 : taken[i], head, context);
        }
    }

    private void giveBack(int index, long taken, RequestHead head, FilterContext context) {
        limits[index].giveBack(key(index, head, context), taken);
    }

    private Verdict refuse(int index, long result) {
        return refuse(index, limits[index].secondsToWait(result), refusals[index]);
    }

    private Verdict refuse(int index, long seconds, Failure failure) {
        limits[index].countDenied();
        Fields added = new Fields();
        added.add(FieldName.RETRY_AFTER, Long.toString(seconds));
        if (fields != null) {
            fields.addRefused(added, index, seconds);
        }
        return new Verdict.Refuse(failure, added);
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
        if (fields != null && context.kept() instanceof Taken taken) {
            fields.add(to, limits, taken.amounts);
        }
    }

    @Override
    public void onEnd(FilterContext context) {
        if (context.kept() instanceof Taken taken) {
            long bytes = context.movedBytes();
            long nanos = context.nanoTime();
            for (int i = 0; i < limits.length; i++) {
                limits[i].onEnd(taken.keys == null ? 0 : taken.keys[i], taken.amounts[i], bytes, nanos);
            }
        }
    }
}
