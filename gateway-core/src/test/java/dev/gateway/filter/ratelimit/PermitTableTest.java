package dev.gateway.filter.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.testing.Race;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PermitTableTest {
    private final PermitTable table = new PermitTable(256);

    private record Permit(long key, int place) {}

    private static long key(int number) {
        return 0x1234_5678_0000_0000L + ((long) number << 16);
    }

    @Test
    void aKeyHasSoManyPermits() {
        int first = table.take(key(1), 2);
        assertThat(first).isNotNegative();
        int second = table.take(key(1), 2);
        assertThat(table.take(key(1), 2)).isEqualTo(PermitTable.DENIED);
        assertThat(table.take(key(2), 2)).isNotNegative();
        table.release(first);
        assertThat(table.take(key(1), 2)).isNotNegative();
        table.release(second);
        assertThat(table.held(key(1))).isEqualTo(1);
    }

    @Test
    void fewerAreAllowedAtOnceWhenTheLimitFalls() {
        table.take(key(1), 3);
        table.take(key(1), 3);
        assertThat(table.take(key(1), 1)).isEqualTo(PermitTable.DENIED);
        assertThat(table.held(key(1))).isEqualTo(2);
    }

    @Test
    void whatThereIsNoRoomForPassesAndIsCounted() {
        for (int i = 0; i < PermitTable.WAYS; i++) {
            assertThat(table.take(key(i), 1)).isNotNegative();
        }
        assertThat(table.take(key(99), 1)).isEqualTo(PermitTable.UNCOUNTED);
        assertThat(table.uncounted()).isEqualTo(1);
        assertThat(table.take(key(3), 1)).isEqualTo(PermitTable.DENIED);
    }

    @Test
    void countsAsAMapDoes() {
        Random random = new Random(3);
        Map<Long, Integer> model = new HashMap<>();
        Queue<Permit> permits = new ArrayDeque<>();
        for (int i = 0; i < 500_000; i++) {
            long key = key(random.nextInt(PermitTable.WAYS)) + random.nextInt(16);
            if (random.nextInt(100) < 52) {
                int place = table.take(key, 5);
                assertThat(place >= 0).as("request %d", i).isEqualTo(model.getOrDefault(key, 0) < 5);
                if (place >= 0) {
                    permits.add(new Permit(key, place));
                    model.merge(key, 1, Integer::sum);
                }
            } else if (!permits.isEmpty()) {
                Permit permit = permits.remove();
                table.release(permit.place);
                model.merge(permit.key, -1, Integer::sum);
            }
        }
        permits.forEach(permit -> table.release(permit.place));
        assertThat(table.used()).isZero();
    }

    @Test
    void threadsNeverShareAPermit() throws InterruptedException {
        AtomicInteger place = new AtomicInteger();
        Race.assertOneWinner(() -> take(place), () -> take(place), () -> table.release(place.get()));
        assertThat(table.used()).isZero();
    }

    private boolean take(AtomicInteger place) {
        int taken = table.take(key(1), 1);
        if (taken >= 0) {
            place.set(taken);
        }
        return taken >= 0;
    }

    /** Places become free below and above those of a key all the time, so that threads find different ones. */
    @Test
    void aKeyNeverHasMoreThanItMay() throws InterruptedException {
        AtomicInteger most = new AtomicInteger();
        AtomicInteger[] held = new AtomicInteger[40];
        for (int i = 0; i < held.length; i++) {
            held[i] = new AtomicInteger();
        }
        CountDownLatch end = new CountDownLatch(3);
        for (int thread = 0; thread < 3; thread++) {
            Random random = new Random(thread);
            new Thread(() -> {
                        for (int i = 0; i < 200_000; i++) {
                            int key = random.nextInt(held.length);
                            int place = table.take(key(key), 2);
                            if (place >= 0) {
                                int now = held[key].incrementAndGet();
                                most.accumulateAndGet(now, Math::max);
                                held[key].decrementAndGet();
                                table.release(place);
                            }
                        }
                        end.countDown();
                    })
                    .start();
        }
        end.await();
        assertThat(most.get()).isLessThanOrEqualTo(2);
        assertThat(table.used()).isZero();
    }
}
