package dev.gateway.assembly;

import dev.gateway.config.FilterConfig;
import dev.gateway.config.HeaderValueFile;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFile;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.rewrite.DirectResponse;
import dev.gateway.filter.rewrite.FieldEdits;
import dev.gateway.filter.rewrite.FieldValue;
import dev.gateway.filter.rewrite.PathRewrite;
import dev.gateway.filter.rewrite.RequestRedirect;
import dev.gateway.message.FieldName;
import dev.gateway.process.StartException;
import io.netty.util.AsciiString;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes filters that edit requests and responses, or answer. */
final class RewriteFilters {
    private RewriteFilters() {}

    static Filter redirect(FilterConfig.RequestRedirect config, FilterSite site) throws StartException {
        Integer port = config.port();
        return new RequestRedirect(
                config.scheme(),
                config.hostname(),
                port == null ? 0 : port,
                path(config.path()),
                config.statusCode(),
                fields(config.headers(), site));
    }

    static Filter directResponse(FilterConfig.DirectResponse config, FilterSite site) throws StartException {
        List<FieldEdits.Field> fields = fields(config.headers(), site);
        if (config.contentType() != null) {
            fields.add(FieldEdits.Field.of("Content-Type", config.contentType()));
        }
        return new DirectResponse(config.statusCode(), fields, config.body().getBytes(StandardCharsets.UTF_8));
    }

    static @Nullable PathRewrite path(FilterConfig.@Nullable PathRewrite rewrite) {
        if (rewrite == null) {
            return null;
        }
        return switch (rewrite.type()) {
            case REPLACE_FULL_PATH -> PathRewrite.full(rewrite.value());
            case REPLACE_PREFIX_MATCH -> PathRewrite.prefix(rewrite.value());
        };
    }

    static FieldEdits edits(FilterConfig.HeaderEdits edits, FilterSite site) throws StartException {
        return new FieldEdits(
                fields(edits.set(), site),
                fields(edits.add(), site),
                edits.remove().stream().map(FieldName::of).toList());
    }

    /** Returns the fields; the list may be added to. */
    private static List<FieldEdits.Field> fields(List<FilterConfig.Header> headers, FilterSite site)
            throws StartException {
        List<FieldEdits.Field> fields = new ArrayList<>();
        for (FilterConfig.Header header : headers) {
            fields.add(
                    header.file() == null
                            ? FieldEdits.Field.of(header.name(), header.value())
                            : new FieldEdits.Field(FieldName.of(header.name()), value(header, header.file(), site)));
        }
        return fields;
    }

    private static FieldValue value(FilterConfig.Header header, FilterConfig.ValueFile file, FilterSite site)
            throws StartException {
        FilterFile.Use use = new FilterFile.Use(header.position(), "header " + header.name(), "value");
        return FilterFile.of(file, file.path(), path -> read(file, path), use, site.states())::get;
    }

    private static AsciiString read(FilterConfig.ValueFile file, Path path) throws IOException {
        byte[] bytes = (file.prefix() + HeaderValueFile.read(path)).getBytes(StandardCharsets.ISO_8859_1);
        return new AsciiString(bytes, false);
    }
}
