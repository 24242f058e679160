package dev.gateway.filter.jwt.jwks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.testing.Buffers;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.stream.ClientPreamble;
import dev.gateway.upstream.stream.StreamKind;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A server of keys that a test plays: it keeps the requests, which the test answers. */
public final class PlayedServer implements StreamOpener {
    /** All requests so far. */
    public final List<Asked> asked = new ArrayList<>();

    @Override
    public Opening open(
            Upstream upstream,
            Endpoint endpoint,
            StreamKind kind,
            @Nullable ClientPreamble preamble,
            ResponseEvents events,
            Callback callback) {
        assertThat(kind).isEqualTo(StreamKind.CHECK);
        Asked one = new Asked(events, callback);
        asked.add(one);
        return one;
    }

    /** Returns the last request. */
    public Asked last() {
        return asked.get(asked.size() - 1);
    }

    /** One request: its opening, and the stream that it gets. */
    public static final class Asked implements Opening, ClientStream {
        private final ResponseEvents events;
        private final Callback callback;

        @Nullable
        RequestHead head;

        boolean cancelled;
        boolean reset;
        private boolean answered;

        private Asked(ResponseEvents events, Callback callback) {
            this.events = events;
            this.callback = callback;
        }

        /** Answers with a set of keys. */
        public void answer(String keys) {
            answer(200, "max-age=600", keys.getBytes(StandardCharsets.UTF_8));
        }

        /** Answers with anything. */
        void answer(int status, String cacheControl, byte[] body) {
            opened();
            Fields fields = new Fields();
            fields.add(FieldName.CACHE_CONTROL, cacheControl);
            events.onHead(new ResponseHead(status, null, fields, body.length), false);
            answered = true;
            for (int from = 0; from < body.length && !reset; from += 4096) {
                int to = Math.min(body.length, from + 4096);
                events.onData(Buffers.of(Arrays.copyOfRange(body, from, to)), to == body.length);
            }
        }

        /** Lets the request out. */
        void opened() {
            callback.onOpened(this, new DialedPeer("192.0.2.1:443", ""));
        }

        void failToOpen(Failure failure) {
            answered = true;
            callback.onOpenFailed(failure);
        }

        void breakOff(Failure failure) {
            answered = true;
            events.onReset(failure);
        }

        boolean isOver() {
            return answered || cancelled || reset;
        }

        @Override
        public void cancel() {
            cancelled = true;
        }

        @Override
        public void head(RequestHead sent, boolean last) {
            assertThat(last).isTrue();
            head = sent;
        }

        @Override
        public void reset(Failure failure) {
            reset = true;
        }

        @Override
        public void consumed(int bytes) {}

        @Override
        public void flush() {}

        @Override
        public boolean isWritable() {
            return true;
        }

        @Override
        public void data(ByteBuf data, boolean last) {
            throw new AssertionError("the request has no body");
        }

        @Override
        public void trailers(Fields trailers) {
            throw new AssertionError("the request has no trailers");
        }
    }
}
