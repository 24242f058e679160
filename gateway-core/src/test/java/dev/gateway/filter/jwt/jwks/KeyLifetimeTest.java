package dev.gateway.filter.jwt.jwks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How long keys are used before they are fetched again. */
class KeyLifetimeTest {
    private static long seconds(String cacheControl, String age) {
        Fields fields = new Fields();
        for (String line : cacheControl.split("\\|", -1)) {
            fields.add(FieldName.CACHE_CONTROL, line);
        }
        if (!age.isEmpty()) {
            fields.add(FieldName.of("Age"), age);
        }
        return KeyLifetime.millis(fields) / 1000;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "max-age=600; ''; 600",
                "public, Max-Age=\"600\"; ''; 600",
                "public|max-age=600; ''; 600",
                "max-age=600; 200; 400",
                "max-age=600; 700; 60",
                "max-age=600; soon; 600",
                "max-age=0; ''; 60",
                "no-store; ''; 60",
                "max-age=600, no-cache; ''; 60",
                "max-age=86400; ''; 3600",
                "max-age=99999999999999999999; ''; 3600",
                "max-age=-1; ''; 300",
                "max-age=; ''; 300",
                "s-maxage=600; ''; 300",
                "public; ''; 300"
            })
    void theServerSaysItWithinBounds(String cacheControl, String age, long seconds) {
        assertThat(seconds(cacheControl, age)).isEqualTo(seconds);
    }

    @Test
    void aServerThatDoesNotSayItIsAskedEachFiveMinutes() {
        assertThat(KeyLifetime.millis(new Fields())).isEqualTo(300_000);
    }
}
