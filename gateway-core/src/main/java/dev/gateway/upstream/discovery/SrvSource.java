package dev.gateway.upstream.discovery;

import dev.gateway.config.upstream.EndpointConfig.Place;
import dev.gateway.config.yaml.schema.upstream.SourceType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.net.FailureText;
import dev.gateway.net.dns.ServiceRecord;
import dev.gateway.upstream.EndpointSpec;
import dev.gateway.upstream.SourceStatus;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * SRV discovery (RFC 2782): queries the SRV records of a name each time that their time to live is over, and when the
 * addresses of a target are in doubt. It resolves their targets. The endpoints are the addresses of the lowest priority that
 * has any, each with the port of its record and a part of its weight. While DNS fails, the last endpoints stay in use. Works
 * on one event loop.
 */
public final class SrvSource implements EndpointSource {
    private static final String KEY = "srv";

    /** The SRV records of a name say hosts and ports. */
    public static final SourceFeature FEATURE = new SourceFeature() {
        private final SourceType<String, Name> type = new SourceType<>(
                KEY,
                Types.EXACT_HOSTNAME,
                false,
                "Name of SRV records (RFC 2782), such as _http._tcp.app.example.com. They have hosts, ports, priorities and "
                        + "weights. The gateway asks again when they expire.",
                Name.class,
                Name::name,
                (name, port) -> new Name(name));

        @Override
        public SourceType<String, Name> type() {
            return type;
        }

        @Override
        public EndpointSource create(Place place, SourceContext context) {
            return new SrvSource(place.subject(), EndpointEntries.source(place), context.dns(), context.loop());
        }

        @Override
        public String emptiness() {
            return "says that there is no such service";
        }
    };

    /** A name whose SRV records have hosts and ports. */
    public record Name(String name) implements Place {
        @Override
        public String key() {
            return KEY;
        }

        @Override
        public String subject() {
            return name;
        }

        @Override
        public String notInFiles() {
            return "a file of endpoints has no 'srv'";
        }
    }

    private static final Logger log = LoggerFactory.getLogger(SrvSource.class);

    /** How long new records wait for the addresses of their targets; until then, the former ones stay in use. */
    static final long PATIENCE_MILLIS = 2500;

    /** Least time between two queries that doubts cause. */
    private static final long RENEWAL_MILLIS = 2000;

    private final String name;
    private final String source;
    private final String service;
    private final DnsQuestions dns;
    private final EventLoop loop;
    private final SourceGroup<Target> targets;
    private final SourceStatus.Freshness freshness = new SourceStatus.Freshness(System::nanoTime);
    private Listener listener = (endpoints, provisional) -> {};
    private List<ServiceRecord> records = List.of();
    private @Nullable List<ServiceRecord> next; // in use as soon as their targets are resolved
    private @Nullable Future<?> patience;
    private @Nullable Future<?> asking;
    private @Nullable List<EndpointSpec> told;
    private String failure = ""; // of the last query
    private String logged = "";
    private boolean answered;
    private boolean isAsking;
    private boolean renewedLately;
    private boolean inDoubt; // since the last query
    private long goodNanos;
    private volatile List<Part> parts = List.of();
    private boolean stopped;

    private record Target(String host, int port) {
        static Target of(ServiceRecord record) {
            return new Target(record.target(), record.port());
        }
    }

    /** A target in use. */
    private record Part(String host, SourceGroup.Member member) {}

    /**
     * Makes a source that has not started.
     *
     * @param source its name on pages
     */
    SrvSource(String name, String source, DnsQuestions dns, EventLoop loop) {
        this.name = name;
        this.source = source;
        this.service = service(name);
        this.dns = dns;
        this.loop = loop;
        this.targets = new SourceGroup<>(this::target, loop, target -> review());
    }

    /**
     * Returns the name that TLS verifies (RFC 6125, 6.2.1): {@code app.example.com} for {@code _http._tcp.app.example.com}.
     * The name of a target is not trusted, because it comes from DNS.
     */
    static String service(String name) {
        String rest = name;
        while (rest.startsWith("_") && rest.indexOf('.') > 0) {
            rest = rest.substring(rest.indexOf('.') + 1);
        }
        return rest.isEmpty() || rest.startsWith("_") ? name : rest;
    }

    private EndpointSource target(Target target) {
        EndpointSpec whole = new EndpointSpec(target.host, target.port, 1, service, null, source);
        return new DnsSource(whole, DnsSource.Use.TARGET, dns, loop, this::onDoubt);
    }

    @Override
    public void start(Listener toBeTold) {
        loop.execute(() -> {
            listener = toBeTold;
            ask();
        });
    }

    @Override
    public void stop() {
        loop.execute(() -> {
            stopped = true;
            cancel(asking);
            cancel(patience);
            targets.keep(Set.of());
        });
    }

    private static void cancel(@Nullable Future<?> task) {
        if (task != null) {
            task.cancel(false);
        }
    }

    @Override
    public void refresh() {
        loop.execute(this::onDoubt);
    }

    @Override
    public SourceStatus status() {
        SourceStatus status = freshness.status();
        for (Part part : parts) {
            status = status.or(part.member.status(), part.host);
        }
        return status;
    }

    /** The addresses of a target were in doubt, so the records are, too; or somebody has asked to look for changes. */
    private void onDoubt() {
        inDoubt = true;
        if (!renewedLately && !stopped) {
            renewedLately = true;
            loop.schedule(this::onInterval, RENEWAL_MILLIS, TimeUnit.MILLISECONDS);
            ask();
        }
    }

    private void onInterval() {
        renewedLately = false;
        if (inDoubt) {
            onDoubt();
        }
    }

    private void ask() {
        if (!stopped && !isAsking) {
            isAsking = true;
            inDoubt = false;
            cancel(asking);
            dns.services(name).addListener((Future<ServiceRecord.Answer> answer) -> onAnswered(answer));
        }
    }

    private void onAnswered(Future<ServiceRecord.Answer> answer) {
        isAsking = false;
        if (stopped) {
            return;
        }
        long holds = DnsSource.FAILED_MILLIS;
        if (answer.isSuccess()) {
            ServiceRecord.Answer found = answer.getNow();
            holds = TimeUnit.SECONDS.toMillis(found.seconds());
            failure = "";
            answered = true;
            goodNanos = System.nanoTime();
            prepare(found.records());
        } else {
            failure = FailureText.of(answer.cause());
            tell();
        }
        asking = loop.schedule(this::ask, DnsSource.jittered(holds), TimeUnit.MILLISECONDS);
    }

    /** Resolves the targets of new records, and then uses these records. */
    private void prepare(List<ServiceRecord> found) {
        next = found;
        Set<Target> wanted = targets(records);
        wanted.addAll(targets(found));
        targets.keep(wanted);
        if (patience == null) {
            patience = loop.schedule(this::advance, PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        }
        review();
    }

    private static Set<Target> targets(List<ServiceRecord> of) {
        Set<Target> targets = new HashSet<>();
        of.forEach(record -> targets.add(Target.of(record)));
        return targets;
    }

    private void review() {
        if (next == null) {
            tell();
        } else if (next.stream().allMatch(this::isAnswered)) {
            advance();
        }
    }

    private boolean isAnswered(ServiceRecord record) {
        SourceGroup.Member member = targets.member(Target.of(record));
        return member != null && member.answered().isDone();
    }

    private void advance() {
        cancel(patience);
        patience = null;
        if (next != null) {
            records = next;
            next = null;
            targets.keep(targets(records));
            tell();
        }
    }

    /** Reports the endpoints if they have changed. If no target has an address, the last endpoints stay in use. */
    private void tell() {
        List<EndpointSpec> endpoints = endpoints();
        boolean unusable = endpoints.isEmpty() && !records.isEmpty();
        String problem = failure.isEmpty() && unusable ? "no target of the SRV records has an address" : failure;
        if (problem.isEmpty()) {
            freshness.onGood(goodNanos);
        } else if (failure.isEmpty()) {
            freshness.onFailed(goodNanos, problem);
        } else {
            freshness.onFailed(problem);
        }
        log(problem);
        boolean known = answered && !unusable && next == null;
        boolean news = told == null ? known || !problem.isEmpty() : known && !endpoints.equals(told);
        if (news) {
            told = endpoints;
            listener.onEndpoints(endpoints, false);
        }
    }

    private void log(String problem) {
        if (!problem.isEmpty() && logged.isEmpty()) {
            log.warn(
                    "DNS has no endpoints for {}: {}; {}",
                    name,
                    problem,
                    told == null || told.isEmpty()
                            ? "the gateway asks again"
                            : "the gateway keeps those that it knows");
        } else if (problem.isEmpty() && !logged.isEmpty()) {
            log.info("DNS has endpoints for {} again", name);
        }
        logged = problem;
    }

    private List<EndpointSpec> endpoints() {
        List<ServiceRecord> usable = ServiceEndpoints.usable(records, this::addresses);
        parts = parts(usable.isEmpty() ? records : usable);
        return ServiceEndpoints.of(usable, this::addresses, source);
    }

    private List<Part> parts(List<ServiceRecord> of) {
        List<Part> found = new ArrayList<>();
        for (Target target : targets(of)) {
            SourceGroup.Member member = targets.member(target);
            if (member != null) {
                found.add(new Part(target.host, member));
            }
        }
        return found;
    }

    private List<EndpointSpec> addresses(ServiceRecord record) {
        SourceGroup.Member member = targets.member(Target.of(record));
        return member == null ? List.of() : member.endpoints();
    }
}
