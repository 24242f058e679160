package dev.gateway.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whether an upstream that says nothing is found out, in time that only the test moves on. */
class SilenceProbeTest implements SilenceProbe.Owner {
    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final List<String> done = new ArrayList<>();
    private final SilenceProbe probe;
    private boolean open = true;

    SilenceProbeTest() {
        loop.freezeTime();
        probe = new SilenceProbe(this, Pair.wheel(loop));
    }

    @AfterEach
    void close() {
        probe.cancel();
        loop.finishAndReleaseAll();
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public void ping(long data) {
        done.add("asked");
    }

    @Override
    public void onSilent() {
        done.add("silent");
    }

    private void afterSilence() {
        loop.advanceTimeBy(SilenceProbe.SILENCE_MILLIS + 200, TimeUnit.MILLISECONDS);
        loop.runScheduledPendingTasks();
    }

    @Test
    void anUpstreamThatDoesNotAnswerIsGone() {
        probe.onGivenUp(probe.batches());
        assertEquals(List.of(), done);
        afterSilence();
        assertEquals(List.of("asked"), done);
        afterSilence();
        assertEquals(List.of("asked", "silent"), done);
        assertFalse(probe.isArmed());
    }

    @Test
    void anUpstreamThatSaysAnythingIsThere() {
        probe.onGivenUp(probe.batches());
        afterSilence();
        probe.onRead();
        afterSilence();
        assertEquals(List.of("asked"), done);
        assertFalse(probe.isArmed());
    }

    @Test
    void anUpstreamThatHasSaidSomethingSinceTheRequestIsNotAsked() {
        int sent = probe.batches();
        probe.onRead();
        probe.onGivenUp(sent);
        assertFalse(probe.isArmed());
    }

    @Test
    void manyRequestsGivenUpAskOnce() {
        probe.onGivenUp(probe.batches());
        afterSilence();
        probe.onGivenUp(probe.batches());
        afterSilence();
        assertEquals(List.of("asked", "silent"), done);
    }

    @Test
    void aLaterSilenceIsAskedAboutAnew() {
        probe.onGivenUp(probe.batches());
        afterSilence();
        probe.onRead();
        afterSilence();
        probe.onGivenUp(probe.batches());
        afterSilence();
        assertEquals(List.of("asked", "asked"), done);
    }

    @Test
    void aClosedConnectionIsAskedNothing() {
        probe.onGivenUp(probe.batches());
        open = false;
        afterSilence();
        assertEquals(List.of(), done);
        probe.onGivenUp(probe.batches());
        assertFalse(probe.isArmed());
    }
}
