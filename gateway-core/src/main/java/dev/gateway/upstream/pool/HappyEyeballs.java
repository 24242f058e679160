package dev.gateway.upstream.pool;

import dev.gateway.net.dns.LookupLimitException;
import dev.gateway.net.dns.Resolver;
import dev.gateway.net.transport.Shortage;
import dev.gateway.overload.memory.Account;
import dev.gateway.stream.Cause;
import dev.gateway.time.Timer;
import dev.gateway.upstream.dial.AddressPolicy;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.FutureListener;
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

    /** Each answer of DNS allows so many attempts. */
    private static final int MAX_ATTEMPTS = 8;

    /** DNS is asked again after this part of the time for connecting, or after a second if that is unlimited. */
    private static final int PATIENCE_DIVISOR = 6;

    private static final long UNLIMITED_PATIENCE_MILLIS = 1000;

    /** How long a failure waits for another answer of DNS. */
    private static final long ANSWER_MILLIS = 500;

    private final LoopResources resources;
    private final ConnectTarget target;
    private final Callback callback;
    private final Deque<InetAddress> ipv6 = new ArrayDeque<>(4);
    private final Deque<InetAddress> ipv4 = new ArrayDeque<>(4);
    private final List<Attempt> underway = new ArrayList<>(2);
    private final List<InetAddress> tried = new ArrayList<>(2);
    private final List<String> failures = new ArrayList<>(2);
    private boolean lacksResources; // an attempt failed because the gateway lacked a descriptor, a port or memory
    private boolean lacksLookup; // DNS was not asked, because too many lookups are running
    private boolean ipv6Answered;
    private boolean ipv4Answered;
    private boolean ipv4Next; // the families take turns
    private boolean begun;
    private boolean repeated; // see Attempt
    private boolean done;
    private int attempts;
    private int most = MAX_ATTEMPTS;
    private boolean wasCached; // so DNS may have another answer by now
    private boolean doubted; // after the last attempt had failed
    private boolean waitsForAnswer; // with its failure
    private Resolver.@Nullable Answers awaited;
    private @Nullable Future<Boolean> askedAgain;
    private @Nullable Runnable unfollow;
    private long startNanos;
    private @Nullable String refusal;

    // DNS may answer long after the end, so these are removed then: they would keep the request.
    private final FutureListener<List<InetAddress>> onIpv6 = answer -> {
        ipv6Answered = true;
        onAnswer(ipv6, answer);
    };
    private final FutureListener<List<InetAddress>> onIpv4 = answer -> {
        ipv4Answered = true;
        onAnswer(ipv4, answer);
    };
    private final FutureListener<Boolean> onAskedAgain = asked -> onDoubted();

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
            fail(waitsForAnswer ? Cause.CONNECT_FAILED : Cause.CONNECT_TIMEOUT);
        }
    };

    /** Has DNS asked again while no address answers. */
    private final Timer lateTimer = new Timer() {
        @Override
        protected void onExpired() {
            onLate();
        }
    };

    /**
     * The host to connect to.
     *
     * @param requested whether a client has named the host, not the configuration
     * @param policy decides about addresses, null to allow all
     * @param turn selects which of several addresses of a family is tried first
     * @param connectMillis limit for all attempts together, from the first on; 0 for the kernel's limit only
     * @param account charged for the lookup of a requested host
     */
    record ConnectTarget(
            String host,
            int port,
            boolean requested,
            @Nullable AddressPolicy policy,
            int turn,
            long connectMillis,
            Account account) {}

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
        Resolver.Answers answers = resolve();
        wasCached = answers.ipv6().isDone() && answers.ipv4().isDone();
        awaited = answers;
        answers.ipv6().addListener(onIpv6);
        if (!done) {
            answers.ipv4().addListener(onIpv4);
        }
    }

    private Resolver.Answers resolve() {
        return target.requested
                ? resources.resolver.resolveExactly(resources.loop, target.host, target.account)
                : resources.resolver.resolve(resources.loop, target.host);
    }

    /** Cancels it; the callback is not called. */
    void cancel() {
        done = true;
        nextTimer.cancel();
        totalTimer.cancel();
        lateTimer.cancel();
        if (unfollow != null) {
            unfollow.run();
            unfollow = null;
        }
        if (awaited != null) {
            awaited.ipv6().removeListener(onIpv6);
            awaited.ipv4().removeListener(onIpv4);
            awaited = null;
        }
        if (askedAgain != null) {
            askedAgain.removeListener(onAskedAgain);
            askedAgain = null;
        }
        List.copyOf(underway).forEach(Attempt::close);
    }

    private void onAnswer(Deque<InetAddress> family, Future<List<InetAddress>> answer) {
        if (done) {
            return;
        }
        if (answer.isSuccess()) {
            add(family, answer.getNow());
        } else if (attempts == 0) {
            lacksLookup |= answer.cause() instanceof LookupLimitException;
            String failure = DialFailure.describe(answer.cause());
            if (!failures.contains(failure)) { // of servers, both families may fail in the same way
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

    private void add(Deque<InetAddress> family, List<InetAddress> found) {
        for (int i = 0; i < found.size() && family.size() < MAX_ATTEMPTS; i++) {
            InetAddress address = found.get(Math.floorMod(target.turn + i, found.size()));
            if (!tried.contains(address) && !family.contains(address)) {
                family.add(address);
            }
        }
    }

    private void runNext() {
        nextTimer.cancel();
        while (attempts < most && !(ipv6.isEmpty() && ipv4.isEmpty())) {
            InetAddress address = next();
            String reason = target.policy == null ? null : target.policy.refuse(target.host, address, target.port);
            if (reason == null) {
                run(address);
                return;
            }
            refusal = reason;
        }
        if (underway.isEmpty() && ipv6Answered && ipv4Answered && !asksAgain()) {
            fail(failed());
        }
    }

    private Cause failed() {
        if (attempts > 0) {
            return lacksResources ? Cause.OVERLOAD : Cause.CONNECT_FAILED;
        } else if (refusal != null) {
            return Cause.POLICY_ADDRESS;
        }
        return lacksLookup ? Cause.OVERLOAD : Cause.DNS_FAILED;
    }

    /** All attempts have failed: asks DNS again. Returns whether to wait for the answer. */
    private boolean asksAgain() {
        waitsForAnswer = false;
        if (doubted || attempts == 0 || lacksResources) {
            return false;
        }
        doubted = true;
        InetAddress literal = Resolver.literal(target.host);
        if (literal != null) {
            doubt(literal);
        } else if (wasCached) {
            waitsForAnswer = true;
            resources.wheel.arm(nextTimer, ANSWER_MILLIS); // which gives up
            askedAgain = resources.resolver.doubt(resources.loop, target.host, target.requested);
            askedAgain.addListener(onAskedAgain);
        }
        return waitsForAnswer;
    }

    /** An address of the configuration may be one that a name of the configuration had. */
    private void doubt(InetAddress literal) {
        if (!target.requested) {
            resources.resolver.doubt(resources.loop, literal);
        }
    }

    /** DNS was asked now, or a moment ago. */
    private void onDoubted() {
        if (!done && waitsForAnswer) {
            readAgain();
            runNext();
        }
    }

    /** Takes the addresses that DNS gives now, except those that were tried. */
    private void readAgain() {
        Resolver.Answers answers = resolve();
        most = attempts + MAX_ATTEMPTS;
        if (answers.ipv6().isSuccess()) {
            ipv6.clear();
            add(ipv6, answers.ipv6().getNow());
        }
        if (answers.ipv4().isSuccess()) {
            ipv4.clear();
            add(ipv4, answers.ipv4().getNow());
        }
    }

    private void onLate() {
        InetAddress literal = Resolver.literal(target.host);
        if (literal != null) {
            doubt(literal);
        } else {
            if (unfollow == null) {
                unfollow = resources.resolver.follow(resources.loop, target.host, target.requested, this::onRenewed);
            }
            resources.resolver.doubt(resources.loop, target.host, target.requested);
        }
        resources.wheel.arm(lateTimer, patienceMillis());
    }

    private long patienceMillis() {
        return target.connectMillis == 0
                ? UNLIMITED_PATIENCE_MILLIS
                : Math.max(1, target.connectMillis / PATIENCE_DIVISOR);
    }

    /** DNS was asked again: drops attempts at addresses that the host has lost, and tries new ones. */
    private void onRenewed() {
        if (done || waitsForAnswer) {
            return;
        }
        readAgain();
        int before = attempts;
        for (Attempt attempt : List.copyOf(underway)) {
            if (resources.resolver.isFormer(target.host, target.requested, attempt.address)) {
                attempt.close();
            }
        }
        if (!done && attempts == before && !(ipv6.isEmpty() && ipv4.isEmpty())) {
            runNext();
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
            resources.wheel.arm(lateTimer, patienceMillis());
        }
        resources.wheel.arm(nextTimer, lead());
        tried.add(address);
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
