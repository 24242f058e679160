package dev.gateway.filter.fields;

import dev.gateway.files.StartException;
import dev.gateway.filter.FilterFile;
import dev.gateway.filter.FilterSite;
import dev.gateway.message.FieldName;
import io.netty.util.AsciiString;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Configured header fields as filters write them; files of values are watched. */
public final class ConfiguredFields {
    private ConfiguredFields() {}

    /**
     * Returns the fields; the list may be added to.
     *
     * @throws StartException if a file has no value
     */
    public static List<FieldEdits.Field> of(List<HeaderField> headers, FilterSite site) throws StartException {
        List<FieldEdits.Field> fields = new ArrayList<>();
        for (HeaderField header : headers) {
            fields.add(
                    header.file() == null
                            ? FieldEdits.Field.of(header.name(), header.value())
                            : new FieldEdits.Field(FieldName.of(header.name()), value(header, header.file(), site)));
        }
        return fields;
    }

    private static FieldValue value(HeaderField header, HeaderField.ValueFile file, FilterSite site)
            throws StartException {
        FilterFile.Use use = new FilterFile.Use(header.position(), "header " + header.name(), "value");
        return FilterFile.of(file, file.path(), path -> read(file, path), use, site.states())::get;
    }

    private static AsciiString read(HeaderField.ValueFile file, Path path) throws IOException {
        byte[] bytes = (file.prefix() + HeaderValueFile.read(path)).getBytes(StandardCharsets.ISO_8859_1);
        return new AsciiString(bytes, false);
    }
}
