package dev.gateway.filter.bodylimit;

import dev.gateway.config.yaml.schema.filter.FilterType;
import dev.gateway.config.yaml.schema.filter.RuleSite;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFeature;
import dev.gateway.filter.FilterSite;
import dev.gateway.format.Sizes;

/** Filter type BodyLimit. */
public final class BodyLimitFeature implements FilterFeature<BodyLimitConfig> {
    static final String NAME = "BodyLimit";

    private static final ObjectType<BodyLimitConfig> SETTINGS = ObjectType.of(
            "bodyLimit section",
            "Refuses requests with a larger body: 413 with the cause body_too_large. Without Content-Length, the "
                    + "gateway counts the bytes that arrive.",
            o -> {
                var bytes = o.required(
                        "maxBytes",
                        Types.SIZE,
                        BodyLimitConfig::maxBytes,
                        "Maximum size of a request body, as the client sends it. The limit of the listener "
                                + "(limits.maxBody) holds, too.");
                o.foreign("max maxSize limit", "maxBytes");
                return v -> {
                    v.refuseZero("maxBytes", v.get(bytes));
                    return new BodyLimitConfig(v.position(), v.get(bytes));
                };
            });

    private static final FilterType<BodyLimitConfig, ?> TYPE = FilterType.of(
                    NAME, "bodyLimit", BodyLimitConfig.class, SETTINGS)
            .checkedBy(BodyLimitFeature::check)
            .alsoCalled("clientmaxbodysize buffering bodysize requestsize"); // nginx, Traefik

    @Override
    public FilterType<BodyLimitConfig, ?> type() {
        return TYPE;
    }

    @Override
    public Filter create(BodyLimitConfig config, FilterSite site) {
        return new BodyLimit(config.maxBytes());
    }

    /** The limit of a listener is checked before the route is found, so no rule can allow more. */
    private static void check(BodyLimitConfig filter, RuleSite site) {
        site.listeners().stream()
                .filter(listener ->
                        listener.limits().maxBody() > 0 && listener.limits().maxBody() <= filter.maxBytes())
                .findFirst()
                .ifPresent(listener -> site.warning(
                        filter.position(),
                        "maxBytes: listener '" + listener.name() + "' allows no more than "
                                + Sizes.print(listener.limits().maxBody()) + " (limits.maxBody)"));
    }
}
