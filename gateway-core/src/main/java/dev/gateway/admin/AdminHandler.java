package dev.gateway.admin;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Request handler of the admin listener: answers the requests of the admin listener on one event loop. What takes long is
 * done by another thread, so that exchanges do not wait for it.
 */
public final class AdminHandler implements RequestHandler {
    private static final Logger log = LoggerFactory.getLogger(AdminHandler.class);
    private static final AsciiString ALLOW = new AsciiString("Allow");
    private static final AsciiString GET_AND_HEAD = new AsciiString("GET, HEAD");
    private static final AsciiString POST = new AsciiString("POST");
    private static final AsciiString ALL = new AsciiString("GET, HEAD, POST");
    private static final AsciiString NO_STORE = new AsciiString("no-store");
    private static final AsciiString NO_CACHE = new AsciiString("no-cache"); // keep it, and ask whether it has changed
    private static final AsciiString CONTENT_TYPE_OPTIONS = new AsciiString("X-Content-Type-Options");
    private static final AsciiString NO_SNIFF = new AsciiString("nosniff"); // what was asked stands in some answers
    private static final FieldName IF_NONE_MATCH = FieldName.of("If-None-Match");

    private final AdminPages pages;
    private final AdminDoor door;
    private final Executor loop;

    /**
     * Makes the handler of an event loop.
     *
     * @param door of the listener
     * @param loop runs on the event loop
     */
    public AdminHandler(AdminPages pages, AdminDoor door, Executor loop) {
        this.pages = pages;
        this.door = door;
        this.loop = loop;
    }

    @Override
    public StreamEvents onRequest(ServerStream stream, RequestHead head, boolean last) {
        head.refuseUpgrade();
        Method method = head.method();
        Reply reply = new Reply(stream, head);
        boolean acts = !method.equals(Method.GET) && !method.equals(Method.HEAD);
        String path = head.path().toString(0, head.queryStart());
        Page page = acts && !method.equals(Method.POST) ? null : pages.find(path, acts);
        if (page != null) {
            answer(
                    reply,
                    head,
                    page.answer()
                            .to(new AdminRequest(
                                    head,
                                    door.access(),
                                    Query.decode(path.substring(page.path().length())))));
        } else {
            reply.send(refusal(pages.find(path, false) != null, pages.find(path, true) != null));
        }
        return reply;
    }

    private static AdminResponse refusal(boolean shown, boolean acts) {
        if (!shown && !acts) {
            return AdminResponse.text(404, "no such page; / lists them");
        }
        AsciiString allowed = shown && acts ? ALL : acts ? POST : GET_AND_HEAD;
        return new AdminResponse(405, AdminResponse.TEXT, "allowed: " + allowed + "\n", Map.of(ALLOW, allowed));
    }

    private void answer(Reply reply, RequestHead head, CompletableFuture<AdminResponse> content) {
        CompletableFuture<AdminResponse> told = content.exceptionally(failure -> {
            if (failure instanceof RejectedExecutionException
                    || failure.getCause() instanceof RejectedExecutionException) {
                return AdminResponse.text(503, "the admin listener is busy; try again later");
            }
            log.warn("The admin page {} failed", head.path(), failure);
            return AdminResponse.text(500, "the gateway could not make the page; its log says why");
        });
        if (told.isDone()) {
            deliver(reply, told.join());
        } else {
            told.thenAcceptAsync(answer -> deliver(reply, answer), loop);
        }
    }

    /** Sends a response, then begins the announced action, which may close this connection. */
    private static void deliver(Reply reply, AdminResponse content) {
        reply.send(content);
        content.next().run();
    }

    @Override
    public void onRefused(ServerStream stream, @Nullable RequestHead head, Failure failure) {
        new Reply(stream, head).send(AdminResponse.text(failure.status(), failure.detail()));
    }

    /** One request: its body is dropped, its answer sent once. */
    private static final class Reply implements StreamEvents {
        private final ServerStream stream;
        private final boolean withoutBody;
        private final @Nullable AsciiString known; // what the client has of the page already
        private boolean over;

        Reply(ServerStream stream, @Nullable RequestHead head) {
            this.stream = stream;
            this.withoutBody = head != null && head.method().equals(Method.HEAD);
            this.known = head == null ? null : head.fields().first(IF_NONE_MATCH);
        }

        void send(AdminResponse content) {
            if (over) {
                return; // the client has gone
            }
            over = true;
            AsciiString tag = content.fields().get(AdminResponse.ETAG);
            Fields fields = new Fields();
            fields.add(FieldName.CACHE_CONTROL, tag == null ? NO_STORE : NO_CACHE);
            if (tag != null && known != null && known.contains(tag)) {
                fields.add(AdminResponse.ETAG, tag);
                stream.head(new ResponseHead(304, null, fields, RequestHead.UNKNOWN_LENGTH), true);
            } else {
                byte[] body = content.text().getBytes(StandardCharsets.UTF_8);
                fields.add(FieldName.CONTENT_TYPE, content.type());
                fields.add(CONTENT_TYPE_OPTIONS, NO_SNIFF);
                content.fields().forEach(fields::add);
                stream.head(new ResponseHead(content.status(), null, fields, body.length), withoutBody);
                if (!withoutBody) {
                    stream.data(Unpooled.wrappedBuffer(body), true);
                }
            }
            stream.flush();
        }

        @Override
        public void onData(ByteBuf data, boolean last) {
            int bytes = data.readableBytes();
            data.release();
            stream.consumed(bytes);
        }

        @Override
        public void onTrailers(Fields trailers) {}

        @Override
        public void onWritable() {}

        @Override
        public void onReadComplete() {}

        @Override
        public void onReset(Failure failure) {
            over = true;
        }
    }
}
