package dev.gateway.filter.assembly;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.schema.filter.FilterSlot;
import dev.gateway.config.yaml.schema.filter.FilterType;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import dev.gateway.filter.headers.HeaderEdits;
import dev.gateway.filter.headers.RequestHeaderModifierConfig;
import dev.gateway.filter.redirect.RequestRedirectConfig;
import dev.gateway.filter.urlrewrite.UrlRewriteConfig;
import dev.gateway.plugin.FilterPlace;
import java.util.List;
import org.junit.jupiter.api.Test;

class BuiltInFiltersTest {
    private static final Position AT = new Position("gateway.yaml", 1, 1);

    private final List<FilterSlot> slots = new BuiltInFilters().inOrder();

    private static FilterConfig headers(int line) {
        Position at = new Position("gateway.yaml", line, 1);
        return new RequestHeaderModifierConfig(at, new HeaderEdits(at, List.of(), List.of(), List.of()));
    }

    @Test
    void filtersRunInTheOneOrderWhateverTheConfiguredOrder() {
        FilterConfig rewrite = new UrlRewriteConfig(AT, "b.test", null);
        FilterConfig first = headers(2);
        FilterConfig redirect = new RequestRedirectConfig(AT, null, "c.test", null, null, 302, List.of());
        FilterConfig second = headers(3);
        assertThat(FilterTypes.inOrder(List.of(rewrite, first, redirect, second)))
                .containsExactly(redirect, first, second, rewrite);
    }

    @Test
    void theConfigurationFindsEachTypeOnce() {
        List<String> names = slots.stream()
                .filter(FilterType.class::isInstance)
                .map(slot -> ((FilterType<?, ?>) slot).name())
                .toList();
        assertThat(names).doesNotHaveDuplicates().isEqualTo(FilterTypes.BUILT_IN.names());
    }

    @Test
    void eachPlaceForPluginsStandsOnce() {
        assertThat(slots.stream().filter(FilterSlot.Plugins.class::isInstance))
                .containsExactly(
                        new FilterSlot.Plugins(FilterPlace.ACCESS),
                        new FilterSlot.Plugins(FilterPlace.AUTHENTICATION),
                        new FilterSlot.Plugins(FilterPlace.REQUEST),
                        new FilterSlot.Plugins(FilterPlace.UPSTREAM));
    }
}
