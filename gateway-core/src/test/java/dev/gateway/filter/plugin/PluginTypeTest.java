package dev.gateway.filter.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.FilterPlugin;
import dev.gateway.filter.IdlePlugin;
import org.junit.jupiter.api.Test;

class PluginTypeTest {
    /** A plugin that does not know of unchanged paths sees the normal form only. */
    @Test
    void aPluginMayDecideByThePathUnlessItSaysOtherwise() {
        assertThat(new PluginType(new IdlePlugin(), "a test", null).decidesByPath())
                .isTrue();
        FilterPlugin other = new IdlePlugin() {
            @Override
            public boolean decidesByPath() {
                return false;
            }
        };
        assertThat(new PluginType(other, "a test", null).decidesByPath()).isFalse();
    }
}
