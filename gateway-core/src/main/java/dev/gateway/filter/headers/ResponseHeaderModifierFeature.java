package dev.gateway.filter.headers;

import dev.gateway.config.yaml.schema.filter.FilterHint;
import dev.gateway.config.yaml.schema.filter.FilterType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.files.StartException;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFeature;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.headers.HeaderEditsSchema.EditKeys;

/** Filter type ResponseHeaderModifier. */
public final class ResponseHeaderModifierFeature implements FilterFeature<ResponseHeaderModifierConfig> {
    static final String NAME = "ResponseHeaderModifier";

    private static final ObjectType<ResponseHeaderModifierConfig> SETTINGS = ObjectType.of(
            "response header edits section",
            "Changes to the header section of responses. The gateway removes, then sets, then adds, whatever the "
                    + "order in the file.",
            o -> {
                EditKeys<ResponseHeaderModifierConfig> keys = EditKeys.of(o, ResponseHeaderModifierConfig::edits);
                var always = o.defaulted(
                        "always",
                        Types.BOOLEAN,
                        false,
                        ResponseHeaderModifierConfig::always,
                        "Whether the edits apply to all of the gateway's own answers of the rule, too: redirects, refusals "
                                + "and failures.");
                return v -> new ResponseHeaderModifierConfig(v.position(), keys.read(v), v.get(always));
            });

    private static final FilterType<ResponseHeaderModifierConfig, ?> TYPE = FilterType.of(
                    NAME, "responseHeaderModifier", ResponseHeaderModifierConfig.class, SETTINGS)
            .hinting(
                    FilterHint.Place.LISTENER_TLS,
                    "hsts",
                    "write a ResponseHeaderModifier with Strict-Transport-Security into the rules");

    @Override
    public FilterType<ResponseHeaderModifierConfig, ?> type() {
        return TYPE;
    }

    @Override
    public Filter create(ResponseHeaderModifierConfig config, FilterSite site) throws StartException {
        return new ResponseHeaderModifier(config.edits().at(site), config.always());
    }
}
