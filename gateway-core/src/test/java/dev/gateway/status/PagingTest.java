package dev.gateway.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.admin.Query;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A long list is shown in pages that together are the whole list. */
class PagingTest {
    @ParameterizedTest
    @CsvSource({
        "'', 0, 100",
        "limit=1, 0, 1",
        "limit=1000, 0, 1000",
        "after=17&limit=3, 17, 3",
        "after=999999999999999999, 999999999999999999, 100",
        "format=json, 0, 100"
    })
    void aPageIsAHundredFromTheStartUnlessSomebodyAsksOtherwise(String query, long after, int limit) {
        assertThat(Paging.of(new Query(query))).isEqualTo(new Paging(after, limit));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "limit=0|limit: expected a number from 1 to 1000",
                "limit=1001|limit: expected a number from 1 to 1000",
                "limit=x|limit: expected a number from 1 to 1000",
                "limit=|limit: expected a number from 1 to 1000",
                "after=-1|after: expected a number from 0 to 4611686018427387903",
                "after=4611686018427387904|after: expected a number from 0 to 4611686018427387903",
                "limt=3|unknown parameter 'limt': expected one of after, format, limit"
            })
    void whatCannotBeMeantIsRefused(String query, String message) {
        assertThatThrownBy(() -> Paging.of(new Query(query)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    /** What one event loop answers: its first numbers after some number, as many as it takes to know of a next page. */
    private static CompletableFuture<List<Long>> part(Paging paging, long... numbers) {
        List<Long> part = new ArrayList<>();
        for (long number : numbers) {
            if (number > paging.after() && part.size() < paging.enough()) {
                part.add(number);
            }
        }
        return CompletableFuture.completedFuture(part);
    }

    private static Map<String, Object> page(Paging paging) {
        return paging.page(
                        "things",
                        List.of(
                                part(paging, 2, 4, 6, 8, 10),
                                part(paging),
                                part(paging, 1, 3),
                                part(paging, 5, 7, 9, 11)),
                        number -> number,
                        number -> Map.of("id", number),
                        Runnable::run)
                .join();
    }

    @ParameterizedTest
    @CsvSource({"1, 11", "3, 4", "4, 3", "11, 1", "100, 1"})
    void pagesHaveEachElementOnceAndInOrder(int limit, int pages) {
        List<Object> seen = new ArrayList<>();
        long after = 0;
        int count = 0;
        while (after >= 0) {
            Map<String, Object> page = page(new Paging(after, limit));
            ((List<?>) Objects.requireNonNull(page.get("things")))
                    .forEach(each -> seen.add(Objects.requireNonNull(((Map<?, ?>) each).get("id"))));
            after = page.containsKey("next") ? (long) Objects.requireNonNull(page.get("next")) : -1;
            count++;
        }
        assertThat(seen).containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L, 11L);
        assertThat(count).isEqualTo(pages);
    }

    @Test
    void oneEventLoopThatHasMoreThanAPageIsEnoughForAnother() {
        Paging paging = new Paging(0, 2);
        assertThat(paging.page(
                                "things",
                                List.of(part(paging, 1, 2, 3)),
                                number -> number,
                                number -> Map.of("id", number),
                                Runnable::run)
                        .join())
                .containsEntry("next", 2L);
    }

    @Test
    void theLastPageNamesNoNextOne() {
        assertThat(page(new Paging(9, 2))).isEqualTo(Map.of("things", List.of(Map.of("id", 10L), Map.of("id", 11L))));
        assertThat(page(new Paging(11, 2))).isEqualTo(Map.of("things", List.of()));
    }

    @Test
    void anEventLoopThatCannotAnswerFailsThePage() {
        CompletableFuture<List<Long>> failed = CompletableFuture.failedFuture(new IllegalStateException("ended"));
        assertThat(new Paging(0, 1)
                        .page("things", List.of(failed), number -> number, number -> Map.of(), Runnable::run))
                .isCompletedExceptionally();
    }
}
