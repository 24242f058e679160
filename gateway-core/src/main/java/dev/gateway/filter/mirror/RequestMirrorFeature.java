package dev.gateway.filter.mirror;

import dev.gateway.config.yaml.schema.filter.FilterType;
import dev.gateway.config.yaml.schema.filter.RuleSite;
import dev.gateway.config.yaml.schema.filter.UpstreamRefSchema;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ObjectType.Finding;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.files.StartException;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFeature;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.MirrorTarget;
import dev.gateway.filter.mirror.RequestMirrorConfig.Fraction;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/** Filter type RequestMirror. */
public final class RequestMirrorFeature implements FilterFeature<RequestMirrorConfig> {
    static final String NAME = "RequestMirror";

    private static final int ALL = 100;
    private static final int MOST = 1_000_000_000;

    private static final ObjectType<Fraction> FRACTION =
            ObjectType.of("mirror fraction", "A share of the requests, finer than a percentage.", o -> {
                var numerator = o.required(
                        "numerator",
                        Types.integer(0, MOST),
                        Fraction::numerator,
                        "How many requests are copied, out of as many as the denominator says.");
                var denominator = o.defaulted(
                        "denominator",
                        Types.integer(1, MOST),
                        ALL,
                        Fraction::denominator,
                        "Number of requests of which the numerator is a part.");
                return v -> {
                    if (v.get(numerator) > v.get(denominator)) {
                        v.error(
                                v.at("numerator"),
                                "numerator: expected at most the denominator, which is " + v.get(denominator));
                    }
                    return new Fraction(v.position(), v.get(numerator), v.get(denominator));
                };
            });

    private static final ScalarType<Integer> WHOLE = Types.integer(0, ALL);

    /** A percentage, which the fraction can say more finely. */
    private static final ScalarType<Integer> PERCENT = WHOLE.explained(RequestMirrorFeature::finer);

    private static final ObjectType<RequestMirrorConfig> SETTINGS = ObjectType.of(
            "requestMirror section",
            "Sends a copy of requests to another upstream, and drops the answers. The copy has no effect on the request. A "
                    + "rule may have several of these filters.",
            o -> {
                var target = o.required(
                        "backendRef",
                        UpstreamRefSchema.UPSTREAM_REF,
                        RequestMirrorConfig::backendRef,
                        "The upstream that gets the copies. Its limits and health checks hold for them, too.");
                var percent = o.defaulted(
                        "percent",
                        PERCENT,
                        ALL,
                        mirror -> mirror.fraction() == null ? mirror.percent() : null,
                        "Percentage of the requests, chosen at random.");
                var fraction = o.optional(
                        "fraction",
                        FRACTION,
                        RequestMirrorConfig::fraction,
                        "Share of the requests, chosen at random, instead of percent.");
                o.constraint(
                        values -> values.has("percent") && values.has("fraction")
                                ? new Finding("fraction", "write either 'percent' or 'fraction'")
                                : null,
                        Map.of("not", Map.of("required", List.of("percent", "fraction"))));
                return v -> new RequestMirrorConfig(v.position(), v.get(target), v.get(percent), v.find(fraction));
            });

    private static final FilterType<RequestMirrorConfig, ?> TYPE = FilterType.of(
                    NAME, "requestMirror", RequestMirrorConfig.class, SETTINGS)
            .checkedBy(RequestMirrorFeature::check)
            .alsoCalled("mirror mirroring requestmirrorpolicies"); // nginx, Traefik, Envoy

    @Override
    public FilterType<RequestMirrorConfig, ?> type() {
        return TYPE;
    }

    @Override
    public Filter create(RequestMirrorConfig config, FilterSite site) throws StartException {
        String name = config.backendRef().name();
        MirrorTally tally = site.states().get(new MirrorCounts(site.rule(), name), MirrorTally::new);
        Fraction share = config.share();
        return new RequestMirror(
                new MirrorTarget(site.upstream(name), tally),
                share.numerator(),
                share.denominator(),
                bound -> ThreadLocalRandom.current().nextInt(bound));
    }

    /** Returns how a percentage with decimals is written. */
    private static String finer(String text) {
        if (!text.matches("[0-9]{1,2}\\.[0-9]{1,6}")) {
            return "";
        }
        BigDecimal percent = new BigDecimal(text).stripTrailingZeros();
        int decimals = Math.max(0, percent.scale());
        return ": write fraction: {numerator: "
                + percent.movePointRight(decimals).toBigInteger() + ", denominator: "
                + BigDecimal.valueOf(ALL).movePointRight(decimals).toBigInteger() + "}";
    }

    /** Two requests for one may do harm, such as two orders. */
    private static void check(RequestMirrorConfig filter, RuleSite site) {
        String name = filter.backendRef().name();
        if (site.rule().forwarding().backendRefs().stream()
                .anyMatch(ref -> ref.name().equals(name))) {
            site.warning(
                    filter.backendRef().position(),
                    "upstream '" + name + "' also serves the rule, so it gets requests twice: name another upstream");
        }
    }
}
