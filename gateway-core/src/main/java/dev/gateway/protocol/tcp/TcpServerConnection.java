package dev.gateway.protocol.tcp;

import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.net.ByteStreamHalf;
import dev.gateway.net.Drainable;
import dev.gateway.net.FirstBytesHandler;
import dev.gateway.net.HalfClose;
import dev.gateway.net.tls.ClientHello;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RequestHandler;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.AsciiString;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * TCP and TLS passthrough connection. A client's connection whose bytes are passed on: a CONNECT to the name that its TLS
 * ClientHello asks for, which is read and passed on too, or to the address that it came to. The last handler of its channel
 * until the tunnel takes its place, confined to its event loop.
 */
public final class TcpServerConnection extends FirstBytesHandler implements Drainable {
    private static final int NOT_FOUND = 404;
    // RFC 8446, section 6: an alert record of TLS 1.0, as every client reads it, and its descriptions.
    private static final byte[] FATAL_ALERT = {21, 3, 1, 0, 2, 2};
    private static final int INTERNAL_ERROR = 80;
    private static final int UNRECOGNIZED_NAME = 112;

    private final ConnectionInfo info;
    private final RequestHandler handler;
    private final ConnectionObserver observer;
    private final TimerWheel timers;
    private final TcpServerSettings settings;
    private @Nullable ByteStreamHalf half;

    /** Makes the handler of an accepted connection, to be added to its channel. */
    public TcpServerConnection(
            ConnectionInfo info,
            RequestHandler handler,
            ConnectionObserver observer,
            TimerWheel timers,
            TcpServerSettings settings) {
        super(timers);
        this.info = info;
        this.handler = handler;
        this.observer = observer;
        this.timers = timers;
        this.settings = settings;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        super.handlerAdded(context);
        if (settings.tls()) {
            waitFor(settings.helloMillis());
        } else {
            begin(localAddress());
        }
    }

    @Override
    protected void onTimeout(boolean begun) {
        if (begun) {
            observer.onViolation("slow_hello");
        } else {
            observer.onIdleClosed();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf data = (ByteBuf) message;
        if (half != null) {
            data.release(); // refused
            return;
        }
        // Copied, since a part of it may be a byte that keeps a large buffer.
        held = ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(context.alloc(), held, data);
        ClientHello.Reading reading = ClientHello.read(held);
        if (reading instanceof ClientHello.Refused refused) {
            observer.onViolation("not_tls");
            TcpServerStream stream = tunnel();
            handler.onRefused(stream, null, Failure.of(Cause.CLIENT_PROTOCOL_ERROR, refused.reason()));
        } else if (reading instanceof ClientHello.Hello hello) {
            String name = hello.serverName();
            InetSocketAddress local = info.local();
            begin(name == null ? localAddress() : local == null ? name : name + ":" + local.getPort());
        } else if (!keepHeld(info)) {
            onCut();
        }
    }

    @Override
    protected void onCut() {
        takeHeld().release();
        handler.onRefused(tunnel(), null, Failure.of(Cause.OVERLOAD, "no memory is left for the hello of a client"));
    }

    private String localAddress() {
        InetSocketAddress local = info.local();
        return local == null ? "localhost" : NetUtil.toSocketAddressString(local);
    }

    private void begin(String authority) {
        stopWaiting();
        TcpServerStream stream = tunnel();
        RequestHead head = new RequestHead(
                Method.CONNECT,
                info.scheme(),
                new AsciiString(authority),
                AsciiString.EMPTY_STRING,
                new Fields(),
                RequestHead.UNKNOWN_LENGTH);
        stream.events(handler.onRequest(stream, head, false));
        ByteStreamHalf made = half;
        if (made != null && !stream.isRefused()) {
            made.begin(takeHeld(), false);
            ctx.pipeline().remove(this);
        }
    }

    private TcpServerStream tunnel() {
        TcpServerStream stream = new TcpServerStream(this::refuse, info);
        ByteStreamHalf made = ByteStreamHalf.ofClient(info, stream, observer, timers);
        half = made;
        stream.over(made);
        ctx.pipeline().addAfter(ctx.name(), null, made);
        return stream;
    }

    private void refuse(int status) {
        if (settings.tls()) {
            ByteBuf alert = Unpooled.buffer(FATAL_ALERT.length + 1)
                    .writeBytes(FATAL_ALERT)
                    .writeByte(status == NOT_FOUND ? UNRECOGNIZED_NAME : INTERNAL_ERROR);
            ctx.channel().writeAndFlush(alert).addListener(ChannelFutureListener.CLOSE);
        } else {
            HalfClose.abort(ctx.channel());
        }
    }

    @Override
    @SuppressWarnings("deprecation") // of exceptionCaught in ChannelHandler, not in ChannelInboundHandler
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        observer.onSocketError();
        context.close();
    }

    /** Tells the tunnel; a client that has not said where to is given a moment. */
    @Override
    public void drain() {
        if (half != null) {
            half.drain();
        } else {
            waitFor(FIRST_REQUEST_MILLIS);
        }
    }

    @Override
    public void end(Failure failure) {
        if (half != null) {
            half.end(failure);
        }
        ctx.channel().close();
    }
}
