package dev.gateway.status;

import dev.gateway.admin.Query;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * The requested page of a long list: a number of elements, from a position on. No element is on two pages, even if
 * others come and go.
 *
 * @param after those numbered after this one
 */
record Paging(long after, int limit) {
    static final Set<String> PARAMETERS = Set.of("after", "limit", "format");
    private static final int USUAL = 100;
    private static final int MOST = 1_000;

    static Paging of(Query query) {
        query.allow(PARAMETERS);
        return new Paging(query.number("after", 0, 0, Long.MAX_VALUE / 2), (int) query.number("limit", USUAL, 1, MOST));
    }

    /** Returns how many each of those who are asked has to tell, so that it is known whether there are more. */
    int enough() {
        return limit + 1;
    }

    /**
     * Puts together what event loops tell, on another thread.
     *
     * @param name what the list is called
     * @param number by which it is ordered
     */
    <T> CompletableFuture<Map<String, Object>> page(
            String name,
            List<CompletableFuture<List<T>>> parts,
            ToLongFunction<T> number,
            Function<T, Map<String, Object>> json,
            Executor executor) {
        return CompletableFuture.allOf(parts.toArray(CompletableFuture<?>[]::new))
                .thenApplyAsync(
                        done -> {
                            List<T> all = new ArrayList<>();
                            parts.forEach(part -> all.addAll(part.join()));
                            all.sort(Comparator.comparingLong(number));
                            List<T> shown = all.subList(0, Math.min(limit, all.size()));
                            Map<String, Object> page = new LinkedHashMap<>();
                            page.put(name, shown.stream().map(json).toList());
                            if (all.size() > shown.size()) {
                                page.put("next", number.applyAsLong(shown.get(shown.size() - 1)));
                            }
                            return page;
                        },
                        executor);
    }
}
