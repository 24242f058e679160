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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers the requests of the admin listener on one event loop. What takes long is done by another thread, so that
 * exchanges do not wait for it.
 */
public final class AdminHandler implements RequestHandler {
    private static final Logger log = LoggerFactory.getLogger(AdminHandler.class);
    private static final AsciiString ALLOW = new AsciiString("Allow");
    private static final AsciiString GET_AND_HEAD = new AsciiString("GET, HEAD");
    private static final AsciiString POST = new AsciiString("POST");
    private static final AsciiString NO_STORE = new AsciiString("no-store");

    private final AdminPages pages;
    private final Executor loop;

    /**
     * Makes the handler of an event loop.
     *
     * @param loop runs on the event loop
     */
    public AdminHandler(AdminPages pages, Executor loop) {
        this.pages = pages;
        this.loop = loop;
    }

    @Override
    public StreamEvents onRequest(ServerStream stream, RequestHead head, boolean last) {
        head.refuseUpgrade();
        Reply reply = new Reply(stream, head.method().equals(Method.HEAD));
        AdminPages.Page page = pages.find(path(head));
        if (page == null) {
            reply.send(AdminPages.Content.text(404, "no such page; / lists them"));
        } else if (!page.takes(head.method())) {
            AsciiString allowed = page.acts() ? POST : GET_AND_HEAD;
            reply.send(new AdminPages.Content(405, AdminPages.TEXT, "only " + allowed + "\n", Map.of(ALLOW, allowed)));
        } else {
            answer(reply, head, page.content(head));
        }
        return reply;
    }

    private void answer(Reply reply, RequestHead head, CompletableFuture<AdminPages.Content> content) {
        CompletableFuture<AdminPages.Content> told = content.exceptionally(failure -> {
            log.warn("admin page {} failed", head.path(), failure);
            return AdminPages.Content.text(500, "the page could not be made; the log tells why");
        });
        if (told.isDone()) {
            reply.send(told.join());
        } else {
            told.thenAcceptAsync(reply::send, loop);
        }
    }

    private static String path(RequestHead head) {
        return head.path().subSequence(0, head.queryStart()).toString();
    }

    @Override
    public void onRefused(ServerStream stream, @Nullable RequestHead head, Failure failure) {
        boolean isHead = head != null && head.method().equals(Method.HEAD);
        new Reply(stream, isHead).send(AdminPages.Content.text(failure.status(), failure.detail()));
    }

    /** One request: its body is dropped, its answer sent once. */
    private static final class Reply implements StreamEvents {
        private final ServerStream stream;
        private final boolean withoutBody;
        private boolean over;

        Reply(ServerStream stream, boolean withoutBody) {
            this.stream = stream;
            this.withoutBody = withoutBody;
        }

        void send(AdminPages.Content content) {
            if (over) {
                return; // the client has gone
            }
            over = true;
            byte[] body = content.text().getBytes(StandardCharsets.UTF_8);
            Fields fields = new Fields();
            fields.add(FieldName.CONTENT_TYPE, content.type());
            fields.add(FieldName.CACHE_CONTROL, NO_STORE);
            content.fields().forEach(fields::add);
            stream.head(new ResponseHead(content.status(), null, fields, body.length), withoutBody);
            if (!withoutBody) {
                stream.data(Unpooled.wrappedBuffer(body), true);
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
