package dev.gateway.config.yaml.schema;

import dev.gateway.config.FilterConfig.DirectResponse;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;
import java.util.List;

/** Filter that answers without an upstream, key by key. */
final class DirectResponseSchema {
    /** Settings. */
    static final ObjectType<DirectResponse> DIRECT =
            ObjectType.of("directResponse section", "Answers without an upstream.", o -> {
                var status = o.defaulted(
                        "statusCode",
                        Types.integer(200, 599),
                        200,
                        DirectResponse::statusCode,
                        "Status of the answer.");
                var contentType = o.optional(
                        "contentType",
                        Types.HEADER_VALUE,
                        DirectResponse::contentType,
                        "Content type. The default is text/plain; charset=utf-8 if there is a body.");
                var body = o.defaulted(
                        "body",
                        Types.TEXT,
                        "",
                        DirectResponse::body,
                        "Body of the answer, which the gateway sends as UTF-8.");
                var headers = o.defaulted(
                        "headers",
                        new ListType<>(HeaderFieldSchema.HEADER, 0),
                        List.of(),
                        DirectResponse::headers,
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
                    return new DirectResponse(v.position(), code, written, text, v.get(headers));
                };
            });

    private DirectResponseSchema() {}
}
