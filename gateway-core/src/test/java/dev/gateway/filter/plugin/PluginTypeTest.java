package dev.gateway.filter.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterPlugin;
import dev.gateway.plugin.Settings;
import org.junit.jupiter.api.Test;

class PluginTypeTest {
    private static class Idle implements FilterPlugin {
        @Override
        public String type() {
            return "Idle";
        }

        @Override
        public String description() {
            return "Does nothing.";
        }

        @Override
        public Filter create(Settings settings) {
            return new Filter() {};
        }
    }

    /** A plugin that does not know of unchanged paths sees the normal form only. */
    @Test
    void aPluginMayDecideByThePathUnlessItSaysOtherwise() {
        assertThat(new PluginType(new Idle(), "a test", null).decidesByPath()).isTrue();
        FilterPlugin other = new Idle() {
            @Override
            public boolean decidesByPath() {
                return false;
            }
        };
        assertThat(new PluginType(other, "a test", null).decidesByPath()).isFalse();
    }
}
