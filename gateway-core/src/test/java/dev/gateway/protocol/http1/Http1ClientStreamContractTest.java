package dev.gateway.protocol.http1;

import dev.gateway.stream.ClientStream;
import dev.gateway.stream.ClientStreamContract;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.testing.Blockade;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The contract of streams for HTTP/1, with a body in chunks each way. */
class Http1ClientStreamContractTest extends ClientStreamContract {
    private final Upstream upstream = new Upstream();
    private final StringBuilder sent = new StringBuilder();
    private @Nullable Blockade blockade;

    @Override
    protected Set<Ability> abilities() {
        return Set.of(Ability.ANSWER, Ability.COMPLETE, Ability.TRAILERS);
    }

    @Override
    protected ClientStream open(ResponseEvents events) {
        return upstream.connection.open(events);
    }

    private void respond(String bytes) {
        if (upstream.channel.isOpen()) {
            upstream.respond(bytes);
        }
    }

    @Override
    protected void upstreamAnswers(int status) {
        respond("HTTP/1.1 " + status + " Any\r\nTransfer-Encoding: chunked\r\n\r\n");
    }

    @Override
    protected void upstreamSends(String... pieces) {
        StringBuilder chunks = new StringBuilder();
        for (String piece : pieces) {
            chunks.append(Integer.toHexString(piece.length())).append("\r\n");
            chunks.append(piece).append("\r\n");
        }
        respond(chunks.toString());
    }

    @Override
    protected boolean mayUpstreamSend(int bytes) {
        return upstream.channel.config().isAutoRead();
    }

    @Override
    protected void upstreamEnds() {
        respond("0\r\n\r\n");
    }

    @Override
    protected void upstreamEndsWith(String name, String value) {
        respond("0\r\n" + name + ": " + value + "\r\n\r\n");
    }

    @Override
    protected void upstreamRefuses() {
        upstream.channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
    }

    @Override
    protected void upstreamDies() {
        upstream.channel.close();
        upstream.channel.runPendingTasks();
    }

    @Override
    protected void upstreamStalls() {
        blockade = new Blockade(upstream.channel);
    }

    @Override
    protected void upstreamTakesAgain() {
        if (blockade != null) {
            blockade.lift();
        }
        upstream.channel.runPendingTasks();
    }

    @Override
    protected String received() {
        return read().body;
    }

    @Override
    protected boolean hasReceivedEnd() {
        return read().trailers != null;
    }

    @Override
    protected boolean hasReceivedTrailer(String name) {
        String trailers = read().trailers;
        return trailers != null && trailers.contains(name + ": ");
    }

    @Override
    protected boolean hasReceivedReset() {
        upstream.channel.runPendingTasks();
        return !upstream.channel.isOpen();
    }

    @Override
    protected void tearDown() {
        upstream.finish();
    }

    /**
     * A request's body as far as it was received.
     *
     * @param trailers the lines after the last chunk, null before that
     */
    private record Body(String body, @Nullable String trailers) {}

    private Body read() {
        String all = sent.append(upstream.sent()).toString();
        StringBuilder body = new StringBuilder();
        int at = all.indexOf("\r\n\r\n") + 4;
        for (int end = all.indexOf("\r\n", at); end >= 0; end = all.indexOf("\r\n", at)) {
            int length = Integer.parseInt(all.substring(at, end), 16);
            if (length == 0) {
                return new Body(body.toString(), all.substring(end));
            }
            body.append(all, end + 2, end + 2 + length);
            at = end + 2 + length + 2;
        }
        return new Body(body.toString(), null);
    }
}
