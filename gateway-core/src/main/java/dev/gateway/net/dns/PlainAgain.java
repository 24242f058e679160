package dev.gateway.net.dns;

import dev.gateway.net.FailureText;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.dns.DnsQuestion;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.handler.codec.dns.DnsResponseCode;
import io.netty.resolver.InetNameResolver;
import io.netty.resolver.dns.DnsErrorCauseException;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.resolver.dns.DnsNameResolverException;
import io.netty.resolver.dns.DnsNameResolverTimeoutException;
import io.netty.resolver.dns.DnsQueryLifecycleObserver;
import io.netty.resolver.dns.DnsQueryLifecycleObserverFactory;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Asks a name server that does not know EDNS (RFC 6891, 7) again without it. Such a server answers FORMERR or NOTIMP. Its
 * failures say which server was asked last, and what it said. Confined to its event loop.
 */
final class PlainAgain extends InetNameResolver {
    private final Maker maker;
    private final DnsNameResolver extended;
    private @Nullable DnsNameResolver plain; // made when it is needed first
    private int refusals; // so far, of all questions
    private @Nullable Query failed; // the last query, if it failed

    /**
     * Makes it.
     *
     * @param maker makes a resolver, with EDNS and without
     */
    PlainAgain(EventLoop loop, Maker maker) {
        super(loop);
        this.maker = maker;
        this.extended = maker.make(true, question -> new Query());
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
                promise.tryFailure(told(answer.cause()));
            } else {
                asking.by(plain()).addListener((Future<T> second) -> {
                    if (second.isSuccess()) {
                        promise.trySuccess(second.getNow());
                    } else {
                        promise.tryFailure(told(second.cause()));
                    }
                });
            }
        });
    }

    /**
     * Returns a failure that also says what Netty leaves out: the server, and its answer. Netty fails a question in the same
     * call as its last query, so the last failed query belongs to this question, if any was sent for it.
     */
    private Throwable told(Throwable failure) {
        Throwable cause = failure.getCause();
        String outcome = failure instanceof UnknownHostException ? outcome(cause) : null;
        if (outcome == null) {
            return failure;
        }
        UnknownHostException told = new UnknownHostException(failure.getMessage() + ": " + outcome);
        told.initCause(cause);
        return told;
    }

    private @Nullable String outcome(@Nullable Throwable cause) {
        if (cause == null || cause instanceof DnsErrorCauseException || cause instanceof DnsNameResolverException) {
            return failed == null ? null : failed.outcome(cause);
        }
        return FailureText.of(cause); // no server was asked, such as without a socket
    }

    private DnsNameResolver plain() {
        if (plain == null) {
            plain = maker.make(false, question -> new Query());
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

    /** One question: knows the server that is asked, and counts answers that do not know EDNS. */
    private final class Query implements DnsQueryLifecycleObserver {
        private @Nullable InetSocketAddress asked; // last; null if there was no server to ask
        private @Nullable DnsResponseCode refusal; // of this server; Netty's failure has SERVFAIL and NXDOMAIN only

        /** Returns the server with what it said, in words. */
        String outcome(@Nullable Throwable cause) {
            String server = NetUtil.toSocketAddressString(Objects.requireNonNull(asked));
            if (cause instanceof DnsNameResolverTimeoutException) {
                return server + " did not answer in time";
            } else if (cause instanceof DnsNameResolverException) {
                return server + " could not be asked";
            } else if (refusal != null) {
                return server + " answered " + refusal;
            }
            return server
                    + (cause instanceof DnsErrorCauseException
                            ? " answered that there is no such name (NXDOMAIN)"
                            : " answered that the name has no such records");
        }

        @Override
        public void queryWritten(InetSocketAddress to, ChannelFuture future) {
            asked = to;
            refusal = null;
        }

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
            refusal = code;
            failed = asked == null ? failed : this;
            return this;
        }

        @Override
        public void queryFailed(Throwable cause) {
            if (asked != null) { // else Netty had no other server to ask
                failed = this;
            }
        }

        @Override
        public void querySucceed() {
            failed = null;
        }
    }
}
