package dev.gateway.filter.errorpages;

import dev.gateway.config.yaml.schema.filter.FilterType;
import dev.gateway.config.yaml.schema.listener.ErrorPagesSchema;
import dev.gateway.files.StartException;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFeature;
import dev.gateway.filter.FilterSite;

/** Filter type ErrorPages. */
public final class ErrorPagesFeature implements FilterFeature<ErrorPagesFilterConfig> {
    static final String NAME = "ErrorPages";

    private static final FilterType<ErrorPagesFilterConfig, ?> TYPE = new FilterType<>(
                    NAME,
                    "errorPages",
                    ErrorPagesFilterConfig.class,
                    ErrorPagesSchema.ERROR_PAGES,
                    (position, pages) -> new ErrorPagesFilterConfig(pages),
                    ErrorPagesFilterConfig::pages)
            .alsoCalled("errors"); // Traefik

    @Override
    public FilterType<ErrorPagesFilterConfig, ?> type() {
        return TYPE;
    }

    @Override
    public Filter create(ErrorPagesFilterConfig config, FilterSite site) throws StartException {
        return ErrorPageFiles.pages(config.pages(), site.states());
    }
}
