package dev.gateway.tests.support;

import dev.gateway.tests.peer.Peer;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDomainDatagramChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.DomainDatagramPacket;
import io.netty.channel.unix.DomainSocketAddress;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** What systemd is to its services: a datagram socket at which they tell how they are. */
public final class NotifyReceiver implements AutoCloseable {
    private final BlockingQueue<String> messages = new LinkedBlockingQueue<>();
    private final EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    private final String address;

    /**
     * Listens.
     *
     * @param address the path of a socket to be, or a name in the abstract namespace after an {@code @}
     */
    public NotifyReceiver(String address) {
        Epoll.ensureAvailability();
        this.address = address;
        String name = address.startsWith("@") ? "\0" + address.substring(1) : address;
        new Bootstrap()
                .group(group)
                .channel(EpollDomainDatagramChannel.class)
                .handler(new SimpleChannelInboundHandler<DomainDatagramPacket>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext ctx, DomainDatagramPacket packet) {
                        messages.add(packet.content().toString(StandardCharsets.UTF_8));
                    }
                })
                .bind(new DomainSocketAddress(name))
                .syncUninterruptibly();
    }

    public String address() {
        return address;
    }

    /** Waits for the next message that is of a kind, and passes over all before it. */
    public String await(Predicate<String> wanted) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(3 * Peer.PATIENCE_MILLIS);
        while (true) {
            String message = messages.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (message == null) {
                throw new IOException("nothing of the kind was told");
            }
            if (wanted.test(message)) {
                return message;
            }
        }
    }

    /** Waits for the next message that begins in some way. */
    public String await(String beginning) throws IOException, InterruptedException {
        return await(message -> message.startsWith(beginning));
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
