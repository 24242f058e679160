package dev.gateway.protocol.tcp;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.ByteStreamHalf;
import dev.gateway.overload.memory.Cost;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;

/**
 * TCP client stream. A tunnel to an upstream, which is a connection of its own: there is nobody who would answer a CONNECT,
 * so this does, and what follows are the connection's bytes. Made for an established connection by the code that dialed it,
 * confined to its event loop.
 */
public final class TcpClientStream implements ClientStream {
    private static final int OK = 200;

    private final ByteStreamHalf half;
    private final ResponseEvents events;
    private boolean answered;

    private TcpClientStream(Runnable onOver, ResponseEvents events, ConnectionObserver observer, TimerWheel timers) {
        this.events = events;
        this.half = ByteStreamHalf.ofUpstream(onOver, events, observer, timers);
    }

    /**
     * Makes the stream and puts it last into the pipeline. Its head is to be sent before the channel reads on.
     *
     * @param onOver both directions have ended, or the tunnel has failed: the connection closes. Called once
     * @param events who is told what the upstream does
     */
    public static TcpClientStream over(
            Channel channel, Runnable onOver, ResponseEvents events, ConnectionObserver observer, TimerWheel timers) {
        TcpClientStream stream = new TcpClientStream(onOver, events, observer, timers);
        channel.pipeline().addLast(stream.half);
        return stream;
    }

    @Override
    public long heldHeap() {
        return Cost.UPSTREAM;
    }

    @Override
    public void head(RequestHead head, boolean last) {
        if (answered || half.isOver()) {
            return;
        }
        answered = true;
        events.onHead(new ResponseHead(OK, null, Fields.none(), RequestHead.UNKNOWN_LENGTH), false);
        if (last) {
            half.data(Unpooled.EMPTY_BUFFER, true);
        }
        events.onReadComplete(); // the client waits for its answer
    }

    @Override
    public void data(ByteBuf data, boolean last) {
        half.data(data, last);
    }

    @Override
    public void trailers(Fields trailers) {
        half.trailers(trailers);
    }

    @Override
    public void flush() {
        half.flush();
    }

    @Override
    public boolean isWritable() {
        return half.isWritable();
    }

    @Override
    public long unsent() {
        return half.unsent();
    }

    @Override
    public void consumed(int bytes) {
        half.consumed(bytes);
    }

    @Override
    public void reset(Failure failure) {
        half.reset(failure);
    }

    /** Closes the connection at once, if the tunnel is not over; its events are told why. */
    public void end(Failure failure) {
        half.end(failure);
    }
}
