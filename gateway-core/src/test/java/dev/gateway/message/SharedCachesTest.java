package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whether shared caches may keep a response, and what keeps them from it. */
class SharedCachesTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''| false| private",
                "max-age=60| false| max-age=60, private",
                "no-store| false| no-store",
                "Private, max-age=60| false| Private, max-age=60",
                "public, max-age=600| true| private",
                "S-MaxAge=60| true| private",
            })
    void aResponseForOneClientIsKeptOutOfThem(String said, boolean invited, String says) {
        Fields response = new Fields();
        if (!said.isEmpty()) {
            response.add(FieldName.CACHE_CONTROL, said);
        }
        response.add(FieldName.of("CDN-Cache-Control"), "max-age=60");
        response.add(FieldName.of("Surrogate-Control"), "max-age=60");
        response.add(FieldName.of("X-Other"), "1");
        assertThat(SharedCaches.areInvited(response)).isEqualTo(invited);
        SharedCaches.refuse(response);
        assertThat(SharedCaches.areInvited(response)).isFalse();
        StringBuilder all = new StringBuilder();
        for (int i = response.find(FieldName.CACHE_CONTROL, 0);
                i >= 0;
                i = response.find(FieldName.CACHE_CONTROL, i + 1)) {
            all.append(all.isEmpty() ? "" : ", ").append(response.value(i));
        }
        assertThat(all).hasToString(says);
        assertThat(response.contains(FieldName.of("CDN-Cache-Control"))).isFalse();
        assertThat(response.contains(FieldName.of("Surrogate-Control"))).isFalse();
        assertThat(response.contains(FieldName.of("X-Other"))).isTrue();
    }
}
