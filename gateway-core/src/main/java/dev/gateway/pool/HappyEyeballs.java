package dev.gateway.pool;

import dev.gateway.net.dns.Resolver;
import dev.gateway.net.transport.Shortage;
import dev.gateway.stream.Cause;
import dev.gateway.time.Timer;
import dev.gateway.upstream.AddressPolicy;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Happy Eyeballs (RFC 8305): connects to the address of a host that answers first. It tries IPv6 and IPv4 addresses
 * alternately, each a moment after the one before, or as soon as that has failed. The policy decides about an address just
 * before it is tried. Made for one connection, confined to its event loop; ends in one call of its callback, or in {@link
 * #cancel}.
 */
final class HappyEyeballs {
    /** How long an IPv4 answer waits for the IPv6 answer. */
    private static final long RESOLUTION_DELAY_MILLIS = 50;

    /** How long an attempt has before the next one joins it. */
    private static final long ATTEMPT_DELAY_MILLIS = 250;

    private static final int MAX_ATTEMPTS = 8;

    private final LoopResources resources;
    private final ConnectTarget target;
    private final Callback callback;
    private final Deque<InetAddress> ipv6 = new ArrayDeque<>(4);
    private final Deque<InetAddress> ipv4 = new ArrayDeque<>(4);
    private final List<Attempt> underway = new ArrayList<>(2);
    private final List<String> failures = new ArrayList<>(2);
    private boolean lacksResources; // an attempt failed because the gateway lacked a descriptor, a port or memory
    private boolean ipv6Answered;
    private boolean ipv4Answered;
    private boolean ipv4Next; // the families take turns
    private boolean begun;
    private boolean repeated; // see Attempt
    private boolean done;
    private int attempts;
    private long startNanos;
    private @Nullable String refusal;

    /** Ends the wait for the IPv6 answer, and later the time that the last attempt has before the next one. */
    private final Timer nextTimer = new Timer() {
        @Override
        protected void onExpired() {
            begun = true;
            runNext();
        }
    };

    private final Timer totalTimer = new Timer() {
        @Override
        protected void onExpired() {
            underway.forEach(attempt -> failures.add(attempt + ": no answer in " + target.connectMillis + " ms"));
            fail(Cause.CONNECT_TIMEOUT);
        }
    };

    /**
     * The host to connect to.
     *
     * @param requested whether a client has named the host, not the configuration
     * @param policy decides about addresses, null to allow all
     * @param turn selects which of several addresses of a family is tried first
     * @param connectMillis limit for all attempts together, from the first on; 0 for the kernel's limit only
     */
    record ConnectTarget(
            String host, int port, boolean requested, @Nullable AddressPolicy policy, int turn, long connectMillis) {}

    /** Gets the outcome, maybe before {@link HappyEyeballs#start} returns. */
    interface Callback {
        /**
         * The channel is connected and has no handlers. Handlers that are added now get no {@code channelActive}.
         *
         * @param begunNanos when the first attempt was made, by the wheel's clock
         */
        void onConnected(Channel channel, long begunNanos);

        /** No connection could be made. */
        void onFailed(Cause cause, String detail);
    }

    HappyEyeballs(LoopResources resources, ConnectTarget target, Callback callback) {
        this.resources = resources;
        this.target = target;
        this.callback = callback;
    }

    void start() {
        Resolver.Answers answers = target.requested
                ? resources.resolver.resolveExactly(resources.loop, target.host)
                : resources.resolver.resolve(resources.loop, target.host);
        answers.ipv6().addListener((Future<List<InetAddress>> answer) -> {
            ipv6Answered = true;
            onAnswer(ipv6, answer);
        });
        answers.ipv4().addListener((Future<List<InetAddress>> answer) -> {
            ipv4Answered = true;
            onAnswer(ipv4, answer);
        });
    }

    /** Cancels it; the callback is not called. */
    void cancel() {
        done = true;
        nextTimer.cancel();
        totalTimer.cancel();
        List.copyOf(underway).forEach(Attempt::close);
    }

    private void onAnswer(Deque<InetAddress> family, Future<List<InetAddress>> answer) {
        if (done) {
            return;
        }
        if (answer.isSuccess()) {
            List<InetAddress> found = answer.getNow();
            for (int i = 0; i < Math.min(found.size(), MAX_ATTEMPTS); i++) {
                family.add(found.get(Math.floorMod(target.turn + i, found.size())));
            }
        } else if (attempts == 0) {
            String failure = DialFailure.describe(answer.cause());
            if (!failures.contains(failure)) { // usually both families fail in the same way
                failures.add(failure);
            }
        }
        boolean ready = ipv6Answered && (ipv4Answered || !ipv6.isEmpty());
        if (begun ? !nextTimer.isArmed() : ready) {
            begun = true;
            runNext();
        } else if (!begun && !ipv4.isEmpty()) {
            resources.wheel.arm(nextTimer, RESOLUTION_DELAY_MILLIS);
        }
    }

    private void runNext() {
        nextTimer.cancel();
        while (attempts < MAX_ATTEMPTS && !(ipv6.isEmpty() && ipv4.isEmpty())) {
            InetAddress address = next();
            String reason = target.policy == null ? null : target.policy.refuse(target.host, address, target.port);
            if (reason == null) {
                run(address);
                return;
            }
            refusal = reason;
        }
        if (underway.isEmpty() && ipv6Answered && ipv4Answered) {
            Cause failed = lacksResources ? Cause.OVERLOAD : Cause.CONNECT_FAILED;
            fail(attempts > 0 ? failed : refusal != null ? Cause.POLICY_ADDRESS : Cause.DNS_FAILED);
        }
    }

    private InetAddress next() {
        boolean takesIpv4 = ipv6.isEmpty() || (ipv4Next && !ipv4.isEmpty());
        ipv4Next = !takesIpv4;
        return takesIpv4 ? ipv4.remove() : ipv6.remove();
    }

    private void run(InetAddress address) {
        if (attempts++ == 0) {
            failures.clear(); // failures of name resolution, which no longer matter
            startNanos = resources.wheel.nanoTime();
            if (target.connectMillis > 0) {
                resources.wheel.arm(totalTimer, target.connectMillis);
            }
        }
        resources.wheel.arm(nextTimer, lead());
        Attempt attempt = new Attempt(address);
        underway.add(attempt);
        attempt.run();
    }

    /** How long this attempt has before the next one begins. If there is little time, each address gets its share of it. */
    private long lead() {
        if (target.connectMillis == 0) {
            return ATTEMPT_DELAY_MILLIS;
        }
        long left = target.connectMillis - (resources.wheel.nanoTime() - startNanos) / 1_000_000;
        int others = ipv6.size() + ipv4.size() + (ipv6Answered && ipv4Answered ? 0 : 1);
        return Math.min(ATTEMPT_DELAY_MILLIS, left / (others + 1));
    }

    private void onLost(Attempt attempt, Throwable cause) {
        underway.remove(attempt);
        if (done) {
            return;
        }
        if (attempt.spoilt && !repeated) {
            repeated = true;
            run(attempt.address);
        } else {
            lacksResources |= Shortage.isOurs(cause, attempt.address);
            failures.add(attempt + ": " + DialFailure.describe(cause));
            runNext();
        }
    }

    private void fail(Cause cause) {
        cancel();
        if (refusal != null) {
            if (cause == Cause.POLICY_ADDRESS) {
                failures.clear();
            }
            failures.add(refusal);
        }
        callback.onFailed(cause, String.join("; ", failures));
    }

    /** An attempt to connect to one address. */
    private final class Attempt extends ChannelInboundHandlerAdapter {
        final InetAddress address;
        private @Nullable Channel channel;

        /**
         * Whether this socket got an event of the former socket with the same file descriptor, which epoll had reported in
         * the same batch. It can read no more then.
         */
        boolean spoilt;

        Attempt(InetAddress address) {
            this.address = address;
        }

        void run() {
            InetSocketAddress remote = new InetSocketAddress(address, target.port);
            channel = resources.connector.connect(resources.loop, remote, 0, this, cause -> onLost(this, cause));
        }

        void close() {
            if (channel != null) {
                channel.close();
            }
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            underway.remove(this);
            if (done) {
                ctx.close();
                return;
            }
            cancel();
            ctx.pipeline().remove(this);
            try {
                callback.onConnected(ctx.channel(), startNanos);
            } catch (
                    Throwable e) { // Netty would tell it to a handler, and the waiting caller would never get an answer
                ctx.channel().close();
                callback.onFailed(Cause.CONNECT_FAILED, DialFailure.describe(e));
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ChannelInputShutdownEvent) {
                spoilt = true;
                ctx.close();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            // The connect promise reports failures. An exception here belongs to the descriptor's former socket.
        }

        @Override
        public String toString() {
            return NetUtil.toAddressString(address);
        }
    }
}
