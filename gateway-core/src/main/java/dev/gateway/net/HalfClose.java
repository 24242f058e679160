package dev.gateway.net;

import dev.gateway.net.tls.CloseNotify;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelOutputShutdownException;
import io.netty.channel.socket.DuplexChannel;
import io.netty.channel.unix.Socket;
import io.netty.channel.unix.UnixChannel;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Half-close (shutdown): ending one direction of a connection, or both at once. */
public final class HalfClose {
    private static final Logger log = LoggerFactory.getLogger(HalfClose.class);

    /** The event of a channel whose peer's FIN has come: what is read next is the last. Not every transport tells. */
    private static final Object ENDING = new Object() {
        @Override
        public String toString() {
            return "the peer's FIN has come";
        }
    };

    private static final ChannelFutureListener SHUTDOWN = future -> {
        if (future.isSuccess()) {
            shutdown(future.channel());
        } else {
            future.channel().close();
        }
    };

    private HalfClose() {}

    /**
     * Lets the peer's FIN be an event of its own, where the transport can, instead of closing the channel; so its
     * close_notify, where the engine of TLS can. To be called before anything is read that may be followed by either.
     */
    public static void allow(Channel channel) {
        if (channel instanceof DuplexChannel) {
            channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
        }
        SslHandler tls = tls(channel);
        if (tls != null) {
            CloseNotify.allow(tls, channel.pipeline());
        }
    }

    /**
     * Whether an event of the channel says that the peer has ended its direction, by FIN or by TLS's close_notify. (Once
     * our direction has ended, TLS says so as soon as anything is read.)
     */
    public static boolean isInputEnd(ChannelHandlerContext ctx, Object event) {
        if (event instanceof SslCloseCompletionEvent closed) {
            SslHandler tls = tls(ctx.channel());
            return closed.isSuccess() && tls != null && CloseNotify.isReceived(tls, ctx.channel());
        }
        return event instanceof ChannelInputShutdownEvent;
    }

    /**
     * Whether an event of the channel says that the peer's FIN is known to come behind what is read next, so that nobody
     * sends what would not be answered.
     */
    public static boolean isInputEnding(Object event) {
        return event == ENDING;
    }

    /** Tells a channel's handlers that the peer's FIN has come, before what came with it is read. */
    public static void announceInputEnd(Channel channel) {
        channel.pipeline().fireUserEventTriggered(ENDING);
    }

    /** Whether the channel's bytes go through TLS. */
    public static boolean isSecured(Channel channel) {
        return channel.pipeline().get(SslHandler.class) != null;
    }

    /**
     * Whether the end of a channel's input may be anybody's word: anybody on the way can send a FIN, only the peer can
     * send close_notify. Never so without TLS, where nothing tells them apart.
     */
    public static boolean isCutShort(Channel channel) {
        SslHandler tls = tls(channel);
        return tls != null && !CloseNotify.isReceived(tls, channel);
    }

    /**
     * Lets a write that fails end our direction only. The kernel may have received what the peer sent before it reset the
     * connection, such as an answer to the request that it did not want to read to its end. Reading continues, and
     * reports in the end that the peer is gone.
     */
    public static void survivesWrites(Channel channel, boolean survives) {
        channel.config().setOption(ChannelOption.AUTO_CLOSE, !survives);
    }

    /** Whether an exception of a channel that {@link #survivesWrites} says that our direction has ended. */
    public static boolean isOutputEnd(Channel channel, Throwable cause) {
        return channel.isOpen()
                && (cause instanceof ChannelOutputShutdownException || cause instanceof ClosedChannelException);
    }

    /**
     * Sends what was written, then tells the peer that nothing follows: TLS's close_notify, and FIN. Reading continues. A
     * channel that cannot be half-closed is closed.
     *
     * @return when all was sent
     */
    public static ChannelFuture afterWrites(ChannelHandlerContext ctx) {
        return ctx.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(SHUTDOWN);
    }

    /**
     * Sends FIN, where nothing that was written is left, nothing will be written, and there is no TLS. Reading continues,
     * and reports whether the peer is gone. A channel that cannot be half-closed is closed.
     */
    static void atOnce(Channel channel) {
        if (channel instanceof UnixChannel unix && unix.fd() instanceof Socket socket) {
            try {
                socket.shutdown(false, true); // closing the channel would make later writes create an exception
            } catch (IOException | NotYetConnectedException e) {
                log.debug("the peer is gone", e);
            }
        } else {
            shutdown(channel);
        }
    }

    /** Closes at once by a TCP reset, which a peer cannot take for a proper end. */
    public static void abort(Channel channel) {
        if (!channel.isOpen()) {
            return; // its handlers may not have heard of it yet, but setting options throws by now
        }
        channel.config().setOption(ChannelOption.SO_LINGER, 0);
        // Past TLS, whose close_notify would say that all is well.
        channel.pipeline().firstContext().close();
    }

    private static void shutdown(Channel channel) {
        SslHandler tls = tls(channel);
        if (tls != null) {
            // FIN follows when the channel closes.
            if (channel.eventLoop().isShuttingDown()) {
                tls.closeOutbound();
            } else {
                // Not among the records of one read: BoringSSL, asked again whether its close_notify has left,
                // takes the next record for the answer. Then the engine drops all that follows.
                channel.eventLoop().execute(tls::closeOutbound);
            }
        } else if (channel instanceof DuplexChannel duplex) {
            duplex.shutdownOutput();
        } else {
            channel.close();
        }
    }

    /** Returns the TLS handler that is nearest to the end of the pipeline, null for cleartext. */
    static @Nullable SslHandler tls(Channel channel) {
        if (channel.pipeline().get(SslHandler.class) == null) {
            return null; // going through all of them makes a map of them
        }
        SslHandler last = null;
        for (Map.Entry<String, ChannelHandler> each : channel.pipeline()) {
            if (each.getValue() instanceof SslHandler tls) {
                last = tls;
            }
        }
        return last;
    }
}
