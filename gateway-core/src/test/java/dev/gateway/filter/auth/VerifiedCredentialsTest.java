package dev.gateway.filter.auth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.memory.CacheMemory;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.stream.Identity;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VerifiedCredentialsTest {
    private static final Identity ANN = new Identity("ann", Set.of());

    private final Object basis = new Object();
    private long now;

    private final VerifiedCredentials<Identity> verified =
            new VerifiedCredentials<>(() -> now, CacheMemory.UNLIMITED, 3);

    private Digest digest(String text) {
        return verified.digest(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void whatWasAddedIsFoundForAWhile() {
        verified.add(digest("a"), ANN, basis);

        assertThat(verified.find(digest("a"), basis)).isSameAs(ANN);
        assertThat(verified.find(digest("b"), basis)).isNull();
        now = TimeUnit.MINUTES.toNanos(5);
        assertThat(verified.find(digest("a"), basis)).isSameAs(ANN);
        now += TimeUnit.MINUTES.toNanos(5) + 1;
        assertThat(verified.find(digest("a"), basis)).isNull();
        assertThat(verified.size()).isZero();
    }

    @Test
    void whatIsUsedIsFoundForAnHour() {
        verified.add(digest("a"), ANN, basis);
        for (int minute = 0; minute <= 60; minute += 4) {
            now = TimeUnit.MINUTES.toNanos(minute);
            assertThat(verified.find(digest("a"), basis)).isSameAs(ANN);
        }
        now = TimeUnit.MINUTES.toNanos(60) + 1;
        assertThat(verified.find(digest("a"), basis)).isNull();
    }

    @Test
    void whatWasCheckedAgainstSomethingElseIsNotKnown() {
        verified.add(digest("a"), ANN, basis);

        assertThat(verified.find(digest("a"), new Object())).isNull();
    }

    @Test
    void whatIsTheSameOnAnotherBasisIsCarriedOver() {
        Object next = new Object();
        verified.add(digest("a"), ANN, basis);
        verified.add(digest("b"), ANN, new Object());
        verified.carryOver(basis, next, known -> known.equals(ANN));
        assertThat(verified.find(digest("a"), basis)).isNull(); // by somebody who does not know of the change yet
        assertThat(verified.find(digest("a"), next)).isEqualTo(ANN);
        assertThat(verified.find(digest("b"), next)).isNull();
        verified.carryOver(next, basis, known -> false);
        assertThat(verified.find(digest("a"), basis)).isNull();
    }

    @Test
    void thereIsRoomForSoManyAndTheOldGoFirst() {
        verified.add(digest("old"), ANN, basis);
        now = TimeUnit.MINUTES.toNanos(6);
        verified.add(digest("a"), ANN, basis);
        verified.add(digest("b"), ANN, basis);
        verified.add(digest("c"), ANN, basis);

        assertThat(verified.size()).isEqualTo(3);
        assertThat(verified.find(digest("a"), basis)).isSameAs(ANN);
        for (int i = 0; i < 100; i++) {
            verified.add(digest("x" + i), ANN, basis);
            assertThat(verified.size()).isLessThanOrEqualTo(3);
            assertThat(verified.find(digest("x" + i), basis)).isSameAs(ANN);
        }
    }

    @Test
    void aFullOneForgetsSeveralAtATime() {
        VerifiedCredentials<Identity> many = new VerifiedCredentials<>(() -> now, CacheMemory.UNLIMITED, 32);
        for (int i = 0; i < 32; i++) {
            many.add(digest("x" + i), ANN, basis);
        }
        many.add(digest("y"), ANN, basis);
        assertThat(many.size()).isEqualTo(31);
        assertThat(many.find(digest("y"), basis)).isSameAs(ANN);
    }

    /** Such as one client with a new token for each request. */
    @Test
    void aFloodDrivesOutItselfAndNotWhatIsInUse() {
        VerifiedCredentials<Identity> many = new VerifiedCredentials<>(() -> now, CacheMemory.UNLIMITED, 64);
        for (int i = 0; i < 32; i++) {
            many.add(digest("x" + i), ANN, basis);
        }
        now = TimeUnit.SECONDS.toNanos(90);
        for (int i = 0; i < 32; i++) {
            many.find(digest("x" + i), basis);
        }
        for (int i = 0; i < 1000; i++) {
            many.add(digest("y" + i), ANN, basis);
            assertThat(many.size()).isLessThanOrEqualTo(64);
        }
        for (int i = 0; i < 32; i++) {
            assertThat(many.find(digest("x" + i), basis)).as("x%s", i).isSameAs(ANN);
        }
    }

    @Test
    void largeResultsLeaveRoomForFewer() {
        VerifiedCredentials<Identity> some = new VerifiedCredentials<>(() -> now, CacheMemory.UNLIMITED, 1000, 10_000);
        for (int i = 0; i < 500; i++) {
            some.add(digest("x" + i), ANN, 1000, basis);
            assertThat(some.find(digest("x" + i), basis)).isSameAs(ANN);
            assertThat(some.size()).isLessThanOrEqualTo(10);
        }
        some.add(digest("x499"), ANN, 1000, basis); // again
        now = TimeUnit.HOURS.toNanos(2);
        assertThat(some.find(digest("x499"), basis)).isNull();
        for (int i = 0; i < 100; i++) {
            some.add(digest("y" + i), ANN, 90, basis);
        }
        assertThat(some.size()).as("what is forgotten takes no room").isEqualTo(100);
    }

    @Test
    void eachHasAKeyOfItsOwn() {
        VerifiedCredentials<Identity> other = new VerifiedCredentials<>(() -> now, CacheMemory.UNLIMITED);

        assertThat(other.digest(new byte[] {1})).isNotEqualTo(verified.digest(new byte[] {1}));
        assertThat(verified.digest(new byte[] {1})).isEqualTo(verified.digest(new byte[] {1}));
    }

    /** Returns how many bytes are charged for one more. */
    private static long charged(CacheMemory memory, Runnable add) {
        long before = memory.held();
        add.run();
        return memory.held() - before;
    }

    @Test
    void whatIsRememberedIsChargedUntilItIsForgotten() {
        CacheMemory memory = new CacheMemory(new MemoryBudget(1 << 20, 1));
        VerifiedCredentials<Identity> some = new VerifiedCredentials<>(() -> now, memory, 4);
        assertThat(charged(memory, () -> some.add(digest("a"), ANN, basis))).isEqualTo(VerifiedCredentials.BYTES);
        assertThat(charged(memory, () -> some.add(digest("b"), ANN, 1000, basis)))
                .isEqualTo(1000);
        assertThat(charged(memory, () -> some.add(digest("b"), ANN, 900, basis)))
                .as("again")
                .isEqualTo(-100);
        some.carryOver(basis, new Object(), known -> true);
        now = TimeUnit.MINUTES.toNanos(6);
        assertThat(charged(memory, () -> some.find(digest("a"), basis))).isEqualTo(-VerifiedCredentials.BYTES);
        some.tidy();
        assertThat(memory.held()).as("too old").isZero();
        for (int i = 0; i < 100; i++) {
            some.add(digest("x" + i), ANN, 100, basis);
        }
        assertThat(memory.held()).isEqualTo(100L * some.size());
        some.end();
        assertThat(memory.held()).isZero();
        some.add(digest("late"), ANN, basis);
        assertThat(memory.held()).isZero();
        assertThat(some.size()).isZero();
    }

    @Test
    void whatThereIsNoMemoryForIsNotRemembered() {
        CacheMemory memory = new CacheMemory(new MemoryBudget(1 << 20, 1));
        VerifiedCredentials<Identity> first = new VerifiedCredentials<>(() -> now, memory, 100);
        VerifiedCredentials<Identity> second = new VerifiedCredentials<>(() -> now, memory, 100);
        first.add(digest("a"), ANN, 1 << 17, basis);
        second.add(digest("b"), ANN, basis);
        assertThat(second.find(digest("b"), basis)).isNull();
        now = TimeUnit.MINUTES.toNanos(6);
        first.tidy();
        second.add(digest("b"), ANN, basis);
        assertThat(second.find(digest("b"), basis)).isSameAs(ANN);
    }

    @Test
    void whileMemoryIsShortHalfIsForgottenAtEachLook() {
        MemoryBudget budget = new MemoryBudget(1 << 20, 1);
        VerifiedCredentials<Identity> some = new VerifiedCredentials<>(() -> now, new CacheMemory(budget));
        for (int i = 0; i < 8; i++) {
            some.add(digest("x" + i), ANN, 14_000, basis);
        }
        now = TimeUnit.SECONDS.toNanos(90);
        some.find(digest("x5"), basis); // in use
        some.tidy();
        assertThat(some.size()).isEqualTo(8);
        new LoopBudget(budget).charge(800_000);
        some.tidy();
        assertThat(some.size()).isEqualTo(4);
        assertThat(some.find(digest("x5"), basis)).isSameAs(ANN);
        some.tidy();
        assertThat(some.size()).as("no more than caches always get").isEqualTo(4);
    }

    /** However much a client holds, others need no check for each request. */
    @Test
    void whileThreeQuartersOfTheMemoryAreUsedALoginIsRemembered() {
        MemoryBudget budget = new MemoryBudget(1 << 20, 1);
        VerifiedCredentials<Identity> some = new VerifiedCredentials<>(() -> now, new CacheMemory(budget));
        new LoopBudget(budget).charge(3 << 18);
        some.add(digest("a"), ANN, basis);
        some.tidy();
        assertThat(some.find(digest("a"), basis)).isSameAs(ANN);
    }

    /** Clients hold half of the memory: a cache of more than a sixteenth grows no more, and remembers new logins all the same. */
    @ParameterizedTest
    @ValueSource(ints = {90, 128})
    void whileHalfOfTheMemoryIsUsedNewLoginsTakeThePlaceOfOthers(int entries) {
        MemoryBudget budget = new MemoryBudget(1 << 20, 1);
        CacheMemory memory = new CacheMemory(budget);
        VerifiedCredentials<Identity> some = new VerifiedCredentials<>(() -> now, memory);
        for (int i = 0; i < entries; i++) {
            some.add(digest("x" + i), ANN, 1024, basis);
        }
        long held = memory.held();
        assertThat(held).isEqualTo(entries * 1024L);
        new LoopBudget(budget).charge(1 << 19);
        for (int i = 0; i < 20; i++) {
            some.add(digest("y" + i), ANN, 1024, basis);
            assertThat(some.find(digest("y" + i), basis)).isSameAs(ANN);
            assertThat(memory.held()).isLessThanOrEqualTo(held);
        }
    }

    /** It would lose its own for nothing. */
    @Test
    void aCacheThatHoldsLessThanItNeedsDropsNothing() {
        CacheMemory memory = new CacheMemory(new MemoryBudget(1 << 20, 1));
        VerifiedCredentials<Identity> small = new VerifiedCredentials<>(() -> now, memory);
        small.add(digest("a"), ANN, 300, basis);
        assertThat(memory.tryCharge((1 << 17) - 300)).as("by another cache").isTrue();
        small.add(digest("b"), ANN, 301, basis);
        assertThat(small.find(digest("a"), basis)).isSameAs(ANN);
        small.add(digest("b"), ANN, 300, basis);
        assertThat(small.find(digest("b"), basis)).isSameAs(ANN);
        assertThat(small.size()).isEqualTo(1);
    }

    @Test
    void whoeverHasManyDrivesOutItsOwn() {
        CacheMemory memory = new CacheMemory(new MemoryBudget(1 << 20, 1));
        VerifiedCredentials<Identity> some = new VerifiedCredentials<>(() -> now, memory, 10_000);
        for (int i = 0; i < 1000; i++) {
            some.add(digest("x" + i), ANN, 1000, basis);
        }
        assertThat(some.find(digest("x999"), basis)).isSameAs(ANN);
        assertThat(some.size()).isBetween(100, 131);
    }
}
