package dev.gateway.config.yaml.type;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.config.yaml.schema.filter.FilterTypeList;
import org.junit.jupiter.api.Test;

class FeatureListTest {
    @Test
    void saysWhichModuleIsMissing() {
        assertThatThrownBy(() -> FeatureList.find(FilterTypeList.class))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the class path has gateway-config without gateway-core, which names the FilterTypeList to"
                        + " ServiceLoader");
    }
}
