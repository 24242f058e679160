package dev.gateway.net.dns;

import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.dns.DnsQuestion;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.handler.codec.dns.DnsResponseCode;
import io.netty.resolver.InetNameResolver;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.resolver.dns.DnsQueryLifecycleObserver;
import io.netty.resolver.dns.DnsQueryLifecycleObserverFactory;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Asks a name server that does not know EDNS (RFC 6891, 7) again without it. Such a server answers FORMERR or NOTIMP. Confined
 * to its event loop.
 */
final class PlainAgain extends InetNameResolver {
    private final Maker maker;
    private final DnsNameResolver extended;
    private @Nullable DnsNameResolver plain; // made when it is needed first
    private int refusals; // so far, of all questions

    /**
     * Makes it.
     *
     * @param maker makes a resolver, with EDNS and without
     */
    PlainAgain(EventLoop loop, Maker maker) {
        super(loop);
        this.maker = maker;
        this.extended = maker.make(true, question -> new Refusals());
    }

    /** Makes a resolver. */
    interface Maker {
        DnsNameResolver make(boolean edns, DnsQueryLifecycleObserverFactory observers);
    }

    /** Asks by one of the resolvers. */
    private interface Asking<T> {
        Future<T> by(DnsNameResolver resolver);
    }

    @Override
    protected void doResolve(String host, Promise<InetAddress> promise) {
        ask(promise, resolver -> resolver.resolve(host));
    }

    @Override
    protected void doResolveAll(String host, Promise<List<InetAddress>> promise) {
        ask(promise, resolver -> resolver.resolveAll(host));
    }

    /** Asks for records, which the caller owns. */
    Future<List<DnsRecord>> records(DnsQuestion question) {
        Promise<List<DnsRecord>> promise = executor().newPromise();
        ask(promise, resolver -> resolver.resolveAll(question));
        return promise;
    }

    private <T> void ask(Promise<T> promise, Asking<T> asking) {
        int before = refusals;
        asking.by(extended).addListener((Future<T> answer) -> {
            if (answer.isSuccess()) {
                promise.trySuccess(answer.getNow());
            } else if (refusals == before) {
                promise.tryFailure(answer.cause());
            } else {
                asking.by(plain()).addListener((Future<T> second) -> {
                    if (second.isSuccess()) {
                        promise.trySuccess(second.getNow());
                    } else {
                        promise.tryFailure(second.cause());
                    }
                });
            }
        });
    }

    private DnsNameResolver plain() {
        if (plain == null) {
            plain = maker.make(false, question -> new Refusals());
        }
        return plain;
    }

    @Override
    public void close() {
        extended.close();
        if (plain != null) {
            plain.close();
        }
    }

    /** Counts answers that do not know EDNS. */
    private final class Refusals implements DnsQueryLifecycleObserver {
        @Override
        public void queryWritten(InetSocketAddress server, ChannelFuture future) {}

        @Override
        public void queryCancelled(int queriesRemaining) {}

        @Override
        public DnsQueryLifecycleObserver queryRedirected(List<InetSocketAddress> servers) {
            return this;
        }

        @Override
        public DnsQueryLifecycleObserver queryCNAMEd(DnsQuestion question) {
            return this;
        }

        @Override
        public DnsQueryLifecycleObserver queryNoAnswer(DnsResponseCode code) {
            if (code.equals(DnsResponseCode.FORMERR) || code.equals(DnsResponseCode.NOTIMP)) {
                refusals++;
            }
            return this;
        }

        @Override
        public void queryFailed(Throwable cause) {}

        @Override
        public void querySucceed() {}
    }
}
