package dev.gateway.overload.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What one connection may hold, to the byte, of a budget whose rest others have. */
class AccountTest {
    private static final long CAPACITY = 1024 * 1024;

    private final LoopBudget budget = new LoopBudget(new MemoryBudget(CAPACITY, 1));
    private final Account account = new Account(budget);

    /** Lets others hold so much that so many bytes are left. */
    private void leave(long bytes) {
        budget.charge(budget.left() - bytes);
        assertThat(budget.left()).isEqualTo(bytes);
    }

    @Test
    void whatIsOrdinaryFindsRoomUntilNothingIsLeft() {
        leave(Account.ORDINARY);
        assertThat(account.tryCharge(Account.ORDINARY)).isTrue();
        assertThat(account.isGreedy()).isFalse();
        assertThat(budget.left()).isZero();
        assertThat(account.tryCharge(1)).isFalse();
        assertThat(account.held()).isEqualTo(Account.ORDINARY);
    }

    @Test
    void beyondThatHalfOfWhatIsLeftBesidesAReserve() {
        leave(CAPACITY / 2);
        long share = (CAPACITY / 2 - CAPACITY / 8) / 2;
        assertThat(account.tryCharge(share + 1)).isFalse();
        assertThat(account.held()).isZero();
        assertThat(account.tryCharge(share)).isTrue();
        assertThat(account.isGreedy()).isTrue();
        assertThat(account.tryCharge(1)).as("less is left now").isFalse();
    }

    /** Such as a stream whose exchange and connection have ended before. */
    @Test
    void whoJoinsAfterTheLastHasLeftEndsNoOtherAccountOfTheClient() {
        ClientShares shares = new ClientShares();
        Account other = new Account(budget);
        other.countFor(shares, "client");
        account.countFor(shares, "client");
        account.leave();
        account.join();
        account.leave();
        assertThat(shares.size()).isEqualTo(1);
        other.leave();
        assertThat(shares.size()).isZero();
    }

    /** However many connections and event loops it uses. */
    @Test
    void allAccountsOfAClientHoldAsMuchAsIsLeftForOthers() {
        MemoryBudget shared = new MemoryBudget(CAPACITY, 2);
        LoopBudget one = new LoopBudget(shared);
        LoopBudget other = new LoopBudget(shared);
        ClientMemory greedy = new ClientMemory("greedy");
        long charged = 0;
        boolean room = true;
        for (int i = 0; room; i++) {
            Account connection = new Account(i % 2 == 0 ? one : other);
            connection.charge(100);
            connection.countFor(greedy);
            room = connection.tryCharge(Account.ORDINARY - 100);
            charged += connection.held();
        }
        assertThat(charged).isBetween(CAPACITY / 16 * 5 - Account.ORDINARY, CAPACITY / 2 + 100);
        assertThat(greedy.heap().sum()).isEqualTo(charged);
        Account next = new Account(one);
        next.countFor(new ClientMemory("next"));
        assertThat(next.tryCharge(Account.ORDINARY)).isTrue();
        assertThat(next.hasShare(1)).isTrue();
    }

    @Test
    void aClientIsTheReasonIfItHoldsMuchAndOthersWouldGetIt() {
        account.countFor(new ClientMemory("client"));
        while (account.tryCharge(CAPACITY / 64)) {
            // until it is refused
        }
        assertThat(account.isShareUsedUp(CAPACITY / 64)).isTrue();
        assertThat(account.isShareUsedUp(budget.left() + 1))
                .as("nobody would get it")
                .isFalse();
        Account small = new Account(budget);
        assertThat(small.isShareUsedUp(1)).as("of no client").isFalse();
        small.countFor(new ClientMemory("small"));
        small.charge(CAPACITY / 8);
        assertThat(small.isShareUsedUp(1)).as("it does not hold much").isFalse();
    }

    /** Many people may have one address. */
    @Test
    void ofAShareSomethingIsLeftForWhatIsOrdinary() {
        ClientMemory client = new ClientMemory("client");
        account.countFor(client);
        assertThat(account.tryChargeUnfinished(CAPACITY / 16 * 7 - Account.ORDINARY))
                .isTrue();
        assertThat(account.tryChargeUnfinished(CAPACITY / 16)).isFalse();
        assertThat(account.tryCharge(CAPACITY / 16))
                .as("by one that holds much")
                .isFalse();
        assertThat(account.hasShare(1)).isTrue();
        assertThat(account.hasShare(2)).isFalse();
        Account ordinary = new Account(budget);
        ordinary.countFor(client);
        assertThat(ordinary.tryCharge(Account.ORDINARY)).isTrue();
    }

    @Test
    void waitingBodiesHaveSharesOfTheirOwn() {
        Account first = new Account(budget, new LoopBudget(new MemoryBudget(1000, 1)));
        first.countFor(new ClientMemory("first"));
        assertThat(first.waitingBodies().tryCharge(501)).isFalse();
        assertThat(first.waitingBodies().tryCharge(500)).isTrue();
        assertThat(first.waitingBodies().tryCharge(1)).isFalse();
        assertThat(first.tryCharge(1000)).as("of the heap").isTrue();
        first.waitingBodies().release(500);
        assertThat(first.waitingBodies().tryCharge(500)).isTrue();
    }

    @Test
    void whatIsNotCompleteLeavesAnEighthToWhatIs() {
        leave(CAPACITY / 8 + 1000);
        assertThat(account.tryChargeUnfinished(1001)).isFalse();
        assertThat(account.held()).isZero();
        assertThat(account.tryChargeUnfinished(1000)).isTrue();
        assertThat(account.tryChargeUnfinished(1)).isFalse();
        assertThat(account.tryCharge(1)).as("which is complete").isTrue();
        assertThat(account.held()).isEqualTo(1001);
    }

    @Test
    void whatOneCanDoWithoutLeavesHalf() {
        leave(CAPACITY / 2 + 1000);
        assertThat(account.tryChargeSpare(1001)).isFalse();
        assertThat(account.tryChargeSpare(1000)).isTrue();
        assertThat(account.tryChargeSpare(1)).isFalse();
        assertThat(account.tryChargeUnfinished(1)).isTrue();
    }

    @Test
    void whatGivesWayFirstLeavesThreeQuarters() {
        leave(CAPACITY / 4 * 3 + 1000);
        assertThat(account.hasSurplus(1001)).isFalse();
        assertThat(account.tryChargeSurplus(1001)).isFalse();
        assertThat(account.hasSurplus(1000)).isTrue();
        assertThat(account.tryChargeSurplus(1000)).isTrue();
        assertThat(account.tryChargeSurplus(1)).isFalse();
        assertThat(account.tryChargeSpare(1)).as("which is optional").isTrue();
    }

    @Test
    void whatCannotBeRefusedIsChargedThoughNothingIsLeft() {
        leave(0);
        account.charge(CAPACITY);
        assertThat(account.held()).isEqualTo(CAPACITY);
        assertThat(account.isGreedy()).isTrue();
        account.release(CAPACITY);
        assertThat(account.held()).isZero();
        assertThat(account.isGreedy()).isFalse();
        assertThat(budget.held()).isEqualTo(CAPACITY);
    }

    @Test
    void whoCountsNothingIsNeverFullNorGreedy() {
        Account unlimited = Account.UNLIMITED;
        assertThat(unlimited.tryChargeUnfinished(CAPACITY)).isTrue();
        assertThat(unlimited.tryChargeSpare(CAPACITY)).isTrue();
        assertThat(unlimited.tryChargeSurplus(CAPACITY)).isTrue();
        unlimited.charge(CAPACITY);
        assertThat(unlimited.isGreedy()).isFalse();
        unlimited.release(CAPACITY);
        assertThat(unlimited.held()).isZero();
    }

    @Test
    void aMessageIsChargedForWhatHasComeOfIt() {
        leave(CAPACITY / 8 + 1000);
        Holding head = new Holding(account);
        assertThat(head.tryGrowTo(600)).isTrue();
        assertThat(head.tryGrowTo(1000)).isTrue();
        assertThat(head.tryGrowTo(900)).as("less than there is already").isTrue();
        assertThat(account.held()).isEqualTo(1000);
        assertThat(head.tryGrowTo(1001)).isFalse();
        assertThat(head.bytes()).isEqualTo(1000);
        assertThat(head.tryAdd(CAPACITY)).isFalse();
        assertThat(head.bytes()).isEqualTo(1000);
        assertThat(head.tryAdd(10)).isTrue();
        head.remove(1);
        assertThat(account.held()).isEqualTo(1009);
        assertThat(head.bytes()).isEqualTo(1009);
        head.release();
        assertThat(head.bytes()).isZero();
        assertThat(account.held()).isZero();
    }
}
