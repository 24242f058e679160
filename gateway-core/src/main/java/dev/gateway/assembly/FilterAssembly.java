package dev.gateway.assembly;

import dev.gateway.config.FilterConfig;
import dev.gateway.config.RuleConfig;
import dev.gateway.filter.FilterOrder;
import dev.gateway.filter.FilterOrder.Placed;
import dev.gateway.filter.rewrite.DirectResponse;
import dev.gateway.filter.rewrite.FieldEdits;
import dev.gateway.filter.rewrite.PathRewrite;
import dev.gateway.filter.rewrite.RequestHeaderModifier;
import dev.gateway.filter.rewrite.RequestRedirect;
import dev.gateway.filter.rewrite.ResponseHeaderModifier;
import dev.gateway.filter.rewrite.UrlRewrite;
import dev.gateway.message.FieldName;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Filter factory: turns configured filters into those that requests pass. */
public final class FilterAssembly {
    /** For questions about filters that no request passes: reads no files. */
    private static final FilterAssembly UNUSED = new FilterAssembly(file -> () -> AsciiString.EMPTY_STRING);

    private final Function<FilterConfig.ValueFile, FieldEdits.Value> files;

    /**
     * Makes one.
     *
     * @param files values of header fields that files have
     */
    public FilterAssembly(Function<FilterConfig.ValueFile, FieldEdits.Value> files) {
        this.files = files;
    }

    /** Returns the filters of a rule as they are written; the list may be added to. */
    List<Placed> all(RuleConfig rule) {
        List<Placed> filters = new ArrayList<>();
        rule.filters().forEach(filter -> filters.add(filter(filter)));
        return filters;
    }

    /** Returns the filters of a rule in the order in which they see requests. */
    public static List<FilterConfig> inOrder(List<FilterConfig> filters) {
        List<FilterConfig> sorted = new ArrayList<>(filters);
        sorted.sort(Comparator.comparing(each -> UNUSED.filter(each).place()));
        return sorted;
    }

    /** Whether a rule refuses requests, or asks who sends them. */
    public static boolean guards(RuleConfig rule) {
        return rule.filters().stream()
                .anyMatch(each -> UNUSED.filter(each).filter().guards());
    }

    private Placed filter(FilterConfig config) {
        if (config instanceof FilterConfig.RequestHeaderModifier modifier) {
            return new Placed(FilterOrder.REQUEST_HEADER_MODIFIER, new RequestHeaderModifier(edits(modifier.edits())));
        } else if (config instanceof FilterConfig.ResponseHeaderModifier modifier) {
            return new Placed(
                    FilterOrder.RESPONSE_HEADER_MODIFIER, new ResponseHeaderModifier(edits(modifier.edits())));
        } else if (config instanceof FilterConfig.RequestRedirect redirect) {
            Integer port = redirect.port();
            return new Placed(
                    FilterOrder.REQUEST_REDIRECT,
                    new RequestRedirect(
                            redirect.scheme(),
                            redirect.hostname(),
                            port == null ? 0 : port,
                            path(redirect.path()),
                            redirect.statusCode()));
        } else if (config instanceof FilterConfig.UrlRewrite rewrite) {
            return new Placed(FilterOrder.URL_REWRITE, new UrlRewrite(rewrite.hostname(), path(rewrite.path())));
        } else if (config instanceof FilterConfig.DirectResponse direct) {
            List<FieldEdits.Field> fields = new ArrayList<>(fields(direct.headers()));
            if (direct.contentType() != null) {
                fields.add(FieldEdits.Field.of("Content-Type", direct.contentType()));
            }
            return new Placed(
                    FilterOrder.DIRECT_RESPONSE,
                    new DirectResponse(
                            direct.statusCode(), fields, direct.body().getBytes(StandardCharsets.UTF_8)));
        }
        throw new IllegalArgumentException("a filter of an unknown kind: " + config.getClass());
    }

    private static @Nullable PathRewrite path(FilterConfig.@Nullable PathRewrite rewrite) {
        if (rewrite == null) {
            return null;
        }
        return switch (rewrite.type()) {
            case REPLACE_FULL_PATH -> PathRewrite.full(rewrite.value());
            case REPLACE_PREFIX_MATCH -> PathRewrite.prefix(rewrite.value());
        };
    }

    private FieldEdits edits(FilterConfig.HeaderEdits edits) {
        return new FieldEdits(
                fields(edits.set()),
                fields(edits.add()),
                edits.remove().stream().map(FieldName::of).toList());
    }

    private List<FieldEdits.Field> fields(List<FilterConfig.Header> headers) {
        return headers.stream()
                .map(header -> header.file() == null
                        ? FieldEdits.Field.of(header.name(), header.value())
                        : new FieldEdits.Field(FieldName.of(header.name()), files.apply(header.file())))
                .toList();
    }
}
