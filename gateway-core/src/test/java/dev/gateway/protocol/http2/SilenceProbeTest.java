package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whether an upstream that says nothing is found out, in time that only the test moves on. */
class SilenceProbeTest {
    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final List<String> done = new ArrayList<>();
    private final SilenceProbe probe;
    private boolean open = true;
    private boolean awaited;
    private boolean delivering;

    SilenceProbeTest() {
        loop.freezeTime();
        probe = new Probe();
    }

    @AfterEach
    void close() {
        probe.cancel();
        loop.finishAndReleaseAll();
    }

    private final class Probe extends SilenceProbe {
        Probe() {
            super(Pair.wheel(loop));
        }

        @Override
        boolean isOpen() {
            return open;
        }

        @Override
        boolean isAwaited() {
            return awaited;
        }

        @Override
        void ping() {
            done.add("asked");
        }

        @Override
        boolean isDelivering(long millis) {
            return delivering;
        }

        @Override
        void onSilent(boolean first) {
            done.add(first ? "silent" : "still silent");
        }
    }

    private void afterSilence() {
        after(SilenceProbe.SILENT_SECONDS);
    }

    /** A bit more than this, in steps, because the probe counts seconds. */
    private void after(int seconds) {
        for (int i = 0; i < seconds; i++) {
            loop.advanceTimeBy(1_040, TimeUnit.MILLISECONDS);
            loop.runScheduledPendingTasks();
        }
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
        probe.onMessage();
        afterSilence();
        probe.onGivenUp(probe.batches());
        afterSilence();
        assertEquals(List.of("asked", "asked"), done);
    }

    @Test
    void noMoreIsAskedThanMessagesCome() {
        probe.onGivenUp(probe.batches());
        afterSilence();
        probe.onRead(); // the answer to the PING
        afterSilence();
        probe.onGivenUp(probe.batches());
        after(60);
        assertEquals(List.of("asked"), done);
        assertFalse(probe.isArmed());
    }

    @Test
    void anUpstreamThatAnswersNobodyIsFoundWhileARequestWaits() {
        awaited = true;
        probe.onSent();
        after(4);
        assertEquals(List.of(), done);
        after(1);
        assertEquals(List.of("asked"), done);
        after(4);
        assertEquals(List.of("asked"), done);
        after(1);
        assertEquals(List.of("asked", "silent"), done);
        after(5);
        assertEquals(List.of("asked", "silent", "still silent"), done, "while that lasts");
        awaited = false;
        after(1);
        assertFalse(probe.isArmed());
    }

    /** The PING waits behind an upload over a slow link. */
    @Test
    void anUpstreamThatTakesWhatIsSentHasTimeForThePing() {
        delivering = true;
        awaited = true;
        probe.onSent();
        after(60);
        assertEquals(List.of("asked"), done);
        delivering = false;
        after(5);
        assertEquals(List.of("asked", "silent"), done);
    }

    @Test
    void whoIsGivenUpDuringAnUploadIsFoundAfterIt() {
        delivering = true;
        probe.onGivenUp(probe.batches());
        after(20);
        assertEquals(List.of("asked"), done);
        delivering = false;
        after(5);
        assertEquals(List.of("asked", "silent"), done);
    }

    @Test
    void anotherSilenceIsFoundAnew() {
        awaited = true;
        probe.onSent();
        after(15);
        probe.onRead();
        probe.onMessage();
        after(11);
        assertEquals(List.of("asked", "silent", "still silent", "asked", "silent"), done);
    }

    @Test
    void anUpstreamFromWhichSomethingComesIsNotAsked() {
        awaited = true;
        probe.onSent();
        for (int i = 0; i < 10; i++) {
            after(4);
            probe.onRead();
        }
        assertEquals(List.of(), done);
        after(6);
        assertEquals(List.of("asked"), done);
    }

    @Test
    void aRequestThatIsGivenUpAfterOthersWereAnsweredIsAskedFor() {
        awaited = true;
        probe.onSent();
        probe.onRead();
        int sent = probe.batches();
        awaited = false;
        probe.onGivenUp(sent);
        after(5);
        assertEquals(List.of("asked"), done);
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
