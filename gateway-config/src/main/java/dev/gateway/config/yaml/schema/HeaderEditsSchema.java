package dev.gateway.config.yaml.schema;

import dev.gateway.config.FilterConfig.Header;
import dev.gateway.config.FilterConfig.HeaderEdits;
import dev.gateway.config.FilterConfig.ResponseHeaderModifier;
import dev.gateway.config.FilterConfig.ValueFile;
import dev.gateway.config.HeaderValueFile;
import dev.gateway.config.yaml.type.Key;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Secrets;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Header fields that filters write, and edits of header sections, key by key. */
final class HeaderEditsSchema {
    /** A field. */
    static final ObjectType<Header> HEADER =
            ObjectType.of("header", "A header field. It has either value or valueFile.", o -> {
                var name = o.required("name", Types.HEADER_NAME, Header::name, "Name of the field.");
                var value = o.optional(
                        "value",
                        Types.HEADER_VALUE,
                        HeaderEditsSchema::shown,
                        "Value of the field. Words such as {client} and {requestId} stand for what is known of the request; "
                                + "the page on routing lists them. If nothing is left of the value, the gateway leaves the field "
                                + "out. Other braces stay as they are.");
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
                    String foreign = written == null ? null : ForeignPlaceholders.inValue(v.written("value"));
                    if (foreign != null && !Secrets.isSecret(v.get(name), v.written("value"))) {
                        v.warning(v.at("value"), "value: " + foreign);
                    }
                    return new Header(
                            v.position(),
                            v.get(name),
                            written == null ? "" : written,
                            path == null ? null : new ValueFile(path, before == null ? "" : before),
                            Secrets.isSecret(v.get(name), v.written("value")));
                };
            });

    /** Edits. */
    static final ObjectType<HeaderEdits> EDITS = ObjectType.of(
            "header edits section",
            "Changes to a header section. The gateway removes, then sets, then adds, whatever the "
                    + "order in the file.",
            o -> {
                EditKeys<HeaderEdits> keys = EditKeys.of(o, edits -> edits);
                return keys::read;
            });

    /** Edits of responses. */
    static final ObjectType<ResponseHeaderModifier> RESPONSE = ObjectType.of(
            "response header edits section",
            "Changes to the header section of responses. The gateway removes, then sets, then adds, whatever the "
                    + "order in the file.",
            o -> {
                EditKeys<ResponseHeaderModifier> keys = EditKeys.of(o, ResponseHeaderModifier::edits);
                var always = o.defaulted(
                        "always",
                        Types.BOOLEAN,
                        false,
                        ResponseHeaderModifier::always,
                        "Whether the edits apply to all of the gateway's own answers of the rule, too: redirects, refusals "
                                + "and failures.");
                return v -> new ResponseHeaderModifier(v.position(), keys.read(v), v.get(always));
            });

    /** The keys of edits. */
    private record EditKeys<T>(Key<T, List<Header>> set, Key<T, List<Header>> add, Key<T, List<String>> remove) {
        static <T> EditKeys<T> of(ObjectType.Declaration<T> o, Function<T, HeaderEdits> edits) {
            o.foreign("delete del unset", "remove");
            return new EditKeys<>(
                    o.defaulted(
                            "set",
                            new ListType<>(HEADER, 0),
                            List.of(),
                            object -> edits.apply(object).set(),
                            "Replaces all fields of each name with one."),
                    o.defaulted(
                            "add",
                            new ListType<>(HEADER, 0),
                            List.of(),
                            object -> edits.apply(object).add(),
                            "Appends a field, and keeps others of its name."),
                    o.defaulted(
                            "remove",
                            new ListType<>(Types.HEADER_NAME, 0),
                            List.of(),
                            object -> edits.apply(object).remove(),
                            "Removes all fields of each name."));
        }

        HeaderEdits read(Values v) {
            for (String name : v.get(remove)) {
                refuseFraming(v, "remove", name);
            }
            if (v.isSound()
                    && v.get(set).isEmpty()
                    && v.get(add).isEmpty()
                    && v.get(remove).isEmpty()) {
                v.warning(v.position(), "this filter changes nothing: write set, add or remove");
            }
            return new HeaderEdits(v.position(), v.get(set), v.get(add), v.get(remove));
        }
    }

    private HeaderEditsSchema() {}

    private static @Nullable String shown(Header header) {
        return header.file() != null ? null : header.secret() ? Secrets.MASK : header.value();
    }

    /** Says that a field of that name cannot be written, if it cannot. */
    static void refuseFraming(Values v, String key, String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        if (HeaderEdits.FRAMING.contains(lower)) {
            v.error(
                    v.at(key),
                    key + ": '" + name
                            + "' cannot be changed: the gateway sets it, because framing and routing depend on it"
                            + (lower.equals("host") ? " (change the host with URLRewrite or preserveHost)" : ""));
        }
    }
}
