package dev.gateway.net.tls;

import dev.gateway.net.tls.ClientCertificates.Checked;
import dev.gateway.stream.ConnectionInfo.TlsInfo;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.ssl.ReferenceCountedOpenSslEngine;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.internal.tcnative.SSL;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertificateException;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/** Waits behind the TLS handler for the end of the handshake, tells it once, and leaves the pipeline. */
final class HandshakeHandler extends ChannelInboundHandlerAdapter {
    private final HandshakeCallback callback;
    private final HelloHandler hello;
    private final long begunNanos = System.nanoTime(); // the connection has just been accepted
    private final @Nullable ClientCertificates certificates;
    private boolean done;

    /**
     * Makes it.
     *
     * @param certificates what is asked of clients' certificates, null if they show none
     */
    HandshakeHandler(HandshakeCallback callback, HelloHandler hello, @Nullable ClientCertificates certificates) {
        this.certificates = certificates;
        this.callback = callback;
        this.hello = hello;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof SslHandshakeCompletionEvent completion) {
            if (completion.isSuccess()) {
                succeed(ctx);
            } else {
                fail(ctx, completion.cause());
            }
        } else if (event instanceof ChannelInputShutdownEvent && !done) {
            fail(
                    ctx,
                    new ClosedChannelException()); // without the rest of the handshake, as of a check for an open port
        } else {
            ctx.fireUserEventTriggered(event);
        }
    }

    private void succeed(ChannelHandlerContext ctx) {
        if (done) {
            return;
        }
        SslHandler handler = ctx.pipeline().get(SslHandler.class);
        Checked client = Checked.NONE;
        if (certificates != null) {
            try {
                client = certificates.check(handler.engine().getSession());
            } catch (CertificateException e) {
                fail(ctx, e);
                return;
            }
        }
        // This comes first: if it throws, the failure is reported before anything else.
        TlsInfo info = describe(handler.engine(), client, System.nanoTime() - begunNanos);
        done = true;
        callback.onSecured(ctx.channel(), handler.applicationProtocol(), info);
        ctx.pipeline().remove(this);
    }

    private void fail(ChannelHandlerContext ctx, Throwable cause) {
        if (!done) {
            done = true;
            callback.onHandshakeFailed(ctx.channel(), cause);
        }
        ctx.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        fail(ctx, cause); // of the hello, or what the TLS handler throws besides its event
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (!done) {
            fail(ctx, new ClosedChannelException());
        }
        ctx.fireChannelInactive();
    }

    private TlsInfo describe(SSLEngine engine, Checked client, long nanos) {
        SSLSession session = engine.getSession();
        return new TlsInfo(
                session.getProtocol(),
                session.getCipherSuite(),
                hello.serverName(),
                clientSubject(session),
                client.chain(),
                client.untilMillis(),
                engine instanceof ReferenceCountedOpenSslEngine openSsl && SSL.isSessionReused(openSsl.sslPointer()),
                nanos);
    }

    private static @Nullable String clientSubject(SSLSession session) {
        try {
            return session.getPeerPrincipal().getName();
        } catch (SSLPeerUnverifiedException e) {
            return null; // the API's way of saying that there is no client certificate
        }
    }
}
