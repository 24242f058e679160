package dev.gateway.observe.counts;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Counters are found by names, whichever string has the name. */
class ByNameTest {
    private int made;
    private final ByName<String> counters = new ByName<>(name -> name + ++made);

    @Test
    void aNameThatAReloadMadeAnewHasTheSameCounters() {
        String before = "shop";
        String after = String.valueOf(before.toCharArray());
        assertThat(counters.onLoop(before)).isEqualTo("shop1");
        assertThat(counters.onLoop(after)).isEqualTo("shop1");
        assertThat(counters.onLoop(before)).isEqualTo("shop1");
        assertThat(counters.get(after)).isEqualTo("shop1");
        assertThat(made).isEqualTo(1);
    }

    @Test
    void namesThatShareASlotDoNotShareCounters() {
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 1_000; i++) { // there are 256 slots
                String name = "r" + i + "-";
                assertThat(counters.onLoop(name)).isEqualTo(name + (i + 1));
            }
        }
        assertThat(counters.all()).hasSize(1_000);
    }
}
