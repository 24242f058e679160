package dev.gateway.overload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.OverloadConfig;
import dev.gateway.config.value.Position;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class HeapPressureTest {
    private double livedOn; // as the last collection found it
    private double lives;
    private int collections;
    private long nanos;
    private long collectionNanos;
    private final HeapPressure pressure = new HeapPressure(
            new HeapPressure.Heap() {
                @Override
                public double livedOn() {
                    return livedOn;
                }

                @Override
                public void collect() {
                    collections++;
                    nanos += collectionNanos;
                    livedOn = lives;
                }
            },
            () -> nanos);

    @Test
    void asksForNoCollectionWhileNothingIsDone() {
        livedOn = 0.80;
        assertThat(pressure.level()).isEqualTo(0.80);
        assertThat(collections).isZero();
    }

    @Test
    void asksSeldomWhileNothingIsRefusedButConnectionsDoNotStayOpen() {
        livedOn = lives = 0.82;
        passSeconds(130);
        assertThat(collections).isEqualTo(2);
        lives = 0.5;
        passSeconds(250);
        assertThat(pressure.level()).isEqualTo(0.5);
        assertThat(collections).isEqualTo(3);
    }

    private void passSeconds(int seconds) {
        for (int i = 0; i < 10 * seconds; i++) {
            pressure.level();
            nanos += 100_000_000L;
        }
    }

    /** Where so much is needed for long, or the process would collect all of it every minute for ever. */
    @Test
    void asksMoreAndMoreSeldomWhereThatChangesNothing() {
        livedOn = lives = 0.82;
        passSeconds(24 * 3600);
        assertThat(collections).isBetween(48, 54);
        livedOn = 0.5;
        passSeconds(61);
        collections = 0;
        livedOn = lives = 0.82;
        passSeconds(130);
        assertThat(collections).as("the waits are short again").isEqualTo(2);
    }

    @Test
    void asksForNoneWhereTheHeapIsNotToBeWatched() {
        pressure.configure(new OverloadConfig(Position.NOWHERE, 0, 0.85, 0.85, Duration.ofSeconds(1), 0));
        livedOn = 1;
        assertThat(pressure.level()).isEqualTo(1);
        assertThat(collections).isZero();
    }

    @Test
    void asksForCollectionsUntilNothingIsRefusedAnyMore() {
        livedOn = lives = 0.86;
        pressure.level();
        assertThat(collections).isOne();
        nanos += 6_000_000_000L;
        lives = 0.81;
        assertThat(pressure.level()).isEqualTo(0.81);
        nanos += 6_000_000_000L;
        lives = 0.79;
        assertThat(pressure.level()).isEqualTo(0.79);
        assertThat(collections).isEqualTo(3);
        livedOn = lives = 0.82;
        nanos += 6_000_000_000L;
        pressure.level();
        nanos += 6_000_000_000L;
        pressure.level();
        assertThat(collections).isEqualTo(3);
    }

    @Test
    void collectionsThatTakeLongTakeASmallPartOfTheTime() {
        collectionNanos = 2_000_000_000L;
        livedOn = lives = 0.95;
        long began = nanos;
        while (nanos - began < 400_000_000_000L) {
            pressure.level();
            nanos += 100_000_000L;
        }
        assertThat(collections).isBetween(5, 10);
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
        assertThat(here.resource()).isEqualTo(Resource.HEAP);
        assertThat(here.level()).isBetween(0.0, 1.0);
    }
}
