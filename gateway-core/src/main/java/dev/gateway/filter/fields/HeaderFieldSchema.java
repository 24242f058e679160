package dev.gateway.filter.fields;

import dev.gateway.config.value.FramingFields;
import dev.gateway.config.yaml.schema.observe.ForeignPlaceholders;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Secrets;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.filter.RequestWord;
import dev.gateway.filter.fields.HeaderField.ValueFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Header fields that filters write, key by key. */
public final class HeaderFieldSchema {
    /** A field. */
    public static final ObjectType<HeaderField> HEADER =
            ObjectType.of("header", "A header field. It has either value or valueFile.", o -> {
                var name = o.required("name", Types.HEADER_NAME, HeaderField::name, "Name of the field.");
                var value = o.optional(
                        "value",
                        Types.HEADER_VALUE,
                        HeaderFieldSchema::shown,
                        "Value of the field. Words such as {client} and {requestId} stand for what is known of the request; "
                                + "the page on routing lists them. If nothing is left of the value, or a word says what no field "
                                + "can have, the gateway leaves the field out. Other braces stay as they are.");
                var file = o.optional(
                        "valueFile",
                        Types.PATH,
                        header -> header.file() == null ? null : header.file().path(),
                        "File with the value in one line, for credentials. The gateway reads it again when it "
                                + "changes.");
                var prefix = o.optional(
                        "valuePrefix",
                        Types.HEADER_VALUE_PREFIX,
                        header ->
                                header.file() == null || header.file().prefix().isEmpty()
                                        ? null
                                        : header.file().prefix(),
                        "Text before the value of valueFile, such as 'Bearer '.");
                o.pair("name", "value");
                o.exactlyOneOf("value", "valueFile");
                o.constraint(
                        values -> values.has("valuePrefix") && !values.has("valueFile")
                                ? new ObjectType.Finding(
                                        "valuePrefix", "valuePrefix needs valueFile: write it into value")
                                : null,
                        Map.of("dependentRequired", Map.of("valuePrefix", List.of("valueFile"))));
                return v -> {
                    refuseFraming(v, "name", v.get(name));
                    String written = v.find(value);
                    String before = v.find(prefix);
                    Path path = v.find(file);
                    if (path != null) {
                        try {
                            HeaderValueFile.read(path);
                        } catch (IOException e) {
                            v.error(v.at("valueFile"), "valueFile: " + e.getMessage());
                        }
                    }
                    String literal = written == null || Secrets.isSecret(v.get(name), v.written("value"))
                            ? null
                            : literal(v.written("value"));
                    if (literal != null) {
                        v.warning(v.at("value"), "value: " + literal);
                    }
                    return new HeaderField(
                            v.position(),
                            v.get(name),
                            written == null ? "" : written,
                            path == null ? null : new ValueFile(path, before == null ? "" : before),
                            Secrets.isSecret(v.get(name), v.written("value")));
                };
            });

    private HeaderFieldSchema() {}

    /** Reports the name of a header field that cannot be written, because the gateway itself decides about it. */
    public static void refuseFraming(Values v, String key, String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        if (FramingFields.NAMES.contains(lower)) {
            v.error(
                    v.at(key),
                    key + ": '" + name
                            + "' cannot be changed: the gateway sets it, because framing and routing depend on it"
                            + (lower.equals("host") ? " (change the host with URLRewrite or preserveHost)" : ""));
        }
    }

    /** Returns what to say of a value that somebody may expect to be replaced, null if there is no such part. */
    private static @Nullable String literal(String value) {
        String foreign = ForeignPlaceholders.inValue(value);
        return foreign != null ? foreign : ForeignPlaceholders.unknownWord(value, RequestWord.texts());
    }

    private static @Nullable String shown(HeaderField header) {
        return header.file() != null ? null : header.secret() ? Secrets.MASK : header.value();
    }
}
