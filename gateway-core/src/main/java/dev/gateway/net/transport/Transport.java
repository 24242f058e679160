package dev.gateway.net.transport;

import dev.gateway.net.Connecting;
import dev.gateway.net.WaitingSizes;
import dev.gateway.net.WriteRoom;
import dev.gateway.overload.memory.DirectMemory;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.unix.UnixChannelOption;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Transport: the process's event loops, the sockets that run on them, and the memory they read into. Made once per process;
 * safe from any thread. That TCP sends at once, without Nagle's algorithm, is Netty's default, and not asked for again.
 */
public final class Transport implements Connector {
    private static final Logger log = LoggerFactory.getLogger(Transport.class);

    private static final RecvByteBufAllocator READS = new ReadSizes();

    private static final int PAGE = 8 << 10;
    /** Chunks of 1 MiB: a loop that is nearly idle costs little, and a container of 64 MiB still has room. */
    private static final int MAX_ORDER = 7;

    /** With less than this, loops keep fewer buffers ready, which by themselves could be a third of it. */
    private static final long SMALL_MEMORY = 128 << 20;

    private static final long STOP_MILLIS = 5000;

    private final TransportKind kind;
    private final MultiThreadIoEventLoopGroup group;
    private final List<EventLoop> loops;
    private final OpenChannels open;
    private final PooledByteBufAllocator allocator;
    private final InheritedSockets inherited;
    private final Descriptors descriptors;
    private volatile boolean stopping;
    private volatile Runnable lost = () -> {};

    private Transport(TransportKind kind, int loopCount, InheritedSockets inherited, Descriptors descriptors) {
        this.kind = kind;
        this.inherited = inherited;
        this.descriptors = descriptors;
        // Only event loops allocate, so no other thread gets a cache, and each loop has an arena for itself.
        boolean small = DirectMemory.max() < SMALL_MEMORY;
        this.allocator = new PooledByteBufAllocator(
                true, 1, loopCount, PAGE, MAX_ORDER, small ? 64 : 256, small ? 16 : 64, false);
        this.group = new MultiThreadIoEventLoopGroup(loopCount, new LoopThreads(), kind.newHandlerFactory(allocator));
        List<EventLoop> all = new ArrayList<>();
        for (EventExecutor loop : group) {
            all.add((EventLoop) loop);
        }
        this.loops = List.copyOf(all);
        this.open = new OpenChannels(loops.get(0));
    }

    /**
     * Starts event loops on the first kind of sockets that works here: the one asked for, else one that is less fast;
     * the log says which and why.
     *
     * @param loopCount how many event loops, 0 for one per available processor
     */
    public static Transport start(TransportKind wanted, int loopCount) {
        return start(wanted, loopCount, InheritedSockets.none());
    }

    /**
     * Starts event loops that can take over sockets.
     *
     * @param inherited what was passed to this process; closed with the transport, or before
     */
    public static Transport start(TransportKind wanted, int loopCount, InheritedSockets inherited) {
        return start(wanted, loopCount, inherited, Descriptors.ofProcess());
    }

    /** Starts event loops whose sockets may have only so many file descriptors. */
    static Transport start(TransportKind wanted, int loopCount, InheritedSockets inherited, Descriptors descriptors) {
        TransportKind kind = wanted;
        if (!inherited.isEmpty() && !kind.takesDescriptors()) {
            log.warn("This process inherited sockets, which only epoll can use: using epoll instead of {}", kind);
            kind = TransportKind.EPOLL; // which there is, or they had not been looked at
        }
        Throwable missing = kind.unavailabilityCause();
        while (missing != null) {
            TransportKind next = kind.fallback();
            log.warn("{} is not available here, falling back to {}: {}", kind, next, missing.toString());
            kind = next;
            missing = kind.unavailabilityCause();
        }
        int count = loopCount > 0 ? loopCount : Runtime.getRuntime().availableProcessors();
        log.info("Transport {}, {} event loops", kind, count);
        tellOfMemory();
        return new Transport(kind, count, inherited, descriptors);
    }

    private static void tellOfMemory() {
        boolean netty = DirectMemory.counter() == DirectMemory.Counter.NETTY;
        log.info(
                "Direct memory of {} MiB at most, counted by {}",
                DirectMemory.max() >> 20,
                netty ? "Netty" : "the JDK");
        if (!netty) {
            log.warn(
                    "When direct memory runs out, the JDK stops event loops for up to half a second each time. Start the"
                            + " JVM with --add-opens=java.base/java.nio=ALL-UNNAMED"
                            + " -Dio.netty.tryReflectionSetAccessible=true to prevent that");
        }
    }

    /** Returns the kind of sockets in use. */
    public TransportKind kind() {
        return kind;
    }

    /** Returns the event loops, always in the same order. */
    public List<EventLoop> loops() {
        return loops;
    }

    /** Returns the allocator of all channels. */
    public ByteBufAllocator allocator() {
        return allocator;
    }

    /** Returns how many bytes of direct memory buffers hold now. Takes a while, as all chunks are asked. */
    public long pinnedMemory() {
        return allocator.pinnedDirectMemory();
    }

    /** Releases buffers that the calling event loop keeps ready and has not used since the last call. */
    public void trimMemory() {
        allocator.trimCurrentThreadCache();
    }

    /** Releases memory that the calling event loop keeps because empty pages lie all over it. */
    public void gatherMemory() {
        EmptyPages.gather(allocator);
    }

    @Override
    public SocketAddress unixAddress(Path path) {
        return kind.unixAddress(path.toString());
    }

    /** Whether several listening sockets may share a port, the kernel spreading connections over them. */
    public boolean canSharePort() {
        return kind != TransportKind.NIO;
    }

    /**
     * Prepares a listening socket on one loop, with the options of accepted connections; the caller adds a handler and
     * binds. Accepted connections live on {@code children}.
     *
     * @param address decides between TCP and Unix-domain; must come from {@link #unixAddress} for the latter
     * @param backlog connections that the kernel keeps until they are accepted
     * @param sharePort whether other sockets may listen at the same port ({@code SO_REUSEPORT})
     */
    public ServerBootstrap server(
            EventLoop loop, EventLoopGroup children, SocketAddress address, int backlog, boolean sharePort) {
        boolean tcp = TransportKind.isTcp(address);
        ServerBootstrap bootstrap = server(loop, children, kind.serverFactory(tcp))
                .option(ChannelOption.SO_BACKLOG, backlog)
                .localAddress(address);
        if (tcp) {
            bootstrap.option(ChannelOption.SO_REUSEADDR, true);
            if (sharePort && canSharePort()) {
                bootstrap.option(UnixChannelOption.SO_REUSEPORT, true);
            }
        }
        return bootstrap;
    }

    /**
     * Prepares a socket that listens already, with the options of accepted connections; the caller adds a handler and
     * registers. Accepted connections live on {@code children}.
     *
     * @param descriptor of the socket, which is the channel's from then on
     */
    public ServerBootstrap listening(EventLoop loop, EventLoopGroup children, SocketAddress address, int descriptor) {
        return server(loop, children, kind.serverFactory(TransportKind.isTcp(address), descriptor));
    }

    private ServerBootstrap server(EventLoop loop, EventLoopGroup children, ChannelFactory<ServerChannel> factory) {
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loop, children)
                .channelFactory(open.knownFrom(factory))
                .handler(open.accepting())
                .option(ChannelOption.ALLOCATOR, allocator)
                .childOption(ChannelOption.ALLOCATOR, allocator)
                .childOption(ChannelOption.RECVBUF_ALLOCATOR, READS)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WriteRoom.USUAL)
                .childOption(ChannelOption.MESSAGE_SIZE_ESTIMATOR, WaitingSizes.INSTANCE)
                // A client may end its sending side and still read: its FIN is an event, not a close.
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
        if (kind.hasReceiveRing()) {
            bootstrap.childOption(ReceiveRing.OPTION, ReceiveRing.GROUP);
        }
        return bootstrap;
    }

    /** Returns the sockets that were passed to this process. */
    public InheritedSockets inherited() {
        return inherited;
    }

    /** Returns the group of all event loops, for children of {@link #server} spread over them. */
    public EventLoopGroup group() {
        return group;
    }

    @Override
    public Descriptors descriptors() {
        return descriptors;
    }

    @Override
    public @Nullable Channel connect(
            EventLoop loop,
            SocketAddress address,
            long connectMillis,
            ChannelHandler handler,
            Consumer<Throwable> failed) {
        return Connecting.connect(client(loop, address, connectMillis).handler(handler), loop, failed);
    }

    /** Prepares a connection made on a loop; the caller adds a handler and connects. */
    public Bootstrap client(EventLoop loop, SocketAddress address, long connectMillis) {
        Bootstrap bootstrap = new Bootstrap()
                .group(loop)
                .channelFactory(open.knownFrom(counted(kind.clientFactory(address))))
                .option(ChannelOption.ALLOCATOR, allocator)
                .option(ChannelOption.RECVBUF_ALLOCATOR, READS)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WriteRoom.USUAL)
                .option(ChannelOption.MESSAGE_SIZE_ESTIMATOR, WaitingSizes.INSTANCE)
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) Math.min(connectMillis, Integer.MAX_VALUE))
                .disableResolver()
                .remoteAddress(address);
        if (kind.hasReceiveRing()) {
            bootstrap.option(ReceiveRing.OPTION, ReceiveRing.GROUP);
        }
        return bootstrap;
    }

    /** Takes a descriptor of the upstreams' share for each channel. */
    private ChannelFactory<Channel> counted(ChannelFactory<Channel> factory) {
        return () -> {
            DescriptorShare share = descriptors.upstreams();
            if (!share.tryTake()) {
                throw new Shortage.NoDescriptorException("no file descriptor is left: of " + descriptors.limit()
                        + ", connections to upstreams have " + share.taken());
            }
            try {
                Channel channel = factory.newChannel();
                channel.closeFuture().addListener(closed -> share.release());
                return channel;
            } catch (Throwable e) {
                share.release();
                throw e;
            }
        };
    }

    /** Returns what makes UDP channels of this transport. */
    public ChannelFactory<DatagramChannel> datagramFactory() {
        return open.knownFrom(kind.datagramFactory());
    }

    /** Returns what makes TCP channels of this transport. */
    public ChannelFactory<SocketChannel> socketFactory() {
        return open.knownFrom(kind.socketFactory());
    }

    /**
     * Has something run, on the thread of the event loop, if one ends that nobody has stopped: by an error that nothing has
     * caught, such as a lack of memory even to report one. What it had stays open, and nobody serves it.
     */
    public void onLoopLost(Runnable told) {
        lost = told;
    }

    /** Threads that report their end, whatever has ended them: what Netty does after an error may fail, too. */
    private final class LoopThreads extends DefaultThreadFactory {
        LoopThreads() {
            super("loop", false);
        }

        @Override
        public Thread newThread(Runnable loop) {
            return super.newThread(() -> {
                try {
                    loop.run();
                } finally {
                    if (!stopping) {
                        lost.run();
                    }
                }
            });
        }
    }

    /**
     * Closes what is open on the event loops, waits until it is, and stops them.
     *
     * @return done when the loops have ended
     */
    public Future<?> stop() {
        stopping = true;
        inherited.close();
        open.closeAll(STOP_MILLIS);
        return group.shutdownGracefully(0, STOP_MILLIS, TimeUnit.MILLISECONDS);
    }
}
