package dev.gateway.overload;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HeapPressureTest {
    private double livedOn; // as the last collection found it
    private double lives;
    private int collections;
    private long nanos;
    private final HeapPressure pressure = new HeapPressure(
            new HeapPressure.Heap() {
                @Override
                public double livedOn() {
                    return livedOn;
                }

                @Override
                public void collect() {
                    collections++;
                    livedOn = lives;
                }
            },
            () -> nanos);

    @Test
    void asksForNoCollectionWhileThereIsRoom() {
        livedOn = 0.79;
        assertThat(pressure.level()).isEqualTo(0.79);
        assertThat(collections).isZero();
    }

    @Test
    void aFullHeapIsCollectedAgainNowAndThenToSeeWhetherItStillIs() {
        livedOn = lives = 0.95;
        assertThat(pressure.level()).isEqualTo(0.95);
        assertThat(collections).isOne();
        nanos += 1_000_000_000L;
        lives = 0.3;
        assertThat(pressure.level()).isEqualTo(0.95);
        assertThat(collections).isOne();
        nanos += 5_000_000_000L;
        assertThat(pressure.level()).isEqualTo(0.3);
        assertThat(collections).isEqualTo(2);
    }

    @Test
    void findsTheHeapOfThisJvmPartlyUsed() {
        System.gc();
        HeapPressure here = new HeapPressure();
        assertThat(here.name()).isEqualTo("heap");
        assertThat(here.level()).isBetween(0.0, 1.0);
    }
}
