package dev.gateway.upstream.discovery;

import dev.gateway.config.upstream.EndpointConfig.Host;
import dev.gateway.config.upstream.EndpointConfig.Place;
import dev.gateway.config.yaml.schema.upstream.SourceType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.net.FailureText;
import dev.gateway.net.dns.Outages;
import dev.gateway.net.dns.Resolver;
import dev.gateway.upstream.EndpointSpec;
import dev.gateway.upstream.SourceStatus;
import io.netty.channel.EventLoop;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * DNS discovery: resolves a name again each time that its time to live is over, and when a connection to one of its
 * addresses could not be made. While DNS fails, the last addresses stay in use, for each family (A, AAAA) separately. Works
 * on one event loop.
 *
 * <p>It decides which endpoints there are. A name that is one endpoint stays the same one whatever its address; the pool's
 * {@code AddressWatch} then takes connections to a former address out of use.
 */
public final class DnsSource implements EndpointSource {
    static final String KEY = "dns";
    static final String NO_ADDRESSES = "has no addresses";

    /** Each address of a name is an endpoint. */
    public static final SourceFeature FEATURE = new SourceFeature() {
        private final SourceType<String, Name> type = new SourceType<>(
                KEY,
                Types.EXACT_HOSTNAME,
                true,
                "Host name whose addresses are an endpoint each. The gateway asks again when its DNS records expire.",
                Name.class,
                Name::name,
                Name::new);

        @Override
        public SourceType<String, Name> type() {
            return type;
        }

        @Override
        public EndpointSource create(Place place, SourceContext context) {
            return new DnsSource(whole(place), Use.HOSTS, context.dns(), context.loop(), () -> {});
        }

        @Override
        public String emptiness() {
            return NO_ADDRESSES;
        }
    };

    /**
     * A name each address of which is an endpoint.
     *
     * @param port 1 to 65535
     */
    public record Name(String name, int port) implements Place {
        @Override
        public String key() {
            return KEY;
        }

        @Override
        public String subject() {
            return name;
        }

        @Override
        public String host() {
            return name;
        }
    }

    private static final Logger log = LoggerFactory.getLogger(DnsSource.class);
    private static final double JITTER = 0.1;

    /** Time until the next query after a failure. */
    static final long FAILED_MILLIS = 2000;

    private final EndpointSpec whole;
    private final String name;
    private final Use use;
    private final DnsQuestions dns;
    private final EventLoop loop;
    private final Runnable renewed;
    private final SourceStatus.Freshness freshness = new SourceStatus.Freshness(System::nanoTime);
    private Listener listener = (endpoints, provisional) -> {};
    private @Nullable List<EndpointSpec> told;
    private boolean provisional; // there was no answer yet, not even a failure
    private List<InetAddress> lastIpv6 = List.of();
    private List<InetAddress> lastIpv4 = List.of();
    private @Nullable Future<?> next;
    private boolean failing;
    private boolean stopped;
    private Runnable unfollow = () -> {};

    /** How the addresses of a name become endpoints. */
    enum Use {
        /** For {@code host}: a single address is called by the name. Until the first answer, the name is one endpoint. */
        HOST,
        /** For {@code dns}: each address is an endpoint. Until the first answer, the name is one endpoint. */
        HOSTS,
        /** For the target of an SRV record: each address is an endpoint. Before the first answer, it has no endpoints. */
        TARGET
    }

    /** Makes the source of a host with a name. */
    static DnsSource of(Host host, SourceContext context) {
        return new DnsSource(whole(host), Use.HOST, context.dns(), context.loop(), () -> {});
    }

    private static EndpointSpec whole(Place place) {
        String name = place.subject();
        return new EndpointSpec(name, place.port(), 1, name, null, EndpointEntries.source(place));
    }

    /**
     * Makes a source that has not started.
     *
     * @param whole the name as one endpoint
     * @param renewed called on the loop when DNS was asked for the name before its time
     */
    DnsSource(EndpointSpec whole, Use use, DnsQuestions dns, EventLoop loop, Runnable renewed) {
        this.whole = whole;
        this.name = whole.host();
        this.use = use;
        this.dns = dns;
        this.loop = loop;
        this.renewed = renewed;
    }

    @Override
    public void start(Listener toBeTold) {
        dns.keep(name);
        if (use != Use.TARGET) {
            told = List.of(whole);
            provisional = true;
            toBeTold.onEndpoints(List.of(whole), true);
        }
        loop.execute(() -> {
            listener = toBeTold;
            unfollow = dns.follow(name, this::onRenewed);
            ask();
        });
    }

    @Override
    public void stop() {
        loop.execute(() -> {
            stopped = true;
            unfollow.run();
            if (next != null) {
                next.cancel(false);
            }
            dns.drop(name);
        });
    }

    @Override
    public SourceStatus status() {
        return freshness.status();
    }

    /** DNS was asked before the time: the answer is in the cache. */
    private void onRenewed() {
        if (!stopped) {
            ask();
            renewed.run();
        }
    }

    private void ask() {
        if (stopped) {
            return;
        }
        Resolver.Answers answers = dns.addresses(name);
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
        List<String> hosts = hosts(lastIpv6, lastIpv4, dns.needsIpv6(), name);
        boolean fails = hosts.isEmpty() || silent;
        if (fails) {
            Throwable why = isSilent(ipv6, lastIpv6) || ipv4.cause() == null ? ipv6.cause() : ipv4.cause();
            onFailed(why == null ? "the answer is empty" : FailureText.of(why), hosts.isEmpty());
        } else {
            onGood();
        }
        List<EndpointSpec> before = told;
        tell(!hosts.isEmpty() ? endpoints(hosts) : before == null ? List.of() : before);
        failing = fails;
        long holds = dns.holdsMillis(name);
        if (next != null) {
            next.cancel(false); // two questions may be under way
        }
        next = loop.schedule(
                this::ask, jittered(fails ? Math.min(holds, FAILED_MILLIS) : holds), TimeUnit.MILLISECONDS);
    }

    private void onGood() {
        Resolver.Standing standing = dns.standing(name);
        Throwable failure = standing == null ? null : standing.failure();
        if (standing != null && failure != null) { // the resolver also keeps addresses while DNS fails
            freshness.onFailed(standing.goodNanos(), FailureText.of(failure));
        } else {
            freshness.onGood(standing == null ? System.nanoTime() : standing.goodNanos());
        }
    }

    private void onFailed(String why, boolean nothing) {
        freshness.onFailed(why);
        if (!failing) {
            log.warn(
                    "DNS has no addresses for the endpoints of {}: {}; {}",
                    name,
                    why,
                    nothing && (told == null || told.equals(List.of(whole)))
                            ? "the gateway asks again"
                            : "the gateway keeps those that it knows");
        }
    }

    private void tell(List<EndpointSpec> endpoints) {
        if (provisional || !endpoints.equals(told)) {
            told = endpoints;
            provisional = false;
            listener.onEndpoints(endpoints, false);
        }
    }

    private List<EndpointSpec> endpoints(List<String> hosts) {
        if (hosts.size() == 1 && use == Use.HOST) {
            return List.of(whole);
        }
        return hosts.stream()
                .map(host -> new EndpointSpec(host, whole.port(), 1, whole.name(), whole.zone(), whole.source()))
                .toList();
    }

    /** Returns a time that is up to a tenth longer, so that not all queries are made at once. */
    static long jittered(long millis) {
        return (long) (millis * (1 + JITTER * ThreadLocalRandom.current().nextDouble()));
    }

    /** Returns the addresses of a family: the last ones if DNS did not answer. */
    static List<InetAddress> addresses(Future<List<InetAddress>> answer, List<InetAddress> last) {
        return answer.isSuccess() ? answer.getNow() : isSilent(answer, last) ? last : List.of();
    }

    /**
     * Whether DNS did not answer for a family that had addresses. Failures of a family without addresses do not count: some
     * servers always fail for IPv6.
     */
    private static boolean isSilent(Future<List<InetAddress>> answer, List<InetAddress> last) {
        return !last.isEmpty() && answer.cause() != null && Outages.isOne(answer.cause());
    }

    /**
     * Returns the hosts of a name. A machine often has an address of each family and must not count twice, so IPv6 addresses
     * are used only if there are no others. One address of each family is one machine; the result is the name itself, and
     * connections use the address that answers first.
     *
     * @param needsIpv6 whether this machine can reach only IPv6 addresses
     */
    static List<String> hosts(List<InetAddress> ipv6, List<InetAddress> ipv4, boolean needsIpv6, String name) {
        if (ipv6.size() == 1 && ipv4.size() == 1) {
            return List.of(name);
        }
        boolean isIpv6 = ipv4.isEmpty() || (needsIpv6 && !ipv6.isEmpty());
        return (isIpv6 ? ipv6 : ipv4)
                .stream().map(NetUtil::toAddressString).distinct().sorted().toList();
    }
}
