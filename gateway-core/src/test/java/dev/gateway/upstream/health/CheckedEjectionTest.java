package dev.gateway.upstream.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.upstream.UpstreamConfig.ActiveCheck;
import dev.gateway.config.upstream.UpstreamConfig.CheckRequest;
import dev.gateway.config.upstream.UpstreamConfig.HttpCheck;
import dev.gateway.config.upstream.UpstreamConfig.TcpCheck;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.CheckValues;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.OutlierDetection;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamValues;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A good check ends the ejection of an endpoint that did not answer, if the check asks it something. */
class CheckedEjectionTest {
    private static final Endpoint ENDPOINT = new Endpoint(0, "app.test", 9000, 1);
    private static final long INTERVAL = 100;

    private long now = 1;

    /** Lets an endpoint leave a request without an answer, then checks it; returns its state. */
    private Health.State stateAfterCheck(CheckRequest request, int status) {
        EmbeddedChannel loop = new EmbeddedChannel();
        loop.freezeTime();
        ActiveCheck policy = CheckValues.check(request, INTERVAL, INTERVAL, 50, 2, 100);
        OutlierDetection outliers = new OutlierDetection(OutlierDetection.Counts.ABSENCE, 1, 60_000, 60_000, 100);
        Health health = new Health(
                List.of(ENDPOINT, new Endpoint(1, "app2.test", 9000, 1)), RoundRobin::new, outliers, policy, () -> now);
        Upstream upstream = new Upstream("app", health, UpstreamValues.builder().build());
        health.onUnanswered(ENDPOINT, now, now);
        assertThat(health.report(ENDPOINT).state()).isEqualTo(Health.State.EJECTED);
        EndpointCheck check = new EndpointCheck(
                upstream,
                ENDPOINT,
                UpstreamObserver.NONE,
                (to, endpoint, kind, preamble, events, callback) -> answer(status, events, callback),
                new TimerWheel(loop.eventLoop(), () -> now));
        check.start();
        for (int i = 0; i < 2 * INTERVAL; i += 10) {
            now += TimeUnit.MILLISECONDS.toNanos(10);
            loop.advanceTimeBy(10, TimeUnit.MILLISECONDS);
            loop.runScheduledPendingTasks();
        }
        check.stop();
        loop.finishAndReleaseAll();
        return health.report(ENDPOINT).state();
    }

    private static StreamOpener.Opening answer(int status, ResponseEvents events, StreamOpener.Callback callback) {
        ClientStream stream = new ClientStream() {
            @Override
            public void head(RequestHead head, boolean last) {
                events.onHead(new ResponseHead(status, null, Fields.none(), RequestHead.UNKNOWN_LENGTH), true);
            }

            @Override
            public void data(ByteBuf data, boolean last) {
                data.release();
            }

            @Override
            public void trailers(Fields trailers) {}

            @Override
            public void flush() {}

            @Override
            public boolean isWritable() {
                return true;
            }

            @Override
            public void consumed(int bytes) {}

            @Override
            public void reset(Failure failure) {}
        };
        callback.onOpened(stream, new DialedPeer("192.0.2.1:9000", ""));
        return StreamOpener.Opening.DONE;
    }

    @Test
    void aGoodAnswerEndsIt() {
        HttpCheck asks = CheckValues.HTTP;
        assertThat(stateAfterCheck(asks, 200)).isEqualTo(Health.State.HEALTHY);
        assertThat(stateAfterCheck(asks, 404)).isNotEqualTo(Health.State.HEALTHY);
    }

    @Test
    void aConnectionDoesNot() {
        assertThat(stateAfterCheck(new TcpCheck(), 200)).isEqualTo(Health.State.EJECTED);
    }
}
