package dev.gateway.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.admin.AdminPages.Outcome;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.observe.metrics.Metrics;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** In which order things happen to a client of the admin listener. */
class AdminHandlerTest {
    private final List<String> events = new ArrayList<>();
    private final BlockingQueue<Runnable> loop = new LinkedBlockingQueue<>();
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private final Metrics metrics = new Metrics("1.2.3");
    private final AdminWork work = new AdminWork();
    private final AdminPages pages = new AdminPages(new ReadyHealth(), metrics, new NoTunnels(), work);
    private final AdminDoor door = new AdminDoor(new AdminAccess(null, AdminAccess.Reach.NETWORK));
    private final AdminHandler handler = new AdminHandler(pages, door, loop::add);

    @AfterEach
    void stop() {
        work.close();
        metrics.close();
    }

    @Test
    void anOperationBeginsWhenItsAnswerHasBeenWritten() throws Exception {
        door.guard(new AdminAccess(null, AdminAccess.Reach.MACHINE));
        post();
        outcome.complete(Outcome.accepted("ending", () -> events.add("operation")));
        loop.take().run();
        assertThat(events).containsExactly("head 202", "data", "flush", "operation");
    }

    @Test
    void anOperationBeginsThoughTheClientHasGoneMeanwhile() throws Exception {
        door.guard(new AdminAccess(null, AdminAccess.Reach.MACHINE));
        post().onReset(Failure.of(Cause.CLIENT_CLOSED, "connection closed"));
        outcome.complete(Outcome.accepted("ending", () -> events.add("operation")));
        loop.take().run();
        assertThat(events).containsExactly("operation");
    }

    @Test
    void whoMayNotHaveItDoneBeginsNothing() throws Exception {
        outcome.complete(Outcome.accepted("ending", () -> events.add("operation")));
        post();
        if (events.isEmpty()) { // else the refusal was there at once
            loop.take().run();
        }
        assertThat(events).containsExactly("head 403", "data", "flush");
    }

    private StreamEvents post() {
        pages.post("/end", asked -> outcome);
        Fields fields = new Fields();
        fields.add(AdminToken.REQUESTED_BY, new AsciiString("a test"));
        RequestHead head = new RequestHead(
                Method.of("POST"),
                new AsciiString("http"),
                new AsciiString("localhost"),
                new AsciiString("/end"),
                fields,
                0);
        return handler.onRequest(new Client(), head, true);
    }

    /** Tells what the client gets. */
    private final class Client implements ServerStream {
        @Override
        public void head(ResponseHead head, boolean last) {
            events.add("head " + head.status());
        }

        @Override
        public void data(ByteBuf data, boolean last) {
            data.release();
            events.add("data");
        }

        @Override
        public void trailers(Fields trailers) {
            events.add("trailers");
        }

        @Override
        public void flush() {
            events.add("flush");
        }

        @Override
        public boolean isWritable() {
            return true;
        }

        @Override
        public void consumed(int bytes) {}

        @Override
        public void reset(Failure failure) {
            events.add("reset");
        }

        @Override
        public ConnectionInfo connection() {
            return new ConnectionInfo(0, "admin", HttpVersion.HTTP_1_1, null, null, null);
        }
    }

    private static final class NoTunnels implements AdminPages.Tunnels {
        @Override
        public List<String> listeners() {
            return List.of();
        }

        @Override
        public @Nullable String proxyAutoConfig(String listener, String host) {
            return null;
        }

        @Override
        public @Nullable String noProxy(String listener) {
            return null;
        }

        @Override
        public @Nullable String allowList(String listener) {
            return null;
        }
    }
}
