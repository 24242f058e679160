package dev.gateway.net;

import dev.gateway.format.CidrSet;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.haproxy.HAProxyCommand;
import io.netty.handler.codec.haproxy.HAProxyMessage;
import io.netty.handler.codec.haproxy.HAProxyProxiedProtocol;
import io.netty.util.NetUtil;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * PROXY protocol reader: takes the client's address from a PROXY protocol header, version 1 or 2, that a trusted peer must
 * send first. Connections of other peers begin without one; if they send one nevertheless they are closed.
 */
public final class ProxyProtocol {
    private final CidrSet trusted;
    private final long timeoutMillis;

    /**
     * Makes the policy of a listener.
     *
     * @param trusted the peers whose header is believed, and required; a Unix-domain peer is trusted
     * @param timeoutMillis how long a header may take, 0 for no limit
     */
    public ProxyProtocol(CidrSet trusted, long timeoutMillis) {
        this.trusted = trusted;
        this.timeoutMillis = timeoutMillis;
    }

    /** Told whose connection it is, on its event loop. */
    public interface Callback {
        /**
         * The addresses are known; what follows the header has not been read. The callback adds the next handlers.
         *
         * @param peer the client, or null if that is a Unix-domain socket
         * @param local the address the client connected to, or null if that is a Unix-domain socket
         */
        void onAddresses(Channel channel, @Nullable InetSocketAddress peer, @Nullable InetSocketAddress local);

        /** The header is missing, malformed, late, or from a peer that is not trusted; the connection is closed. */
        void onRefused(Channel channel, String detail);
    }

    /** Adds handlers to the end of a connection's pipeline, which remove themselves when they are done. */
    public void expect(ChannelPipeline pipeline, Callback callback) {
        if (isSender(pipeline.channel().remoteAddress())) {
            pipeline.addLast(new ProxyHeaderDecoder(), new Trusted(callback));
        } else {
            pipeline.addLast(new Untrusted(callback));
        }
    }

    /** Whether a peer must send a header, and so connects for others. */
    public boolean isSender(SocketAddress peer) {
        return !(peer instanceof InetSocketAddress inet) || trusted.contains(inet.getAddress());
    }

    private static @Nullable InetSocketAddress inet(@Nullable SocketAddress address) {
        return address instanceof InetSocketAddress inet ? inet : null;
    }

    /** What both kinds of peers have in common: one answer, and a time limit until then. */
    private abstract class Waiting extends ChannelInboundHandlerAdapter {
        final Callback callback;
        boolean done;
        private @Nullable Future<?> timeout;

        Waiting(Callback callback) {
            this.callback = callback;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            if (timeoutMillis > 0) {
                timeout = ctx.executor()
                        .schedule(
                                () -> refuse(ctx, "no PROXY protocol header in time"),
                                timeoutMillis,
                                TimeUnit.MILLISECONDS);
            }
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext ctx) {
            done = true;
            if (timeout != null) {
                timeout.cancel(false);
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ChannelInputShutdownEvent) {
                refuse(ctx, "closed before anything was sent");
            } else {
                ctx.fireUserEventTriggered(event);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            refuse(ctx, "closed before anything was sent");
            ctx.fireChannelInactive();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            refuse(ctx, String.valueOf(cause.getMessage()));
        }

        final void refuse(ChannelHandlerContext ctx, String detail) {
            if (!done) {
                done = true;
                callback.onRefused(ctx.channel(), detail);
                ctx.close();
            }
        }
    }

    private final class Trusted extends Waiting {
        Trusted(Callback callback) {
            super(callback);
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (done || !(message instanceof HAProxyMessage header)) {
                ReferenceCountUtil.release(message);
                return;
            }
            InetSocketAddress peer = inet(ctx.channel().remoteAddress());
            InetSocketAddress local = inet(ctx.channel().localAddress());
            try {
                // LOCAL is the proxy itself, such as its health check; UNKNOWN tells nothing.
                if (header.command() == HAProxyCommand.PROXY
                        && header.proxiedProtocol() != HAProxyProxiedProtocol.UNKNOWN) {
                    peer = address(header.sourceAddress(), header.sourcePort());
                    local = destination(header, local);
                }
            } finally {
                header.release();
            }
            done = true;
            callback.onAddresses(ctx.channel(), peer, local);
            ctx.pipeline().remove(this);
        }

        /** Some proxies do not know which address the client connected to, and write zeros. Ours is the next best. */
        private static @Nullable InetSocketAddress destination(
                HAProxyMessage header, @Nullable InetSocketAddress ours) {
            InetSocketAddress told = address(header.destinationAddress(), header.destinationPort());
            return told != null && told.getPort() == 0 ? ours : told;
        }

        private static @Nullable InetSocketAddress address(@Nullable String ip, int port) {
            byte[] bytes = ip == null ? null : NetUtil.createByteArrayFromIpAddressString(ip);
            if (bytes == null) {
                return null; // a Unix-domain path
            }
            try {
                return new InetSocketAddress(InetAddress.getByAddress(bytes), port);
            } catch (UnknownHostException e) {
                throw new IllegalStateException(e); // the length is that of an address
            }
        }
    }

    /** Looks at the first bytes only as long as they could begin a header. */
    private final class Untrusted extends Waiting {
        private static final byte[] V1 = "PROXY ".getBytes(StandardCharsets.US_ASCII);
        private static final byte[] V2 = {13, 10, 13, 10, 0, 13, 10, 'Q', 'U', 'I', 'T', 10};

        private ByteBuf held = Unpooled.EMPTY_BUFFER;

        Untrusted(Callback callback) {
            super(callback);
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ByteBuf data = (ByteBuf) message;
            if (done) {
                data.release();
                return;
            }
            held = held.isReadable() ? Unpooled.wrappedBuffer(held, data) : data;
            int v1 = matching(V1);
            int v2 = matching(V2);
            if (v1 == V1.length || v2 == V2.length) {
                refuse(ctx, "PROXY protocol header from a peer that is not trusted");
            } else if (v1 < held.readableBytes() && v2 < held.readableBytes()) {
                pass(ctx);
            }
        }

        private int matching(byte[] prefix) {
            int length = Math.min(prefix.length, held.readableBytes());
            int i = 0;
            while (i < length && held.getByte(held.readerIndex() + i) == prefix[i]) {
                i++;
            }
            return i;
        }

        private void pass(ChannelHandlerContext ctx) {
            done = true;
            callback.onAddresses(
                    ctx.channel(),
                    inet(ctx.channel().remoteAddress()),
                    inet(ctx.channel().localAddress()));
            ByteBuf data = held;
            held = Unpooled.EMPTY_BUFFER;
            ctx.fireChannelRead(data);
            ctx.pipeline().remove(this);
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext ctx) {
            super.handlerRemoved(ctx);
            held.release();
            held = Unpooled.EMPTY_BUFFER;
        }
    }
}
