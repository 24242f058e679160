package dev.gateway.upstream.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Who may wait for a connection if not all can. */
class PendingLimitTest {
    private final List<String> lost = new ArrayList<>();
    private final PendingLimit limit = new PendingLimit(4);
    private long now;

    private PendingLimit.@Nullable Place take(String name) {
        return limit.tryTake(name.substring(0, 1), now, place -> lost.add(name));
    }

    private void takeAll(String... names) {
        for (String name : names) {
            assertThat(take(name)).as(name).isNotNull();
        }
    }

    @Test
    void oneClientMayHaveAllPlacesButNoMore() {
        takeAll("a1", "a2", "a3", "a4");
        assertThat(take("a5")).isNull();
        assertThat(limit.taken()).isEqualTo(4);
        assertThat(lost).isEmpty();
    }

    @Test
    void theNewestOfWhoHasMostGivesWayToWhoHasFew() {
        takeAll("a1", "a2", "a3", "a4", "b1");
        assertThat(lost).containsExactly("a4");
        takeAll("b2");
        assertThat(lost).containsExactly("a4", "a3");
        assertThat(limit.taken()).isEqualTo(4);
        assertThat(take("b3")).isNull(); // both have two
        assertThat(take("a5")).isNull();
        takeAll("c1");
        assertThat(lost).hasSize(3);
        assertThat(limit.taken()).isEqualTo(4);
    }

    @Test
    void howManyHaveWaitedForLongIsKnown() {
        now = Long.MAX_VALUE - 1; // clocks may begin anywhere
        takeAll("a1", "b1");
        now += 2;
        takeAll("a2");
        now++;
        takeAll("c1");
        assertThat(limit.waitingSince(now - 1)).isEqualTo(Map.of("a", 2, "b", 1));
        assertThat(limit.waitingSince(now - 2)).isEqualTo(Map.of("a", 1, "b", 1));
        assertThat(limit.waitingSince(now - 4)).isEmpty();
    }

    @Test
    void nobodyGivesWayIfAllHaveOne() {
        takeAll("a1", "b1", "c1", "d1");
        assertThat(take("e1")).isNull();
        assertThat(lost).isEmpty();
    }

    @Test
    void aPlaceThatWasLostIsNotGivenBackOnceMore() {
        takeAll("a1", "a2", "a3");
        PendingLimit.Place newest = Objects.requireNonNull(take("a4"));
        takeAll("b1");
        assertThat(lost).containsExactly("a4");
        limit.release(newest);
        assertThat(limit.taken()).isEqualTo(4);
    }

    @Test
    void anyPlaceMayBeGivenBack() {
        PendingLimit.Place first = Objects.requireNonNull(take("a1"));
        PendingLimit.Place middle = Objects.requireNonNull(take("a2"));
        takeAll("a3");
        limit.release(middle);
        limit.release(first);
        assertThat(limit.taken()).isEqualTo(1);
        takeAll("b1", "b2", "b3", "c1"); // the newest of b gives way
        assertThat(lost).containsExactly("b3");
    }

    @Test
    void withoutALimitAllMayWait() {
        PendingLimit none = new PendingLimit(0);
        for (int i = 0; i < 5_000; i++) {
            assertThat(none.tryTake("a", 0, place -> lost.add("a"))).isNotNull();
        }
        assertThat(lost).isEmpty();
    }

    /** Whatever comes and goes, the counts are right, and who has lost a place had as many as anybody. */
    @Test
    void theCountsStayRight() {
        Random random = new Random(44);
        List<Holding> held = new ArrayList<>();
        int[] counts = new int[6];
        PendingLimit few = new PendingLimit(20);
        for (int i = 0; i < 20_000; i++) {
            if (random.nextInt(5) > 1 || held.isEmpty()) {
                int client = random.nextInt(random.nextInt(6) + 1);
                Holding taken = new Holding(client);
                taken.place = few.tryTake(client, 0, place -> {
                    Holding gone = held.stream()
                            .filter(each -> each.place == place)
                            .findFirst()
                            .orElseThrow();
                    held.remove(gone);
                    for (int count : counts) {
                        assertThat(count).isLessThanOrEqualTo(counts[gone.client]);
                    }
                    counts[gone.client]--;
                });
                if (taken.place != null) {
                    held.add(taken);
                    counts[client]++;
                }
            } else {
                Holding given = held.remove(random.nextInt(held.size()));
                few.release(Objects.requireNonNull(given.place));
                counts[given.client]--;
            }
            assertThat(few.taken()).isEqualTo(held.size()).isLessThanOrEqualTo(20);
        }
        for (Holding each : held) {
            few.release(Objects.requireNonNull(each.place));
        }
        assertThat(few.taken()).isZero();
    }

    private static final class Holding {
        final int client;

        PendingLimit.@Nullable Place place;

        Holding(int client) {
            this.client = client;
        }
    }
}
