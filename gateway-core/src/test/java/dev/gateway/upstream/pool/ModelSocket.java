package dev.gateway.upstream.pool;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.AbstractChannel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A connection to an endpoint, without a kernel: what becomes of it is up to the test, which runs its event loop. */
final class ModelSocket extends AbstractChannel {
    private static final ChannelMetadata METADATA = new ChannelMetadata(false);

    final ModelLoop loop;
    final InetSocketAddress address;
    final ModelServer server = new ModelServer();
    private final Consumer<Throwable> failed;
    private final ChannelConfig config;
    private boolean connected;
    private boolean over; // connected, failed or closed: the attempt to connect
    private boolean closed;

    ModelSocket(ModelLoop loop, InetSocketAddress address, Consumer<Throwable> failed) {
        super(null);
        this.loop = loop;
        this.address = address;
        this.failed = failed;
        this.config = new DefaultChannelConfig(this).setAllocator(new UnpooledByteBufAllocator(false));
    }

    boolean isConnecting() {
        return !over && !closed;
    }

    // What happens to it, to be called on its loop.

    void connect() {
        over = true;
        connected = true;
        pipeline().fireChannelActive();
    }

    void refuse() {
        over = true;
        failed.accept(new IOException("refused"));
        unsafe().close(voidPromise());
    }

    void receive(ByteBuf bytes) {
        pipeline().fireChannelRead(bytes);
        pipeline().fireChannelReadComplete();
    }

    /** The server ends its direction. */
    void fin() {
        server.close();
        if (server.isHttp2()) { // which knows no half-closed connection
            unsafe().close(voidPromise());
        } else {
            pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        }
    }

    void reset() {
        pipeline().fireExceptionCaught(new IOException("reset by the peer"));
        unsafe().close(voidPromise());
    }

    // What a channel has to offer.

    @Override
    public boolean isOpen() {
        return !closed;
    }

    @Override
    public boolean isActive() {
        return connected && !closed;
    }

    @Override
    public ChannelConfig config() {
        return config;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new AbstractUnsafe() {
            @Override
            public void connect(SocketAddress remote, @Nullable SocketAddress local, ChannelPromise promise) {
                throw new UnsupportedOperationException();
            }
        };
    }

    @Override
    protected boolean isCompatible(EventLoop eventLoop) {
        return true;
    }

    @Override
    protected @Nullable SocketAddress localAddress0() {
        return null;
    }

    @Override
    protected SocketAddress remoteAddress0() {
        return address;
    }

    @Override
    protected void doBind(SocketAddress local) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected void doDisconnect() {
        doClose();
    }

    @Override
    protected void doClose() {
        if (closed) {
            return;
        }
        closed = true;
        if (!over) {
            over = true;
            failed.accept(new ClosedChannelException());
        }
    }

    @Override
    protected void doBeginRead() {}

    @Override
    protected void doWrite(ChannelOutboundBuffer out) {
        for (Object message = out.current(); message != null; message = out.current()) {
            server.read((ByteBuf) message);
            out.remove();
        }
    }
}
