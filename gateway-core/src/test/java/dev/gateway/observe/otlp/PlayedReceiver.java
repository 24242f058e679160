package dev.gateway.observe.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.testing.Buffers;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamValues;
import dev.gateway.upstream.stream.ClientPreamble;
import dev.gateway.upstream.stream.StreamKind;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A receiver of OTLP that a test plays: it keeps the requests, which the test answers. */
final class PlayedReceiver implements StreamOpener {
    /** All requests so far. */
    final List<Asked> asked = new ArrayList<>();

    /** Returns a link that nobody uses. */
    static Link link() {
        return new PlayedReceiver().link(new TimerWheel(new EmbeddedChannel().eventLoop()));
    }

    /** Returns the link to this receiver. */
    Link link(TimerWheel wheel) {
        Upstream upstream = new Upstream(
                "otlp:http://collector.test:4318",
                List.of(new Endpoint(0, "collector.test", 4318, 1)),
                RoundRobin::new,
                UpstreamValues.builder().build());
        return new Link(upstream, this, wheel);
    }

    @Override
    public Opening open(
            Upstream upstream,
            Endpoint endpoint,
            StreamKind kind,
            @Nullable ClientPreamble preamble,
            ResponseEvents events,
            Callback callback) {
        Asked one = new Asked(events, callback);
        asked.add(one);
        return one;
    }

    /** Returns the last request. */
    Asked last() {
        return asked.get(asked.size() - 1);
    }

    /** One request: its opening, and the stream that it gets. */
    static final class Asked implements Opening, ClientStream {
        private final ResponseEvents events;
        private final Callback callback;
        private final ByteArrayOutputStream body = new ByteArrayOutputStream();
        private @Nullable RequestHead head;
        private boolean complete;
        private boolean over;

        private Asked(ResponseEvents events, Callback callback) {
            this.events = events;
            this.callback = callback;
        }

        /** Lets the request out, which is complete then. */
        void opened() {
            callback.onOpened(this, new DialedPeer("192.0.2.1:4318", ""));
            assertThat(complete).isTrue();
        }

        void answer(int status, String text) {
            opened();
            over = true;
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            events.onHead(new ResponseHead(status, null, new Fields(), bytes.length), false);
            events.onData(Buffers.of(bytes), true);
        }

        void failToOpen(Failure failure) {
            over = true;
            callback.onOpenFailed(failure);
        }

        void breakOff(Failure failure) {
            opened();
            over = true;
            events.onReset(failure);
        }

        RequestHead head() {
            return Objects.requireNonNull(head);
        }

        byte[] body() {
            return body.toByteArray();
        }

        boolean isOver() {
            return over;
        }

        @Override
        public void cancel() {
            over = true;
        }

        @Override
        public void reset(Failure failure) {
            over = true;
        }

        @Override
        public void head(RequestHead sent, boolean last) {
            assertThat(last).isFalse();
            head = sent;
        }

        @Override
        public void data(ByteBuf data, boolean last) {
            body.writeBytes(ByteBufUtil.getBytes(data));
            data.release();
            complete = last;
        }

        @Override
        public void trailers(Fields trailers) {
            throw new AssertionError("the request has no trailers");
        }

        @Override
        public void consumed(int bytes) {}

        @Override
        public void flush() {}

        @Override
        public boolean isWritable() {
            return true;
        }
    }
}
