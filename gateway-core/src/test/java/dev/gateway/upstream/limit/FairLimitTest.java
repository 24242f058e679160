package dev.gateway.upstream.limit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.testing.Race;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;

class FairLimitTest {
    @Test
    void nobodyTakesWhatIsKeptForOthers() {
        List<Host> hosts = hosts(10, 1, 1, 1);
        assertThat(take(hosts.get(0), 100)).isEqualTo(4); // its three and the one that is left over
        assertThat(take(hosts.get(1), 100)).isEqualTo(3);
        assertThat(take(hosts.get(2), 100)).isEqualTo(3);
        assertThat(hosts.get(2).connections().hasRoom()).isFalse();
        hosts.get(0).connections().release();
        assertThat(hosts.get(2).connections().hasRoom()).isTrue();
        assertThat(take(hosts.get(2), 100)).as("what is nobody's own").isEqualTo(1);
        assertThat(take(hosts.get(0), 100)).isZero();
    }

    @Test
    void aShareFollowsTheWeightButIsOneAtLeast() {
        List<Host> hosts = hosts(12, 8, 1, 1);
        assertThat(take(hosts.get(1), 100)).as("one, and what is left over").isEqualTo(3);
        assertThat(take(hosts.get(2), 100)).isEqualTo(1);
        assertThat(take(hosts.get(0), 100)).isEqualTo(8);
        List<Host> few = hosts(3, 1_000_000, 1, 1);
        assertThat(take(few.get(0), 100)).isEqualTo(1);
        assertThat(take(few.get(2), 100)).isEqualTo(1);
    }

    @Test
    void nobodyHasTwoIfThereAreNotEnoughForAll() {
        List<Host> hosts = hosts(2, 1, 1, 1);
        assertThat(take(hosts.get(0), 100)).isEqualTo(1);
        assertThat(take(hosts.get(1), 100)).isEqualTo(1);
        assertThat(take(hosts.get(2), 100)).isZero();
        hosts.get(0).connections().release();
        assertThat(take(hosts.get(2), 100)).isEqualTo(1);
    }

    @Test
    void theOnlyEndpointHasAll() {
        Host only = hosts(5, 7).get(0);
        assertThat(take(only, 100)).isEqualTo(5);
        only.connections().acquireBeyond();
        assertThat(only.connections().isExceeded()).isTrue();
        only.connections().release();
        assertThat(only.connections().isExceeded()).isFalse();
        assertThat(only.connections().tryAcquire()).isFalse();
    }

    @Test
    void withoutALimitEverybodyGetsAny() {
        assertThat(take(hosts(0, 1, 1).get(0), 10_000)).isEqualTo(10_000);
    }

    @Test
    void whatAnEndpointOutOfServiceHoldsIsNotMissingElsewhere() {
        List<Host> hosts = hosts(9, 1, 1, 1);
        take(hosts.get(0), 3);
        limit.divide(hosts, hosts.subList(1, 3), Host::weight, Host::connections);
        assertThat(take(hosts.get(1), 100))
                .as("four of nine, and the one left over")
                .isEqualTo(5);
        assertThat(take(hosts.get(2), 100)).isEqualTo(4);
        limit.divide(hosts, hosts, Host::weight, Host::connections);
        assertThat(limit.taken()).isEqualTo(12);
        for (Host each : hosts) {
            assertThat(each.connections().tryAcquire())
                    .as("all have more than their share")
                    .isFalse();
        }
        release(hosts.get(1), 5);
        assertThat(take(hosts.get(1), 100)).isEqualTo(3);
    }

    @Test
    void whatAnEndpointOutOfServiceHasBeyondItsShareIsNotMissingEither() {
        List<Host> hosts = hosts(11, 1, 1, 1);
        assertThat(take(hosts.get(0), 5))
                .as("its three and the two that are left over")
                .isEqualTo(5);
        limit.divide(hosts, hosts.subList(1, 3), Host::weight, Host::connections);
        assertThat(take(hosts.get(1), 100))
                .as("five of eleven, and the one left over")
                .isEqualTo(6);
        assertThat(take(hosts.get(2), 100)).isEqualTo(5);
    }

    @Test
    void whereThereIsOneForEachNobodyTakesThatOfAnotherWhateverHappens() {
        List<Host> hosts = hosts(3, 1, 1, 1);
        hosts.get(0).connections().acquireBeyond();
        hosts.get(0).connections().acquireBeyond();
        assertThat(hosts.get(0).connections().isExceeded()).isTrue();
        assertThat(take(hosts.get(1), 100)).isEqualTo(1);
        assertThat(take(hosts.get(2), 100)).isEqualTo(1);
    }

    @Test
    void theLastOneOfAnEndpointGoesToOneEventLoop() throws InterruptedException {
        Share only = hosts(1, 1).get(0).connections();
        Race.assertOneWinner(only::tryAcquire, only::tryAcquire, only::release);
        assertThat(limit.taken()).isZero();
    }

    @Test
    void whatIsLeftForAllGoesToOneEndpoint() throws InterruptedException {
        List<Host> hosts = hosts(3, 1, 1);
        assertThat(take(hosts.get(0), 1)).isEqualTo(1);
        assertThat(take(hosts.get(1), 1)).isEqualTo(1);
        Share first = hosts.get(0).connections();
        Share second = hosts.get(1).connections();
        Race.assertOneWinner(
                first::tryAcquire, second::tryAcquire, () -> (first.isBeyondKept() ? first : second).release());
        assertThat(limit.taken()).isEqualTo(2);
    }

    /** However threads interleave, what is taken and given back comes out even, also while shares change. */
    @Test
    void nothingIsLostBetweenThreads() throws InterruptedException {
        List<Host> hosts = hosts(7, 3, 1, 1);
        CountDownLatch done = new CountDownLatch(4);
        for (int t = 0; t < 4; t++) {
            new Thread(() -> {
                        for (int i = 0; i < 20_000; i++) {
                            Host host = hosts.get(ThreadLocalRandom.current().nextInt(3));
                            if (host.connections().tryAcquire()) {
                                host.connections().release();
                            }
                        }
                        done.countDown();
                    })
                    .start();
        }
        for (int i = 0; done.getCount() > 0; i++) {
            limit.divide(hosts, hosts.subList(i % 3, 3), Host::weight, Host::connections);
        }
        limit.divide(hosts, hosts, Host::weight, Host::connections);
        assertThat(limit.taken()).isZero();
        int all = hosts.stream().mapToInt(each -> take(each, 100)).sum();
        assertThat(all).isEqualTo(7);
    }

    private FairLimit limit = new FairLimit(0);

    /** An endpoint, as a limit sees it. */
    private record Host(int weight, Share connections) {}

    private List<Host> hosts(int max, int... weights) {
        limit = new FairLimit(max);
        List<Host> hosts = new ArrayList<>();
        for (int weight : weights) {
            hosts.add(new Host(weight, limit.newShare()));
        }
        limit.divide(hosts, hosts, Host::weight, Host::connections);
        return hosts;
    }

    private static int take(Host host, int wanted) {
        int taken = 0;
        while (taken < wanted && host.connections().tryAcquire()) {
            taken++;
        }
        return taken;
    }

    private static void release(Host host, int count) {
        for (int i = 0; i < count; i++) {
            host.connections().release();
        }
    }
}
