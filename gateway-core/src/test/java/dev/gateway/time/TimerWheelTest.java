package dev.gateway.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TimerWheelTest {
    private record Task(Runnable what, long dueNanos) {}

    private final List<Task> scheduled = new ArrayList<>();
    private final ScheduledExecutorService loop = proxy(ScheduledExecutorService.class, (proxy, method, args) -> {
        assertThat(method.getName()).isEqualTo("schedule");
        assertThat(args[2]).isEqualTo(TimeUnit.NANOSECONDS);
        Task task = new Task((Runnable) args[0], now() + (Long) args[1]);
        scheduled.add(task);
        return proxy(ScheduledFuture.class, (future, cancel, mayInterrupt) -> {
            assertThat(cancel.getName()).isEqualTo("cancel");
            return scheduled.remove(task);
        });
    });
    private long nanos = -5_000_000_000_000L; // System.nanoTime may be negative
    private long wallMillis = 1_000_000_000_000L;
    private final TimerWheel wheel = new TimerWheel(loop, this::now, () -> wallMillis, 1_024);
    private int turns;
    private final List<String> expired = new ArrayList<>();

    private long now() {
        return nanos;
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private final class Named extends Timer {
        private final String name;
        private final @Nullable Runnable then;

        Named(String name, @Nullable Runnable then) {
            this.name = name;
            this.then = then;
        }

        @Override
        protected void onExpired() {
            assertThat(isArmed()).isFalse();
            expired.add(name);
            if (then != null) {
                then.run();
            }
        }
    }

    private Named timer(String name) {
        return new Named(name, null);
    }

    /** Lets time pass, a tick at a time, the loop running what is due. */
    private void pass(long millis) {
        for (long i = 0; i < millis; i += TimerWheel.TICK_MILLIS) {
            jump(TimerWheel.TICK_MILLIS);
        }
    }

    /** Lets time pass at once, as when the loop was held up. */
    private void jump(long millis) {
        nanos += millis * 1_000_000;
        List<Task> due =
                scheduled.stream().filter(task -> task.dueNanos <= nanos).toList();
        scheduled.removeAll(due);
        turns += due.size();
        due.forEach(task -> task.what.run());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 10, 15, 1_000, 10_230, 10_240, 10_250, 100_000})
    void aTimerExpiresAtMostTwoTicksLateAndNeverEarly(long delay) {
        wheel.arm(timer("a"), delay);

        long waited = 0;
        while (expired.isEmpty()) {
            pass(TimerWheel.TICK_MILLIS);
            waited += TimerWheel.TICK_MILLIS;
        }

        assertThat(waited).isBetween(delay, delay + 2 * TimerWheel.TICK_MILLIS);
        pass(200_000);
        assertThat(expired).containsExactly("a");
    }

    @Test
    void aTimerArmedInTheMiddleOfATickIsNotEarly() {
        nanos += 9_999_999;
        wheel.arm(timer("a"), 10);
        long armedAt = nanos;

        while (expired.isEmpty()) {
            nanos++;
            jump(0);
            nanos += 999_999;
        }

        assertThat(nanos - armedAt).isGreaterThanOrEqualTo(10_000_000);
    }

    @Test
    void theClockStandsStillWhileItIsHeld() {
        wheel.hold();
        long held = wheel.nanoTime();
        nanos += 5;
        assertThat(wheel.nanoTime()).isEqualTo(held).isEqualTo(nanos - 5);

        wheel.hold();
        assertThat(wheel.nanoTime()).isEqualTo(nanos);

        wheel.release();
        nanos += 5;
        assertThat(wheel.nanoTime()).isEqualTo(nanos);
    }

    @Test
    void theTimeOfDayIsReadAnewAfterAMillisecond() {
        assertThat(wheel.wallMillis()).isEqualTo(1_000_000_000_000L);
        wallMillis += 3_600_000;
        nanos += 999_999;
        assertThat(wheel.wallMillis()).isEqualTo(1_000_000_000_000L);

        nanos++;
        assertThat(wheel.wallMillis()).isEqualTo(1_000_003_600_000L);

        wallMillis -= 7_200_000; // somebody has set the clock back
        nanos += 1_000_000;
        assertThat(wheel.wallMillis()).isEqualTo(999_996_400_000L);
    }

    @Test
    void aCancelledTimerDoesNotExpire() {
        Named a = timer("a");
        Named b = timer("b");
        Named c = timer("c");
        for (Named timer : List.of(a, b, c)) {
            wheel.arm(timer, 50);
        }

        b.cancel();
        b.cancel();
        assertThat(b.isArmed()).isFalse();
        pass(100);

        assertThat(expired).containsExactlyInAnyOrder("a", "c");
        a.cancel();
    }

    @Test
    void armingAgainForgetsTheFormerDelay() {
        Named a = timer("a");
        wheel.arm(a, 50);
        wheel.arm(a, 500);

        pass(400);
        assertThat(expired).isEmpty();
        pass(200);
        assertThat(expired).containsExactly("a");

        wheel.arm(a, 50);
        pass(100);
        assertThat(expired).containsExactly("a", "a");
    }

    @Test
    void theLoopIsLeftAloneWhenNoTimerIsArmed() {
        Named a = timer("a");
        wheel.arm(a, 1_000);
        assertThat(scheduled).hasSize(1);
        a.cancel();
        pass(1_020);
        assertThat(scheduled).isEmpty();

        pass(1_000_000);
        wheel.arm(a, 30);
        assertThat(scheduled).hasSize(1);
        pass(50);
        assertThat(expired).containsExactly("a");
        pass(10);
        assertThat(scheduled).isEmpty();
    }

    @Test
    void theLoopSleepsUntilATimerIsDue() {
        wheel.arm(timer("a"), 5_000);
        pass(4_990);
        assertThat(turns).isZero();

        pass(30);
        assertThat(expired).containsExactly("a");
        assertThat(turns).isEqualTo(1);
    }

    @Test
    void anEarlierTimerWakesTheLoopEarlier() {
        wheel.arm(timer("late"), 5_000);
        wheel.arm(timer("soon"), 100);
        wheel.arm(timer("later"), 7_000);
        assertThat(scheduled).hasSize(1);

        pass(120);
        assertThat(expired).containsExactly("soon");
        pass(4_900);
        assertThat(expired).containsExactly("soon", "late");
        pass(2_000);
        assertThat(expired).containsExactly("soon", "late", "later");
        assertThat(turns).isEqualTo(3);
    }

    @Test
    void aTimerOfALaterRoundWakesTheLoopOnceARound() {
        wheel.arm(timer("first"), 10);
        wheel.arm(timer("far"), 100_000);

        pass(100_030);

        assertThat(expired).containsExactly("first", "far");
        assertThat(turns).isLessThan(15);
    }

    @Test
    void aWheelWithAClockOfItsOwnTurnsWithEachTick() {
        TimerWheel other = new TimerWheel(loop, this::now);
        other.arm(timer("a"), 1_000);

        pass(1_030);

        assertThat(expired).containsExactly("a");
        assertThat(turns).isBetween(99, 103);
    }

    @Test
    void afterALongPauseAllThatIsDueExpiresAndNothingElse() {
        for (int i = 0; i < 50; i++) {
            wheel.arm(timer("due"), i * 997L);
            wheel.arm(timer("later"), 100_000 + i * 997L);
        }

        jump(60_000);
        assertThat(expired).hasSize(50).containsOnly("due");
        jump(100_000);
        assertThat(expired).hasSize(100);
    }

    @Test
    void aTimerMayArmAndCancelOthersOfItsSlot() {
        Named victim = timer("victim");
        Named late = timer("late");
        Named[] self = new Named[1];
        self[0] = new Named("first", () -> {
            victim.cancel();
            wheel.arm(late, 0);
            if (expired.size() < 3) {
                wheel.arm(self[0], 0);
            }
        });
        wheel.arm(victim, 50);
        wheel.arm(self[0], 50); // the newest of a slot expires first

        pass(200);

        assertThat(expired).startsWith("first").doesNotContain("victim").contains("late");
        assertThat(victim.isArmed()).isFalse();
        assertThat(scheduled).isEmpty();
    }

    @Test
    void aTimerThatThrowsDoesNotKeepOthersFromExpiring() {
        wheel.arm(timer("sibling"), 50);
        wheel.arm(
                new Named("bad", () -> {
                    throw new IllegalStateException("on purpose");
                }),
                50);
        wheel.arm(timer("next"), 80);

        assertThatThrownBy(() -> pass(200)).hasMessage("on purpose");
        pass(200);

        assertThat(expired).containsExactly("bad", "sibling", "next");
        assertThat(scheduled).isEmpty();
    }

    @Test
    void anyMixOfTimersExpiresInTime() {
        Random random = new Random(3);
        int count = 300;
        Named[] timers = new Named[count];
        long[] deadline = new long[count]; // in nanoseconds, 0 for not armed
        for (int i = 0; i < count; i++) {
            int number = i;
            timers[i] = new Named("t", () -> {
                assertThat(nanos).isGreaterThanOrEqualTo(deadline[number]);
                deadline[number] = Long.MAX_VALUE;
            });
            deadline[i] = Long.MAX_VALUE;
        }
        for (int step = 0; step < 5_000; step++) {
            int i = random.nextInt(count);
            if (random.nextInt(3) == 0) {
                timers[i].cancel();
                deadline[i] = Long.MAX_VALUE;
            } else {
                long delay = random.nextInt(40_000);
                deadline[i] = nanos + delay * 1_000_000;
                wheel.arm(timers[i], delay);
            }
            nanos += random.nextInt(1_000_000);
            if (random.nextInt(4) == 0) {
                jump(random.nextInt(100) == 0 ? 30_000 : 10);
                for (int t = 0; t < count; t++) {
                    assertThat(timers[t].isArmed()).isEqualTo(deadline[t] != Long.MAX_VALUE);
                    assertThat(deadline[t]).isGreaterThan(nanos - 20_000_000);
                }
            }
        }
        assertThat(expired.size()).isGreaterThan(500);
    }
}
