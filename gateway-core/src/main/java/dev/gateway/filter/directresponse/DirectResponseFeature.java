package dev.gateway.filter.directresponse;

import dev.gateway.config.yaml.schema.filter.FilterHint;
import dev.gateway.config.yaml.schema.filter.FilterType;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.files.StartException;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFeature;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.fields.ConfiguredFields;
import dev.gateway.filter.fields.FieldEdits;
import dev.gateway.filter.fields.HeaderFieldSchema;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Filter type DirectResponse. */
public final class DirectResponseFeature implements FilterFeature<DirectResponseConfig> {
    static final String NAME = "DirectResponse";

    private static final ObjectType<DirectResponseConfig> SETTINGS =
            ObjectType.of("directResponse section", "Answers without an upstream.", o -> {
                var status = o.defaulted(
                        "statusCode",
                        Types.integer(200, 599),
                        200,
                        DirectResponseConfig::statusCode,
                        "Status of the answer.");
                var contentType = o.optional(
                        "contentType",
                        Types.HEADER_VALUE,
                        DirectResponseConfig::contentType,
                        "Content type. The default is text/plain; charset=utf-8 if there is a body.");
                var body = o.defaulted(
                        "body",
                        Types.TEXT,
                        "",
                        DirectResponseConfig::body,
                        "Body of the answer, which the gateway sends as UTF-8.");
                var headers = o.defaulted(
                        "headers",
                        new ListType<>(HeaderFieldSchema.HEADER, 0),
                        List.of(),
                        DirectResponseConfig::headers,
                        "Further header fields.");
                o.foreign("bodyFile file", "a file is for errorPages: write body");
                return v -> {
                    int code = v.get(status);
                    String text = v.get(body);
                    if (!text.isEmpty() && (code == 204 || code == 205 || code == 304)) {
                        v.error(v.at("body"), "body: a response with status " + code + " has none");
                    }
                    String type = v.find(contentType);
                    String written = type == null && !text.isEmpty() ? "text/plain; charset=utf-8" : type;
                    return new DirectResponseConfig(v.position(), code, written, text, v.get(headers));
                };
            });

    private static final FilterType<DirectResponseConfig, ?> TYPE = FilterType.of(
                    NAME, "directResponse", DirectResponseConfig.class, SETTINGS)
            .answering()
            .hinting(FilterHint.Place.FILTER_TYPE, "return", "write DirectResponse or RequestRedirect"); // nginx

    @Override
    public FilterType<DirectResponseConfig, ?> type() {
        return TYPE;
    }

    @Override
    public Filter create(DirectResponseConfig config, FilterSite site) throws StartException {
        List<FieldEdits.Field> fields = ConfiguredFields.of(config.headers(), site);
        if (config.contentType() != null) {
            fields.add(FieldEdits.Field.of("Content-Type", config.contentType()));
        }
        return new DirectResponse(config.statusCode(), fields, config.body().getBytes(StandardCharsets.UTF_8));
    }
}
