package dev.gateway.filter.headers;

import dev.gateway.config.yaml.type.Key;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.filter.fields.HeaderField;
import dev.gateway.filter.fields.HeaderFieldSchema;
import java.util.List;
import java.util.function.Function;

/** Edits of header sections, key by key. */
final class HeaderEditsSchema {
    /** Edits. */
    static final ObjectType<HeaderEdits> EDITS = ObjectType.of(
            "header edits section",
            "Changes to a header section. The gateway removes, then sets, then adds, whatever the "
                    + "order in the file.",
            o -> {
                EditKeys<HeaderEdits> keys = EditKeys.of(o, edits -> edits);
                return keys::read;
            });

    /** The keys of edits. */
    record EditKeys<T>(Key<T, List<HeaderField>> set, Key<T, List<HeaderField>> add, Key<T, List<String>> remove) {
        static <T> EditKeys<T> of(ObjectType.Declaration<T> o, Function<T, HeaderEdits> edits) {
            o.foreign("delete del unset", "remove");
            o.foreign("customRequestHeaders customResponseHeaders", "set"); // Traefik
            return new EditKeys<>(
                    o.defaulted(
                            "set",
                            new ListType<>(HeaderFieldSchema.HEADER, 0),
                            List.of(),
                            object -> edits.apply(object).set(),
                            "Replaces all fields of each name with one."),
                    o.defaulted(
                            "add",
                            new ListType<>(HeaderFieldSchema.HEADER, 0),
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
                HeaderFieldSchema.refuseFraming(v, "remove", name);
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
}
