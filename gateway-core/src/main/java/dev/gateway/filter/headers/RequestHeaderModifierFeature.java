package dev.gateway.filter.headers;

import dev.gateway.config.yaml.schema.filter.FilterHint;
import dev.gateway.config.yaml.schema.filter.FilterType;
import dev.gateway.files.StartException;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFeature;
import dev.gateway.filter.FilterSite;

/** Filter type RequestHeaderModifier. */
public final class RequestHeaderModifierFeature implements FilterFeature<RequestHeaderModifierConfig> {
    static final String NAME = "RequestHeaderModifier";

    private static final FilterType<RequestHeaderModifierConfig, ?> TYPE = new FilterType<>(
                    NAME,
                    "requestHeaderModifier",
                    RequestHeaderModifierConfig.class,
                    HeaderEditsSchema.EDITS,
                    RequestHeaderModifierConfig::new,
                    RequestHeaderModifierConfig::edits)
            .hinting(
                    FilterHint.Place.FILTER_TYPE,
                    "headers headermodifier headermutation",
                    "write RequestHeaderModifier or ResponseHeaderModifier"); // Traefik, Envoy

    @Override
    public FilterType<RequestHeaderModifierConfig, ?> type() {
        return TYPE;
    }

    @Override
    public Filter create(RequestHeaderModifierConfig config, FilterSite site) throws StartException {
        return new RequestHeaderModifier(config.edits().at(site));
    }
}
