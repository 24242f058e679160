package dev.gateway.filter.fields;

import dev.gateway.filter.FilterContext;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.OddNames;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;

/**
 * Edits of a header section, in this order: remove, set (replace all of that name by one), add (keep what is there).
 * Immutable except for values that change.
 */
public record FieldEdits(List<Field> set, List<Field> add, List<FieldName> remove) {
    /** Frames the message or belongs to one connection: the gateway writes these itself. */
    private static final Set<FieldName> OWN = Set.of(
            FieldName.CONTENT_LENGTH,
            FieldName.TRANSFER_ENCODING,
            FieldName.CONNECTION,
            FieldName.KEEP_ALIVE,
            FieldName.PROXY_CONNECTION,
            FieldName.UPGRADE,
            FieldName.HTTP2_SETTINGS,
            FieldName.TE);

    /** Edits nothing. */
    public static final FieldEdits NONE = new FieldEdits(List.of(), List.of(), List.of());

    /** One field to write. */
    public record Field(FieldName name, FieldValue value) {
        /**
         * Makes one of what was configured; other characters than ASCII become UTF-8, as conditions on headers read them.
         *
         * @throws IllegalArgumentException if the name is not a token, or the value could break the message
         */
        public static Field of(String name, String value) {
            String trimmed = value.strip();
            if (!trimmed.chars().allMatch(c -> c == '\t' || (c >= ' ' && c != 0x7f))) {
                throw new IllegalArgumentException("not a field value: control characters in " + name);
            }
            RequestTemplate template = RequestTemplate.of(trimmed);
            if (template != null) {
                return new Field(FieldName.of(name), template);
            }
            byte[] bytes = trimmed.getBytes(StandardCharsets.UTF_8);
            AsciiString constant = new AsciiString(bytes, false);
            return new Field(FieldName.of(name), () -> constant);
        }
    }

    /**
     * Makes edits.
     *
     * @throws IllegalArgumentException if a field is among those that only the gateway may write
     */
    public FieldEdits {
        set = List.copyOf(set);
        add = List.copyOf(add);
        remove = List.copyOf(remove);
        set.forEach(field -> check(field.name()));
        add.forEach(field -> check(field.name()));
        remove.forEach(FieldEdits::check);
    }

    private static void check(FieldName name) {
        if (OWN.contains(name)) {
            throw new IllegalArgumentException("a filter cannot edit " + name + ": it frames the message");
        }
    }

    /**
     * Deletes from trailers, or from an interim head, what is removed or set in the head, which it would have another value
     * of. Adds nothing.
     */
    public void takeOut(Fields fields) {
        for (int i = 0; i < remove.size(); i++) {
            fields.remove(remove.get(i));
        }
        for (int i = 0; i < set.size(); i++) {
            fields.remove(set.get(i).name());
        }
    }

    /**
     * Deletes from a request, or its trailers, what an upstream may read as a field that is removed or set. Who removes {@code
     * X_User} keeps the ordinary {@code X-User}; who sets it wants no client to say another. To be called before the edits: fields
     * that they set may look alike.
     */
    public void removeTwins(Fields request) {
        for (int i = 0; i < remove.size(); i++) {
            OddNames.removeOddTwins(request, remove.get(i));
        }
        for (int i = 0; i < set.size(); i++) {
            OddNames.removeTwins(request, set.get(i).name());
        }
    }

    /** Edits fields, with values for one exchange. */
    public void apply(Fields fields, FilterContext context) {
        // By index: no iterator for each request.
        for (int i = 0; i < remove.size(); i++) {
            fields.remove(remove.get(i));
        }
        for (int i = 0; i < set.size(); i++) {
            AsciiString value = set.get(i).value().get(context);
            if (value == null) {
                fields.remove(set.get(i).name());
            } else {
                fields.set(set.get(i).name(), value);
            }
        }
        for (int i = 0; i < add.size(); i++) {
            AsciiString value = add.get(i).value().get(context);
            if (value != null) {
                fields.add(add.get(i).name(), value);
            }
        }
    }
}
