package dev.gateway.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.openjdk.jmh.annotations.Param;

/** The benchmark measures requests that its filters let pass. */
class FilterBenchmarkTest {
    static Stream<String> filters() throws NoSuchFieldException {
        return Arrays.stream(FilterBenchmark.class
                .getDeclaredField("filter")
                .getAnnotation(Param.class)
                .value());
    }

    @ParameterizedTest
    @MethodSource("filters")
    void eachFilterLetsRequestsPass(String filter) throws Exception {
        FilterBenchmark benchmark = new FilterBenchmark();
        benchmark.filter = filter;
        benchmark.start();
        for (int i = 0; i < 3; i++) {
            assertThat(benchmark.exchange()).isZero();
        }
        benchmark.end();
    }
}
