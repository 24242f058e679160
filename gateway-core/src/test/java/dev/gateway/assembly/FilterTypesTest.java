package dev.gateway.assembly;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.FilterOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

class FilterTypesTest {
    /** The reference tells users the order of the schema's table. */
    @Test
    void bothTablesHaveTheSameTypesInTheOrderInWhichFiltersRun() {
        List<FilterOrder> places = dev.gateway.config.yaml.schema.FilterTypes.BUILT_IN.records().stream()
                .map(record -> FilterTypes.of(record).place())
                .toList();
        assertThat(places).isSorted().doesNotHaveDuplicates();
    }
}
