package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whether shared caches may keep a response, and what keeps them from it. */
class SharedCachesTest {
    private static int count(Fields response) {
        int count = 0;
        for (int i = response.find(FieldName.CACHE_CONTROL, 0);
                i >= 0;
                i = response.find(FieldName.CACHE_CONTROL, i + 1)) {
            count++;
        }
        return count;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "``| false| private",
                "max-age=60| false| max-age=60, private",
                "no-store| false| no-store",
                "Private, max-age=60| false| Private, max-age=60",
                "public, max-age=600| true| max-age=600, private",
                "S-MaxAge=60| true| private",
                "public, max-age=0, must-revalidate| true| max-age=0, must-revalidate, private",
                "no-store, no-cache, s-maxage=0| true| no-store, no-cache",
                "private=\"a, public\", max-age=1| false| private=\"a, public\", max-age=1, private",
            })
    void aResponseForOneClientIsKeptOutOfThem(String said, boolean invited, String says) {
        Fields response = new Fields();
        if (!said.isEmpty()) {
            response.add(FieldName.CACHE_CONTROL, said);
        }
        response.add(FieldName.of("X-Other"), "1");
        assertThat(SharedCaches.areInvited(response)).isEqualTo(invited);
        for (String targeted : new String[] {"CDN-Cache-Control", "Cloudflare-CDN-Cache-Control", "X-Accel-Expires"}) {
            Fields one = new Fields();
            one.add(FieldName.of(targeted), "60");
            assertThat(SharedCaches.areInvited(one)).as(targeted).isTrue();
            response.add(FieldName.of(targeted), "60");
        }
        SharedCaches.refuse(response);
        assertThat(SharedCaches.areInvited(response)).isFalse();
        StringBuilder all = new StringBuilder();
        for (int i = response.find(FieldName.CACHE_CONTROL, 0);
                i >= 0;
                i = response.find(FieldName.CACHE_CONTROL, i + 1)) {
            all.append(all.isEmpty() ? "" : ", ").append(response.value(i));
        }
        assertThat(all).hasToString(says);
        assertThat(response.size()).as("no other is left but one").isEqualTo(1 + count(response));
        assertThat(response.contains(FieldName.of("X-Other"))).isTrue();
    }
}
