package dev.gateway.filter.headers;

import dev.gateway.config.value.Position;
import dev.gateway.files.StartException;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.fields.ConfiguredFields;
import dev.gateway.filter.fields.FieldEdits;
import dev.gateway.filter.fields.HeaderField;
import dev.gateway.message.FieldName;
import java.util.List;

/**
 * Edits of a header. The gateway removes first, then sets, then adds.
 *
 * @param set replace all fields of that name by one
 * @param add append one
 * @param remove names of which all fields are taken away
 */
public record HeaderEdits(Position position, List<HeaderField> set, List<HeaderField> add, List<String> remove) {
    public HeaderEdits {
        set = List.copyOf(set);
        add = List.copyOf(add);
        remove = List.copyOf(remove);
    }

    /** Returns them as a filter does them. */
    FieldEdits at(FilterSite site) throws StartException {
        return new FieldEdits(
                ConfiguredFields.of(set, site),
                ConfiguredFields.of(add, site),
                remove.stream().map(FieldName::of).toList());
    }
}
