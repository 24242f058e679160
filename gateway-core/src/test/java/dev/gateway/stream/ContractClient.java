package dev.gateway.stream;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.List;

/** The client of one connection, in the words of its protocol; has one request at a time. */
public abstract class ContractClient {
    /** What not every protocol has. */
    public enum Ability {
        /** Requests and responses have heads and ends; without, the connection is a tunnel from its first byte. */
        MESSAGES,
        /** A reset ends the stream alone, and its connection takes other requests. */
        STREAMS
    }

    protected final EmbeddedChannel channel;
    private final Intake intake = new Intake();

    /** Makes a client whose connection is this channel; the adapter is yet to be added. */
    protected ContractClient(EmbeddedChannel channel) {
        this.channel = channel;
        channel.freezeTime();
        channel.pipeline().addFirst(intake);
    }

    /** Whether the protocol has that. */
    public abstract boolean has(Ability ability);

    /** Begins a request whose body has no announced length, or all that the protocol has of it. */
    public abstract void open();

    /** Asks for a tunnel. */
    public abstract void openTunnel();

    /** Sends bytes of the body, or through the tunnel. */
    public abstract void send(String bytes);

    /** Ends the body, or its direction of the tunnel. */
    public abstract void end();

    /** Gives the request up at once. */
    public abstract void reset();

    /** Sends something that no body may contain; asked only of a protocol of messages. */
    public abstract void breakRules();

    /** Whether the adapter takes so many bytes more. */
    public abstract boolean maySend(int bytes);

    /** Returns the statuses of the heads that came for the last request. */
    public abstract List<Integer> statuses();

    /** Returns what came of the last response's body, or through the tunnel. */
    public abstract String body();

    /** Whether the last response, or our direction of the tunnel, ended as it should. */
    public abstract boolean isComplete();

    /** Whether it ended otherwise. */
    public abstract boolean isCutShort();

    /** Tells the adapter that its listener is being shut down. */
    public abstract void drain();

    /** Takes what has come since the last call; heads and frames are whole. */
    protected abstract void receive(ByteBuf bytes);

    /** Takes nothing of what is sent until it is told to. */
    public final void stall() {
        intake.stalled = true;
    }

    /** Takes what waits, and what comes. */
    public void takeAll() {
        intake.stalled = false;
        channel.flush();
        settle();
    }

    /** Lets everything happen that is due, and takes what has come. */
    public final void settle() {
        channel.runPendingTasks();
        ByteBuf received = Unpooled.buffer();
        for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
            received.writeBytes(out);
            out.release();
        }
        receive(received);
    }

    /** Sends bytes as they are, unless the connection is closed: then they are lost, as on a network. */
    protected final void sendRaw(ByteBuf bytes) {
        if (channel.isOpen()) {
            channel.writeInbound(bytes);
        } else {
            bytes.release();
        }
        settle();
    }

    /** Closes the connection. */
    public final void close() {
        channel.close();
        settle();
        channel.finishAndReleaseAll();
    }

    /** Holds what is flushed while the client takes nothing. */
    private static final class Intake extends ChannelOutboundHandlerAdapter {
        private boolean stalled;

        @Override
        public void flush(ChannelHandlerContext ctx) {
            if (!stalled) {
                ctx.flush();
            }
        }
    }
}
