package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.net.PeerAcks;
import dev.gateway.time.TimerWheel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whether an endpoint that is gone is found out, and only such a one, in time that only the test moves on. */
class AckWatchTest implements AckWatch.Watched {
    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final List<String> done = new ArrayList<>();
    private final AckWatch watch;
    private boolean awaited = true;
    private boolean closes; // when nobody is there
    private boolean known = true;
    private boolean unacked;
    private boolean unackedProbes;
    private int activity;
    private int reads;
    private int seconds;
    private int lastAck = -60; // of an earlier request

    AckWatchTest() {
        loop.freezeTime();
        watch = new AckWatch(
                this,
                new TimerWheel(loop.eventLoop(), () -> loop.eventLoop().ticker().nanoTime()));
    }

    @AfterEach
    void close() {
        watch.cancel();
        loop.finishAndReleaseAll();
    }

    @Override
    public boolean isAwaited() {
        return awaited;
    }

    @Override
    public int activity() {
        return activity;
    }

    @Override
    public @Nullable PeerAcks acks() {
        reads++;
        return known ? new PeerAcks(unacked, unackedProbes, (seconds - lastAck) * 1000L) : null;
    }

    @Override
    public void probe(boolean on) {
        done.add(on ? "probes" : "probes no more");
    }

    @Override
    public void onSilent(boolean first) {
        done.add((first ? "silent at " : "still silent at ") + seconds);
        awaited = !closes;
    }

    private void pass(int count) {
        for (int i = 0; i < count; i++) {
            seconds++;
            loop.advanceTimeBy(1_040, TimeUnit.MILLISECONDS); // the timer may be late by its resolution
            loop.runScheduledPendingTasks();
        }
    }

    @Test
    void whatIsNotAcknowledgedForTenSecondsHasNobodyThere() {
        unacked = true;
        watch.begin();
        pass(4);
        assertThat(reads).as("it costs nothing until then").isZero();
        pass(5);
        assertThat(done).containsExactly("probes");
        pass(1);
        assertThat(done).containsExactly("probes", "probes no more", "silent at 10");
        pass(10);
        assertThat(done).endsWith("silent at 10", "still silent at 20").hasSize(4);
        assertThat(reads).as("at most once a second").isLessThanOrEqualTo(12);
    }

    /** As from an endpoint whose process is stopped. */
    @Test
    void anAcknowledgedRequestMayTakeAsLongAsItLikes() {
        watch.begin();
        lastAck = 0;
        pass(600);
        assertThat(done).containsExactly("probes");
    }

    @Test
    void whoAcknowledgesProbesIsThere() {
        watch.begin();
        lastAck = 0;
        for (int i = 0; i < 20; i++) {
            pass(8);
            unackedProbes = true; // one is lost, or is on its way
            pass(3);
            unackedProbes = false;
            lastAck = seconds;
        }
        assertThat(done).containsExactly("probes");
    }

    @Test
    void probesThatNobodyAcknowledgesForTenSecondsHaveNobodyThere() {
        watch.begin();
        lastAck = 0;
        pass(20);
        unackedProbes = true;
        pass(9);
        assertThat(done).containsExactly("probes");
        pass(1);
        assertThat(done).as("and end no connection").containsExactly("probes", "probes no more", "silent at 30");
    }

    /** Nothing asks any more, so the kernel does not find out. */
    @Test
    void anEndpointThatIsBackIsNotFoundOnceMore() {
        watch.begin();
        lastAck = 0;
        unackedProbes = true;
        pass(60);
        assertThat(done.stream().filter(each -> each.startsWith("silent"))).hasSize(1);
    }

    @Test
    void theSilenceAfterAnAcknowledgementIsAnother() {
        unacked = true;
        watch.begin();
        pass(10);
        lastAck = seconds;
        pass(10);
        assertThat(done)
                .containsExactly(
                        "probes", "probes no more", "silent at 10", "probes", "probes no more", "silent at 20");
    }

    @Test
    void aConnectionThatIsClosedWhenNobodyIsThereIsNotWatchedAnyMore() {
        closes = true;
        unacked = true;
        watch.begin();
        pass(10);
        assertThat(done).endsWith("silent at 10");
        assertThat(watch.isArmed()).isFalse();
    }

    /** A probe of a closed window may be sent a minute after the one before. */
    @Test
    void aProbeThatWasJustSentIsNoSilence() {
        watch.begin();
        lastAck = 0;
        pass(60);
        unackedProbes = true;
        pass(1);
        unackedProbes = false;
        lastAck = seconds;
        pass(60);
        assertThat(done).containsExactly("probes");
    }

    @Test
    void whatWasSentJustNowHasTime() {
        unacked = true;
        watch.begin();
        for (int i = 0; i < 10; i++) {
            pass(9);
            activity++; // the next part of the request
        }
        assertThat(done).doesNotContain("silent at 10").allMatch(each -> each.startsWith("probes"));
        pass(11);
        assertThat(done).endsWith("silent at " + seconds);
    }

    @Test
    void anAcknowledgementOfAPartIsOne() {
        unacked = true;
        watch.begin();
        pass(8);
        lastAck = seconds;
        pass(9);
        assertThat(done).containsExactly("probes");
        pass(1);
        assertThat(done).contains("silent at 18");
    }

    @Test
    void withoutARequestThatWaitsNothingIsAsked() {
        awaited = false;
        watch.begin();
        pass(1);
        assertThat(watch.isArmed()).isFalse();
        assertThat(reads).isZero();
        awaited = true;
        watch.begin();
        pass(6);
        awaited = false;
        pass(1);
        assertThat(done).containsExactly("probes", "probes no more");
        assertThat(watch.isArmed()).isFalse();
    }

    @Test
    void whereTheTransportCannotTellNothingIsFound() {
        known = false;
        unacked = true;
        watch.begin();
        pass(60);
        assertThat(done).isEmpty();
    }
}
