package dev.gateway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which of Netty's properties the gateway sets in its own process. */
class JvmDefaultsTest {
    private final Map<String, @Nullable String> before = new HashMap<>();

    @BeforeEach
    void keep() {
        for (String property : new String[] {
            "io.netty.jfr.enabled",
            "io.netty.machineId",
            "io.netty.leakDetection.level",
            "io.netty.tryReflectionSetAccessible"
        }) {
            before.put(property, System.getProperty(property));
        }
    }

    @AfterEach
    void restore() {
        Properties properties = System.getProperties();
        before.forEach((property, value) -> {
            if (value == null) {
                properties.remove(property);
            } else {
                properties.setProperty(property, value);
            }
        });
    }

    @ParameterizedTest
    @CsvSource({
        "io.netty.jfr.enabled, false",
        "io.netty.machineId, 02:00:00:00:00:01",
        "io.netty.leakDetection.level, disabled",
        "io.netty.tryReflectionSetAccessible, true"
    })
    void aPropertyIsSetUnlessTheOperatorHasSetIt(String property, String value) {
        System.getProperties().remove(property);
        Main.setJvmDefaults();
        assertThat(System.getProperty(property)).isEqualTo(value);
        System.setProperty(property, "mine");
        Main.setJvmDefaults();
        assertThat(System.getProperty(property)).isEqualTo("mine");
    }
}
