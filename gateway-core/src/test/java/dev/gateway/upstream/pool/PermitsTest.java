package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who is given the right to a connection, and who is asked to give one up. */
class PermitsTest extends PartsFixture {
    private final List<String> asked = new ArrayList<>();

    /** Somebody who waits, and what it is given. */
    private final class Waiting implements PermitWaiter.Applicant {
        final PermitWaiter waiter;
        final List<Host> granted = new ArrayList<>();
        private final boolean connected;

        Waiting(int index, boolean flexible, boolean connected) {
            this.connected = connected;
            this.waiter = new PermitWaiter(resources, shared.upstream.hosts().get(index), flexible, this);
        }

        boolean tryAcquire() {
            return shared.permits.tryAcquire(waiter);
        }

        @Override
        public boolean hasNoConnection() {
            return !connected;
        }

        @Override
        public void onPermit(Host host) {
            granted.add(host);
        }
    }

    /** A loop with so many connections that it does not use. */
    private final class Idle implements SharedUpstream.Loop {
        private final String name;
        private final EventLoop on;
        private int left;

        Idle(String name, EventLoop on, int left) {
            this.name = name;
            this.on = on;
            this.left = left;
            shared.add(this);
        }

        @Override
        public EventLoop loop() {
            return on;
        }

        @Override
        public int giveUp(int wanted) {
            asked.add(name + " " + wanted);
            int given = Math.min(wanted, left);
            left -= given;
            for (int i = 0; i < given; i++) {
                shared.permits.release(host());
            }
            return given;
        }

        @Override
        public void onHttp2Known() {}

        @Override
        public void onChoice() {}

        @Override
        public void onUnresponsive(Host host, String why) {}

        @Override
        public void onSilent(Endpoint endpoint, long sinceNanos) {
            asked.add(name + " silent");
        }
    }

    private Host host() {
        return shared.upstream.hosts().get(0);
    }

    @Test
    void theyAreGivenInTheOrderOfThoseWhoWait() throws Exception {
        settings.maxConnections(1);
        upstreamOf(1);
        Waiting first = new Waiting(0, false, true);
        Waiting second = new Waiting(0, false, true);
        Waiting third = new Waiting(0, false, true);
        assertThat(first.tryAcquire()).isTrue();
        assertThat(second.tryAcquire()).isFalse();
        assertThat(third.tryAcquire()).isFalse();
        shared.permits.release(host());
        assertThat(shared.permits.tryAcquire(host())).isFalse(); // nobody comes before who waits
        assertThat(second.granted).isEmpty(); // never on the stack of who gives back
        loop.runPendingTasks();
        assertThat(second.granted).containsExactly(host());
        assertThat(third.granted).isEmpty();
        assertThat(second.waiter.isWaiting()).isFalse();
        assertThat(third.waiter.isWaiting()).isTrue();
    }

    /** Another thread has given it back, and has not handed it out yet. */
    @Test
    void aPermitThatIsFreeForAMomentIsForThoseWhoWait() throws Exception {
        settings.maxConnections(1);
        upstreamOf(1);
        Waiting first = new Waiting(0, false, true);
        Waiting second = new Waiting(0, false, true);
        Waiting third = new Waiting(0, false, true);
        assertThat(first.tryAcquire()).isTrue();
        assertThat(second.tryAcquire()).isFalse();
        host().connections().release();
        assertThat(shared.permits.isAvailable(host())).isFalse();
        assertThat(shared.permits.tryAcquire(host())).isFalse();
        assertThat(third.tryAcquire()).isFalse();
        loop.runPendingTasks();
        assertThat(second.granted).containsExactly(host());
        assertThat(third.granted).isEmpty();
    }

    @Test
    void whoIsBeingGivenOneCannotLeave() throws Exception {
        settings.maxConnections(1);
        upstreamOf(1);
        Waiting first = new Waiting(0, false, true);
        Waiting second = new Waiting(0, false, true);
        assertThat(first.tryAcquire()).isTrue();
        assertThat(second.tryAcquire()).isFalse();
        shared.permits.release(host());
        shared.permits.leave(second.waiter);
        assertThat(second.waiter.isWaiting()).isTrue();
        loop.runPendingTasks();
        assertThat(second.granted).hasSize(1);
    }

    @Test
    void whoIsFlexibleTakesOneForAnyEndpoint() throws Exception {
        settings.maxConnections(2);
        upstreamOf(2);
        Host other = shared.upstream.hosts().get(1);
        Waiting bound = new Waiting(0, false, true);
        Waiting flexible = new Waiting(0, true, true);
        shared.permits.acquireBeyond(bound.waiter);
        other.connections().acquireBeyond();
        assertThat(bound.tryAcquire()).isFalse();
        assertThat(flexible.tryAcquire()).isFalse();
        shared.permits.release(other);
        loop.runPendingTasks();
        assertThat(flexible.granted).containsExactly(other);
        assertThat(bound.granted).isEmpty();
    }

    /** Three endpoints may have one each, as long as there are not more than two. */
    @Test
    void whatAnEndpointHadBeyondWhatItMayHaveIsForOthers() throws Exception {
        settings.maxConnections(2);
        upstreamOf(3);
        host().connections().acquireBeyond();
        host().connections().acquireBeyond();
        Waiting waiting = new Waiting(0, true, true);
        assertThat(waiting.tryAcquire()).isFalse();
        shared.permits.release(host());
        loop.runPendingTasks();
        assertThat(waiting.granted).containsExactly(shared.upstream.hosts().get(1));
        assertThat(shared.upstream.connections().taken()).isEqualTo(2);
    }

    @Test
    void theOwnLoopIsAskedFirstAndOthersOnlyForWhatIsStillWanted() throws Exception {
        settings.maxConnections(1);
        upstreamOf(1);
        EmbeddedChannel elsewhere = new EmbeddedChannel();
        Idle other = new Idle("other", elsewhere.eventLoop(), 1);
        Idle own = new Idle("own", loop.eventLoop(), 0);
        shared.permits.acquireBeyond(new Waiting(0, false, true).waiter);
        Waiting waiting = new Waiting(0, false, true);
        assertThat(waiting.tryAcquire()).isFalse();
        elsewhere.runPendingTasks();
        loop.runPendingTasks();
        assertThat(asked).startsWith("own 1", "other 1");
        assertThat(waiting.granted).containsExactly(host());
        assertThat(other.left + own.left).isZero();
    }

    @Test
    void asManyAreAskedForAsItTakesWhileTheLimitIsExceeded() throws Exception {
        settings.maxConnections(1);
        upstreamOf(1);
        Idle own = new Idle("own", loop.eventLoop(), 3);
        for (int i = 0; i < 3; i++) {
            host().connections().acquireBeyond();
        }
        Waiting waiting = new Waiting(0, false, true);
        assertThat(waiting.tryAcquire()).isFalse();
        loop.runPendingTasks();
        assertThat(asked).containsExactly("own 3");
        assertThat(waiting.granted).containsExactly(host());
        assertThat(own.left).isZero();
    }

    /** A request at a silent endpoint takes another connection at once, which must not be an idle one to that endpoint. */
    @Test
    void aSilenceIsKnownHereBeforeItsRequestsHearOfIt() throws Exception {
        upstreamOf(1);
        new Idle("own", loop.eventLoop(), 0);
        shared.onSilent(host().endpoint(), 0);
        assertThat(asked).containsExactly("own silent");
    }

    @Test
    void whatIsIdleAtAnEndpointThatReturnsToServiceIsAskedFor() throws Exception {
        settings.maxConnections(2);
        upstreamOf(2);
        Idle own = new Idle("own", loop.eventLoop(), 0);
        assertThat(new Waiting(0, false, true).tryAcquire()).isTrue();
        assertThat(shared.upstream.health().drain(host().toString(), true)).isTrue();
        Host other = shared.upstream.hosts().get(1);
        other.connections().acquireBeyond();
        other.connections().acquireBeyond();
        Waiting waiting = new Waiting(1, true, true);
        assertThat(waiting.tryAcquire()).isFalse();
        loop.runPendingTasks();
        own.left = 1; // which was of no use to anybody before
        shared.upstream.health().drain(host().toString(), false);
        assertThat(waiting.granted).isEmpty(); // the caller of drain() does not run the grant
        loop.runPendingTasks();
        assertThat(waiting.granted).containsExactly(host());
    }

    @Test
    void aFreeConnectionIsOwedToThoseWhoHaveNone() throws Exception {
        settings.maxConnections(1);
        upstreamOf(1);
        Waiting here = new Waiting(0, false, true);
        Waiting poor = new Waiting(0, false, false);
        assertThat(here.tryAcquire()).isTrue();
        long since = resources.wheel.nanoTime();
        assertThat(shared.permits.isOwedToOthers(here.waiter, since)).isFalse();
        assertThat(poor.tryAcquire()).isFalse();
        assertThat(shared.permits.isOwedToOthers(here.waiter, since)).isTrue();
        shared.permits.leave(poor.waiter);
        assertThat(shared.permits.isOwedToOthers(here.waiter, since)).isFalse();
    }

    @Test
    void aFreeConnectionIsOwedToThoseWhoHaveWaitedMuchLonger() throws Exception {
        settings.maxConnections(1);
        upstreamOf(1);
        Waiting here = new Waiting(0, false, true);
        Waiting rich = new Waiting(0, false, true);
        assertThat(here.tryAcquire()).isTrue();
        assertThat(rich.tryAcquire()).isFalse();
        pass(90);
        assertThat(shared.permits.isOwedToOthers(here.waiter, resources.wheel.nanoTime()))
                .isFalse();
        pass(20);
        assertThat(shared.permits.isOwedToOthers(here.waiter, resources.wheel.nanoTime()))
                .isTrue();
        assertThat(shared.permits.isWanted(host())).isTrue();
    }
}
