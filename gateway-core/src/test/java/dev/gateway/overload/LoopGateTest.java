package dev.gateway.overload;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.OverloadConfig;
import dev.gateway.config.value.Position;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.ClientMemory;
import dev.gateway.overload.memory.ClientShares;
import dev.gateway.overload.memory.Cost;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which connections are let in when memory is short, and who makes room for them. */
class LoopGateTest {
    private static final long CAPACITY = 1024 * 1024;

    private final LoopBudget budget = new LoopBudget(new MemoryBudget(CAPACITY, 1));
    private final LoopGate gate = new LoopGate(new Overload(), budget, null);

    @Test
    void bodiesThatWaitHaveABudgetOfTheirOwn() {
        LoopBudget bodies = new LoopBudget(new MemoryBudget(1000, 1));
        Account bounded = requireNonNull(new LoopGate(new Overload(), budget, bodies).admitConnection());
        long held = budget.held();
        assertThat(bounded.waitingBodies().tryCharge(1001)).isFalse();
        assertThat(bounded.waitingBodies().tryCharge(1000)).isTrue();
        assertThat(bodies.held()).isEqualTo(1000);
        assertThat(budget.held()).isEqualTo(held);
        Account unbounded = requireNonNull(gate.admitConnection());
        assertThat(unbounded.waitingBodies()).isSameAs(Account.UNLIMITED);
    }

    @Test
    void aClientWithItsShareGetsNoFurtherConnection() {
        Account first = requireNonNull(gate.admitConnection());
        assertThat(gate.admitClient(first, "greedy")).isTrue();
        first.charge(CAPACITY / 2);
        Account second = requireNonNull(gate.admitConnection());
        assertThat(gate.admitClient(second, "greedy")).isFalse();
        second.leave();
        second.release(second.held());
        Account other = requireNonNull(gate.admitConnection());
        assertThat(gate.admitClient(other, "other")).isTrue();
        first.release(first.held());
        Account third = requireNonNull(gate.admitConnection());
        assertThat(gate.admitClient(third, "greedy")).isTrue();
        assertThat(third.client()).isSameAs(first.client());
    }

    @Test
    void aClientThatHasLeftIsForgotten() {
        ClientShares clients = new ClientShares();
        LoopGate one = new LoopGate(new Overload(), budget, null, clients, 1);
        Account connection = requireNonNull(one.admitConnection());
        assertThat(one.admitClient(connection, "a")).isTrue();
        Account request = requireNonNull(one.accountOf("a"));
        assertThat(request.client()).isSameAs(connection.client());
        connection.leave();
        assertThat(clients.size()).isOne();
        request.leave();
        assertThat(clients.size()).isZero();
    }

    private final List<Client> closed = new ArrayList<>();

    private final class Client implements LoopGate.Guest {
        private final Account account;
        private boolean busy;

        Client(Account account, boolean busy) {
            this.account = account;
            this.busy = busy;
        }

        @Override
        public boolean giveWay(Resource because, boolean urgent) {
            if (busy) {
                return false;
            }
            closed.add(this);
            account.release(account.held());
            gate.leave(this);
            return true;
        }
    }

    private @Nullable Client connect(boolean busy) {
        Account account = gate.admitConnection();
        if (account == null) {
            return null;
        }
        Client client = new Client(account, busy);
        gate.enter(client);
        return client;
    }

    /** Connects as many as there is room for, or until somebody makes room. */
    private List<Client> fill(boolean busy) {
        List<Client> clients = new ArrayList<>();
        while (closed.isEmpty()) {
            Client client = connect(busy);
            if (client == null) {
                break;
            }
            clients.add(client);
        }
        return clients;
    }

    @Test
    void whoeverComesTakesThePlaceOfTheOldestThatAreNotInUse() {
        List<Client> clients = fill(false);
        assertThat(closed).hasSize(2).containsExactly(clients.get(0), clients.get(1));
        for (int i = 0; i < 1000; i++) {
            assertThat(connect(false)).isNotNull();
        }
        assertThat(budget.left()).isGreaterThan(CAPACITY / 5);
    }

    @Test
    void whoIsBusyStaysAndNobodyElseIsLetIn() {
        List<Client> clients = fill(true);
        assertThat(connect(false)).isNull();
        assertThat(closed).isEmpty();
        assertThat(budget.left()).isBetween(CAPACITY / 8, CAPACITY / 4);
        Client last = clients.get(clients.size() - 1);
        last.busy = false;
        for (int i = 0; i < clients.size() / 32 && closed.isEmpty(); i++) {
            connect(true); // each looks at some
        }
        assertThat(closed).containsExactly(last);
    }

    @Test
    void whoHasItsAnswerAndIsStillSendingGivesWayFirst() {
        List<Client> clients = fill(true);
        assertThat(connect(true)).isNull();
        clients.get(0).busy = false;
        List<Client> answered = List.of(clients.get(7), clients.get(5));
        for (Client client : answered) {
            AnsweredPeers.ofThisLoop().add(() -> {
                client.busy = false;
                return client.giveWay(Resource.CLIENT_HEAP, false);
            });
        }
        assertThat(connect(true)).isNotNull();
        assertThat(closed).isEqualTo(answered);
    }

    @Test
    void nobodyIsClosedWhileThereIsRoom() {
        for (int i = 0; i < 100; i++) {
            assertThat(connect(false)).isNotNull();
        }
        assertThat(closed).isEmpty();
        assertThat(gate.accepted(0)).isZero();
    }

    @Test
    void acceptingSlowsDownWhileConnectionsTakeThePlaceOfOthers() {
        Account others = new Account(budget);
        others.charge(CAPACITY * 25 / 32); // between what new connections want and what they need
        int accepted = 0;
        long millis = 0;
        while (millis == 0) {
            millis = gate.accepted(0);
            accepted++;
        }
        assertThat(accepted).isBetween(50, 200);
        assertThat(gate.accepted(2_000_000_000)).isZero();
    }

    @Test
    void whoComesWhenNobodyCanGiveWayWaitsBeforeItIsRefused() {
        List<Client> clients = fill(true);
        assertThat(gate.accepted(0)).isPositive();
        assertThat(gate.mayAccept(500_000_000)).isFalse();
        clients.forEach(client -> client.busy = false);
        assertThat(gate.mayAccept(600_000_000)).isTrue();
        assertThat(closed).hasSize(2);
    }

    @Test
    void acceptingGoesOnWhereSomebodyGivesWay() {
        List<Client> clients = fill(true);
        clients.forEach(client -> client.busy = false);
        assertThat(gate.accepted(0)).isZero();
        assertThat(closed).hasSize(2);
    }

    @Test
    void whoComesIsRefusedIfNobodyHasGivenWayInTwoSeconds() {
        fill(true);
        assertThat(gate.accepted(0)).isPositive();
        assertThat(gate.mayAccept(1_999_999_999)).isFalse();
        assertThat(gate.mayAccept(2_000_000_000)).isTrue();
        assertThat(gate.accepted(2_000_000_000)).isZero();
    }

    @Test
    void whoHasLeftIsNotAskedToMakeRoom() {
        Client gone = Objects.requireNonNull(connect(false));
        gate.leave(gone);
        List<Client> busy = fill(true);
        assertThat(busy).isNotEmpty();
        assertThat(closed).isEmpty();
    }

    @Test
    void connectionsAreRefusedBeforeRequestsAreWhenTheProcessHasLittleLeft() {
        Overload overload = new Overload();
        double[] level = {0.84};
        overload.watch(new Pressure() {
            @Override
            public Resource resource() {
                return Resource.HEAP;
            }

            @Override
            public double level() {
                return level[0];
            }
        });
        LoopGate watched = new LoopGate(overload, budget, null);
        overload.review();
        assertThat(watched.refusesConnections()).isFalse();
        assertThat(watched.admitConnection()).isNotNull();
        level[0] = 0.86;
        overload.review();
        assertThat(watched.refusesConnections()).isTrue();
        assertThat(watched.admitConnection()).isNull();
        assertThat(watched.admitsRequest(1)).isTrue();
        level[0] = 0.93;
        overload.review();
        assertThat(watched.admitsRequest(1)).isFalse();
        assertThat(LoopGate.OPEN.refusesConnections()).isFalse();
        assertThat(LoopGate.OPEN.admitsRequest(1)).isTrue();
    }

    @Test
    void aLoopTakesItsPartOfTheRequestsThatThereMayBe() {
        Overload overload = new Overload();
        LoopGate oneOfTwo = new LoopGate(overload, budget, null, new ClientShares(), 2);
        assertThat(oneOfTwo.admitsRequest(1_000_000)).isTrue();
        overload.configure(new OverloadConfig(Position.NOWHERE, 0.85, 0.85, 0.85, Duration.ofSeconds(1), 10));
        assertThat(oneOfTwo.admitsRequest(5)).isTrue();
        assertThat(oneOfTwo.admitsRequest(6)).isFalse();
        assertThat(overload.actions().count(Action.REFUSE_REQUEST, Resource.REQUESTS_IN_FLIGHT))
                .isOne();
        overload.configure(new OverloadConfig(Position.NOWHERE, 0.85, 0.85, 0.85, Duration.ofSeconds(1), 1));
        assertThat(oneOfTwo.admitsRequest(1)).isTrue(); // or the loop would serve nobody
    }

    @Test
    void whoIsNotInUseGivesWayWhereFileDescriptorsAreShort() {
        Overload overload = new Overload();
        LoopGate crowded = new LoopGate(overload, budget, null);
        crowded.enter((because, urgent) -> false);
        crowded.onFilesFull(true);
        assertThat(overload.actions().count(Action.CLOSE_IDLE, Resource.OPEN_FILES))
                .isZero();
        crowded.enter((because, urgent) -> true);
        crowded.enter((because, urgent) -> true);
        crowded.enter((because, urgent) -> true);
        crowded.onFilesFull(false);
        assertThat(overload.actions().count(Action.CLOSE_IDLE, Resource.OPEN_FILES))
                .isEqualTo(2);
    }

    private final ClientShares shares = new ClientShares();

    /** A connection that gives way if it was unused for long, or else if nothing is left. */
    private LoopGate.Guest connected(String client, boolean unused, List<String> asked) {
        ClientMemory memory = shares.enter(client);
        return new LoopGate.Guest() {
            @Override
            public boolean giveWay(Resource because, boolean urgent) {
                asked.add(client + (urgent ? ", urgent" : ""));
                return unused || urgent;
            }

            @Override
            public ClientMemory client() {
                return memory;
            }
        };
    }

    @Test
    void whoWasServedAMomentAgoGivesWayOnlyWhereNoFileDescriptorIsLeft() {
        List<String> asked = new ArrayList<>();
        LoopGate crowded = new LoopGate(new Overload(), budget, null, shares, 1);
        crowded.enter(connected("a", false, asked));
        crowded.enter(connected("a", false, asked));
        crowded.onFilesFull(false);
        assertThat(asked).containsExactly("a", "a");
        asked.clear();
        crowded.onFilesFull(true);
        assertThat(asked).containsExactly("a", "a", "a, urgent", "a, urgent");
        crowded.enter(connected("b", true, asked));
        crowded.enter(connected("c", false, asked));
        asked.clear();
        crowded.onFilesFull(true);
        assertThat(asked).as("one was unused for long").containsExactly("b", "c");
    }

    @Test
    void whoHasNoMoreThanAnEqualShareKeepsWhatItUsed() {
        List<String> asked = new ArrayList<>();
        LoopGate crowded = new LoopGate(new Overload(), budget, null, shares, 1);
        crowded.enter(connected("b", false, asked));
        for (int i = 0; i < 5; i++) {
            crowded.enter(connected("a", false, asked));
        }
        crowded.enter((because, urgent) -> {
            asked.add("a proxy" + (urgent ? ", urgent" : ""));
            return urgent;
        });
        crowded.onFilesFull(true);
        assertThat(asked).contains("a, urgent").doesNotContain("b, urgent", "a proxy, urgent");
    }

    @Test
    void allAreAskedWhetherTheyWereUnusedForLongBeforeOneGivesWayThatWasNot() {
        List<String> asked = new ArrayList<>();
        LoopGate crowded = new LoopGate(new Overload(), budget, null, shares, 1);
        for (int i = 0; i < 150; i++) {
            crowded.enter(connected("a", false, asked));
        }
        crowded.enter(connected("b", true, asked));
        crowded.onFilesFull(true);
        crowded.onFilesFull(true);
        crowded.onFilesFull(true);
        assertThat(asked).contains("b").doesNotContain("a, urgent");
    }

    @Test
    void whoIsRefusedAtOnceAgainIsLeftAloneForAWhileAndSoonerIfItHasToConnectAnew() {
        int open = refusedUntilSomebodyWaits(false);
        int closing = refusedUntilSomebodyWaits(true);
        assertThat(closing).isGreaterThan(1);
        assertThat(open).isBetween(4 * closing - 4, 4 * closing + 4);
        for (int i = 0; i < 1000; i++) {
            assertThat(LoopGate.OPEN.refuse(0, true)).isZero();
        }
    }

    private int refusedUntilSomebodyWaits(boolean closing) {
        LoopGate fresh = new LoopGate(new Overload(), budget, null);
        int refused = 1;
        while (fresh.refuse(0, closing) == 0) {
            assertThat(refused++).isLessThan(100_000);
        }
        return refused;
    }

    @Test
    void aConnectionIsChargedAsSoonAsItIsLetIn() {
        Account account = Objects.requireNonNull(gate.admitConnection());
        assertThat(account.held()).isEqualTo(Cost.CONNECTION);
        assertThat(budget.held()).isEqualTo(Cost.CONNECTION);
    }

    @Test
    void aGateThatCountsNothingLetsEverybodyIn() {
        for (int i = 0; i < 1000; i++) {
            assertThat(LoopGate.OPEN.admitConnection()).isSameAs(Account.UNLIMITED);
            assertThat(LoopGate.OPEN.accepted(0)).isZero();
        }
    }
}
