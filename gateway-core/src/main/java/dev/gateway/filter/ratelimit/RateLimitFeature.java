package dev.gateway.filter.ratelimit;

import dev.gateway.config.yaml.schema.filter.FilterHint;
import dev.gateway.config.yaml.schema.filter.FilterType;
import dev.gateway.files.StartException;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFeature;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.FilterStates;
import dev.gateway.filter.ratelimit.RateLimitConfig.KeyPart;
import dev.gateway.message.FieldName;
import dev.gateway.observe.metrics.Exposition;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;

/** Filter type RateLimit. */
public final class RateLimitFeature implements FilterFeature<RateLimitConfig> {
    static final String NAME = "RateLimit";

    private static final FilterType<RateLimitConfig, ?> TYPE = FilterType.of(
                    NAME, "rateLimit", RateLimitConfig.class, RateLimitSchema.RATE_LIMIT)
            .checkedBy(RateLimitSchema::check)
            .alsoCalled("limitconn limitreq inflightreq localratelimit ratelimiting") // nginx, Traefik, Envoy, Kong
            .hinting(
                    FilterHint.Place.LISTENER_LIMITS,
                    "rate requestsPerSecond",
                    "write filters: [{type: RateLimit, rateLimit: …}] into a rule");

    /**
     * Whose state it is.
     *
     * @param kind rates and requests in flight are counted in different ways
     */
    private record Key<T extends Limit>(String rule, String limit, Class<T> kind)
            implements FilterStates.CountedKey<T> {
        @Override
        public void addTo(Exposition out, T counts) {
            decided(out, "allowed", counts.allowed());
            decided(out, "denied", counts.denied());
        }

        private void decided(Exposition out, String decision, long count) {
            out.counter(
                    "gateway_ratelimit_decisions",
                    "Requests that a limit of a rule let pass or refused.",
                    count,
                    "route",
                    rule,
                    "limit",
                    limit,
                    "decision",
                    decision);
        }
    }

    /** Key of the tables of the process. */
    private record Tables() implements FilterStates.CountedKey<LimitTables> {
        @Override
        public Class<LimitTables> kind() {
            return LimitTables.class;
        }

        @Override
        public void addTo(Exposition out, LimitTables tables) {
            out.counter(
                    "gateway_ratelimit_untracked",
                    "Times that a key of a limit lost its count, or was not counted, because too many others had one.",
                    tables.untracked());
        }
    }

    @Override
    public FilterType<RateLimitConfig, ?> type() {
        return TYPE;
    }

    @Override
    public Filter create(RateLimitConfig config, FilterSite site) throws StartException {
        LimitTables tables = site.states().get(new Tables(), LimitTables::new);
        List<RateLimit.Limited> limits = new ArrayList<>();
        for (RateLimitConfig.Limit limit : config.limits()) {
            limits.add(limited(limit, tables, site));
        }
        return new RateLimit(tables, limits, config.includeHeaders());
    }

    private static RateLimit.Limited limited(RateLimitConfig.Limit limit, LimitTables tables, FilterSite site)
            throws StartException {
        LimitKey key =
                new LimitKey(limit.key().stream().map(RateLimitFeature::part).toList());
        String detail = "limit " + limit.name() + " is exceeded: " + limit.most();
        RateLimitConfig.Rate rate = limit.rate();
        if (rate == null) {
            return new RateLimit.Limited(
                    concurrency(limit, tables, site),
                    key,
                    new LimitPolicy(limit.name(), limit.maxInFlight(), 0, LimitPolicy.CONCURRENT_REQUESTS),
                    detail);
        }
        long millis = rate.interval().toMillis();
        boolean ofBytes = rate.unit() == RateLimitConfig.Unit.BYTES;
        return new RateLimit.Limited(
                ofBytes ? bytes(limit, rate, tables, site) : requests(limit, rate, tables, site),
                key,
                new LimitPolicy(
                        limit.name(),
                        rate.quota(),
                        millis % 1_000 == 0 ? millis / 1_000 : 0,
                        ofBytes ? LimitPolicy.CONTENT_BYTES : null),
                detail);
    }

    private static Limit bytes(
            RateLimitConfig.Limit limit, RateLimitConfig.Rate rate, LimitTables tables, FilterSite site)
            throws StartException {
        Key<ByteLimit> key = new Key<>(site.rule(), limit.name(), ByteLimit.class);
        ByteLimit state = site.states().get(key, () -> new ByteLimit(tables, rate));
        site.states().onUse(key, () -> state.change(rate));
        return state;
    }

    private static Limit concurrency(RateLimitConfig.Limit limit, LimitTables tables, FilterSite site)
            throws StartException {
        Key<ConcurrencyLimit> key = new Key<>(site.rule(), limit.name(), ConcurrencyLimit.class);
        int max = limit.maxInFlight();
        ConcurrencyLimit state = site.states().get(key, () -> new ConcurrencyLimit(tables, max));
        site.states().onUse(key, () -> state.change(max));
        return state;
    }

    private static Limit requests(
            RateLimitConfig.Limit limit, RateLimitConfig.Rate rate, LimitTables tables, FilterSite site)
            throws StartException {
        String store = limit.store();
        if (store != null) {
            return shared(limit.name(), rate, new StoreKey(store).find(site.states()), tables, site);
        }
        Key<RequestLimit> key = new Key<>(site.rule(), limit.name(), RequestLimit.class);
        RequestLimit state = site.states().get(key, () -> new RequestLimit(tables, rate));
        site.states().onUse(key, () -> state.change(rate));
        return state;
    }

    private static Limit shared(
            String name, RateLimitConfig.Rate rate, LimitStore store, LimitTables tables, FilterSite site)
            throws StartException {
        Key<SharedLimit> key = new Key<>(site.rule(), name, SharedLimit.class);
        SharedLimit state =
                site.states().get(key, () -> new SharedLimit(tables, rate, site.rule() + ':' + name, store));
        site.states().onUse(key, () -> state.change(rate, store));
        return state;
    }

    private static LimitKey.Part part(KeyPart part) {
        if (part.client()) {
            return LimitKey.client();
        } else if (part.header() != null) {
            return LimitKey.header(FieldName.of(part.header()));
        } else if (part.cookie() != null) {
            return LimitKey.cookie(new AsciiString(part.cookie()));
        } else if (part.claim() != null) {
            return LimitKey.claim(part.claim());
        }
        return part.queryParameter() != null
                ? LimitKey.queryParameter(new AsciiString(part.queryParameter()))
                : LimitKey.identity();
    }
}
