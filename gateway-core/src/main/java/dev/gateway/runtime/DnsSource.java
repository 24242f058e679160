package dev.gateway.runtime;

import dev.gateway.net.FailureText;
import dev.gateway.net.dns.Resolver;
import dev.gateway.upstream.EndpointSource;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.dns.DnsResponseCode;
import io.netty.resolver.dns.DnsErrorCauseException;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * DNS discovery: asks for the addresses of a name as often as their time to live says. While DNS fails, what it has said
 * last stands, of each family (A, AAAA) for itself. Works on one event loop, whose resolver it asks.
 */
final class DnsSource implements EndpointSource {
    private static final Logger log = LoggerFactory.getLogger(DnsSource.class);
    private static final double JITTER = 0.1;
    private static final long FAILED_MILLIS = 2000;

    private final String name;
    private final Resolver resolver;
    private final EventLoop loop;
    private Consumer<List<String>> listener = hosts -> {};
    private @Nullable List<String> told;
    private List<InetAddress> lastIpv6 = List.of();
    private List<InetAddress> lastIpv4 = List.of();
    private boolean failing;
    private boolean stopped;

    DnsSource(String name, Resolver resolver, EventLoop loop) {
        this.name = name;
        this.resolver = resolver;
        this.loop = loop;
    }

    @Override
    public void start(Consumer<List<String>> toBeTold) {
        loop.execute(() -> {
            listener = toBeTold;
            ask();
        });
    }

    @Override
    public void stop() {
        loop.execute(() -> stopped = true);
    }

    private void ask() {
        if (stopped) {
            return;
        }
        Resolver.Answers answers = resolver.resolve(loop, name);
        answers.ipv6().addListener((Future<List<InetAddress>> ipv6) -> answers.ipv4()
                .addListener((Future<List<InetAddress>> ipv4) -> onAnswered(ipv6, ipv4)));
    }

    private void onAnswered(Future<List<InetAddress>> ipv6, Future<List<InetAddress>> ipv4) {
        if (stopped) {
            return;
        }
        boolean silent = isSilent(ipv6, lastIpv6) || isSilent(ipv4, lastIpv4);
        lastIpv6 = addresses(ipv6, lastIpv6);
        lastIpv4 = addresses(ipv4, lastIpv4);
        List<String> hosts = hosts(lastIpv6, lastIpv4, resolver.needsIpv6());
        if (hosts != null && !hosts.equals(told)) {
            told = hosts;
            listener.accept(hosts);
        }
        boolean fails = hosts == null || silent;
        if (fails && !failing) {
            Throwable why = isSilent(ipv6, lastIpv6) || ipv4.cause() == null ? ipv6.cause() : ipv4.cause();
            log.warn(
                    "DNS has no addresses for the endpoints of {}: {}; {}",
                    name,
                    why == null ? "the answer is empty" : FailureText.of(why),
                    told == null ? "the gateway asks again" : "the gateway keeps those that it knows");
        }
        failing = fails;
        long holds = resolver.holdsMillis(name, false);
        double factor = 1 + JITTER * ThreadLocalRandom.current().nextDouble(); // not all names at the same time
        loop.schedule(
                this::ask, (long) ((fails ? Math.min(holds, FAILED_MILLIS) : holds) * factor), TimeUnit.MILLISECONDS);
    }

    /** Returns the addresses of a family: those that it had if DNS does not say whether it has any now. */
    static List<InetAddress> addresses(Future<List<InetAddress>> answer, List<InetAddress> last) {
        return answer.isSuccess() ? answer.getNow() : isSilent(answer, last) ? last : List.of();
    }

    /**
     * Whether DNS has failed to say which addresses of a family there are, which had some. (A server that always fails
     * for IPv6, as some do, is not missed.) Netty does not tell REFUSED from an answer without addresses.
     */
    private static boolean isSilent(Future<List<InetAddress>> answer, List<InetAddress> last) {
        return !last.isEmpty() && answer.cause() != null && isFailure(answer.cause());
    }

    private static boolean isFailure(Throwable why) {
        for (Throwable each = why; each != null; each = each.getCause()) {
            if (each instanceof DnsErrorCauseException answer
                    && answer.getCode().equals(DnsResponseCode.SERVFAIL)) {
                return true;
            }
        }
        return DnsNameResolver.isTransportOrTimeoutError(why);
    }

    /**
     * Returns the hosts that addresses stand for. A machine usually has an address of each family, and is not to count
     * twice: IPv4 is taken where there is any. With one of each they are one machine, reached at whichever answers first.
     *
     * @param needsIpv6 whether only IPv6 addresses can be reached
     * @return null if there are no addresses
     */
    static @Nullable List<String> hosts(List<InetAddress> ipv6, List<InetAddress> ipv4, boolean needsIpv6) {
        if (ipv6.isEmpty() && ipv4.isEmpty()) {
            return null;
        }
        if (ipv6.size() == 1 && ipv4.size() == 1) {
            return List.of();
        }
        boolean isIpv6 = ipv4.isEmpty() || (needsIpv6 && !ipv6.isEmpty());
        return (isIpv6 ? ipv6 : ipv4)
                .stream().map(NetUtil::toAddressString).distinct().sorted().toList();
    }
}
