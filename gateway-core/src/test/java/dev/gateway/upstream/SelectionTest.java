package dev.gateway.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Who gets requests when few are in service. */
class SelectionTest {
    private final List<Host> hosts = IntStream.range(0, 4)
            .mapToObj(i -> new Host(new Endpoint(i, "192.0.2." + i, 80, 1)))
            .toList();

    @Test
    void withoutAThresholdOneInServiceGetsEverything() {
        ill(0, 1, 2);
        assertThat(selected(0)).isEqualTo("[3]");
    }

    @Test
    void withFewerInServiceThanTheThresholdAllAreUsed() {
        ill(0);
        assertThat(selected(76)).isEqualTo("panic [0, 1, 2, 3]");
        assertThat(selected(75)).isEqualTo("[1, 2, 3]");
        ill(1, 2);
        assertThat(selected(26)).isEqualTo("panic [0, 1, 2, 3]");
        assertThat(selected(25)).isEqualTo("[3]");
        assertThat(selected(100)).isEqualTo("panic [0, 1, 2, 3]");
    }

    @Test
    void whoDrainsIsNeverUsedAndDoesNotCount() {
        hosts.get(0).draining = true;
        hosts.get(1).draining = true;
        assertThat(selected(100)).isEqualTo("[2, 3]");
        ill(2);
        assertThat(selected(50)).isEqualTo("[3]");
        assertThat(selected(51)).isEqualTo("panic [2, 3]");
        hosts.get(2).draining = true;
        hosts.get(3).draining = true;
        assertThat(selected(100)).isEqualTo("[]");
    }

    @Test
    void ifNobodyIsInServiceTheEjectedAreBetterThanTheIll() {
        ill(0, 1);
        OutlierDetection policy = new OutlierDetection(OutlierDetection.Counts.ABSENCE, 1, 1000, 1000, 50);
        hosts.get(2).ejection.begin(policy, Ejection.Why.BAD_ANSWER, 0);
        hosts.get(3).ejection.begin(policy, Ejection.Why.BAD_ANSWER, 0);
        assertThat(selected(0)).isEqualTo("[2, 3]");
        assertThat(selected(1)).isEqualTo("panic [0, 1, 2, 3]");
        ill(2, 3);
        assertThat(selected(0)).isEqualTo("[0, 1, 2, 3]");
    }

    private void ill(int... which) {
        for (int i : which) {
            hosts.get(i).failedCheck = "refused";
        }
    }

    private String selected(int threshold) {
        Selection selection = Selection.of(hosts, threshold);
        List<Integer> indexes = new ArrayList<>();
        selection.hosts().forEach(host -> indexes.add(host.endpoint().index()));
        return (selection.panic() ? "panic " : "") + indexes;
    }
}
