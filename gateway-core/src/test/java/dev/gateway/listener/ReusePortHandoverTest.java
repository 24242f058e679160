package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Sockets that leave, before a kernel of lists. */
class ReusePortHandoverTest {
    private static final int MOST = 6;

    static List<int[]> counts() {
        List<int[]> counts = new ArrayList<>();
        for (int ours = 1; ours <= MOST; ours++) {
            for (int others = 1; others <= MOST; others++) {
                counts.add(new int[] {ours, others});
            }
        }
        return counts;
    }

    /** The sockets of a port in the order of their numbers, and the program that chooses among them. */
    private static final class Kernel {
        final List<String> numbered = new ArrayList<>();
        private int first;
        private int count;

        void listen(String owner, int sockets) {
            for (int i = 0; i < sockets; i++) {
                numbered.add(owner + i);
            }
        }

        void steer(ReusePortHandover.Step step) {
            if (step.count() > 0) {
                first = step.first();
                count = step.count();
            }
        }

        void close(String socket) {
            int number = numbered.indexOf(socket);
            String last = numbered.remove(numbered.size() - 1);
            if (number < numbered.size()) {
                numbered.set(number, last);
            }
        }

        /** Returns which sockets may get a connection. */
        List<String> reachable() {
            boolean missing = count == 0 || first + count > numbered.size();
            return missing ? numbered : numbered.subList(first, first + count);
        }
    }

    @ParameterizedTest
    @MethodSource("counts")
    void nothingComesToASocketThatIsAboutToClose(int[] counts) {
        int ours = counts[0];
        int others = counts[1];
        Kernel kernel = new Kernel();
        kernel.listen("our", ours);
        kernel.listen("other", others);
        List<String> closing = List.copyOf(kernel.numbered.subList(0, ours));
        for (int i = 0; i < ours; i++) {
            ReusePortHandover.Step step = ReusePortHandover.step(i, ours, others);
            kernel.steer(step);
            assertThat(kernel.reachable())
                    .as("before %s closes", closing.get(i))
                    .allMatch(each -> each.startsWith("other"));
            kernel.close(closing.get(i));
            boolean toUs = kernel.reachable().stream().anyMatch(each -> each.startsWith("our"));
            boolean told =
                    i + 1 < ours && ReusePortHandover.step(i + 1, ours, others).late();
            assertThat(toUs).as("after %s has closed", closing.get(i)).isEqualTo(told);
        }
        assertThat(kernel.reachable()).hasSize(others);
    }

    @Test
    void oneProcessAfterTheOtherKnowsTheOrder() {
        Kernel kernel = new Kernel();
        kernel.listen("a", 2);
        kernel.listen("b", 3);
        List.of("a0", "a1").forEach(kernel::close);
        List<String> second = ReusePortHandover.numbered(List.of("b0", "b1", "b2"), 2);
        assertThat(second).isEqualTo(kernel.numbered);
        kernel.listen("c", 5);
        second.forEach(kernel::close);
        assertThat(ReusePortHandover.numbered(List.of("c0", "c1", "c2", "c3", "c4"), 3))
                .isEqualTo(kernel.numbered);
    }

    @Test
    void nobodyElseMeansNoSteering() {
        assertThat(ReusePortHandover.step(0, 3, 0).count()).isZero();
        assertThat(ReusePortHandover.step(2, 3, 0).count()).isZero();
    }
}
