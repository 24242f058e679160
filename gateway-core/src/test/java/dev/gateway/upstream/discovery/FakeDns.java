package dev.gateway.upstream.discovery;

import dev.gateway.net.dns.Resolver;
import dev.gateway.net.dns.ServiceRecord;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.dns.DefaultDnsQuestion;
import io.netty.handler.codec.dns.DnsRecordType;
import io.netty.resolver.dns.DnsNameResolverException;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** DNS as a test says, asked on the event loop of a channel whose time the test moves. */
final class FakeDns implements DnsQuestions {
    final EmbeddedChannel channel = new EmbeddedChannel();
    private final Map<String, List<InetAddress>> addresses = new HashMap<>();
    private final Map<String, List<ServiceRecord>> services = new HashMap<>();
    private final Set<String> silent = new HashSet<>();
    private final Map<String, Integer> questions = new HashMap<>();
    private final Map<String, Integer> kept = new HashMap<>();
    private final Map<String, Resolver.Standing> standings = new HashMap<>();
    private final Map<String, List<Runnable>> followers = new HashMap<>();
    private boolean out;
    private long seconds = 30;

    FakeDns() {
        channel.freezeTime();
    }

    /** Gives a name these addresses, none for no such name. */
    FakeDns has(String name, String... literals) throws UnknownHostException {
        List<InetAddress> all = new ArrayList<>();
        for (String literal : literals) {
            all.add(InetAddress.getByName(literal));
        }
        addresses.put(name, all);
        return this;
    }

    /** Gives a name SRV records, such as {@code 10 60 8080 app.test.}; none for no such name. */
    FakeDns serves(String name, String... records) {
        List<ServiceRecord> all = new ArrayList<>();
        for (String record : records) {
            String[] words = record.split(" ", -1);
            all.add(new ServiceRecord(
                    Integer.parseInt(words[0]), Integer.parseInt(words[1]), Integer.parseInt(words[2]), words[3]));
        }
        services.put(name, all);
        return this;
    }

    /** Says decidedly that there is no such service. */
    FakeDns hasNoService(String name) {
        services.put(name, List.of());
        return this;
    }

    void holdFor(long newSeconds) {
        seconds = newSeconds;
    }

    /** Answers nothing from now on, or does again. */
    void beOut(boolean now) {
        out = now;
    }

    /** Never answers for a name, or does again. */
    void beSilent(String name, boolean now) {
        if (now) {
            silent.add(name);
        } else {
            silent.remove(name);
        }
    }

    /** What the resolver knows of a name. */
    void stands(String name, @Nullable Throwable failure) {
        standings.put(name, new Resolver.Standing(System.nanoTime(), failure));
    }

    int questions(String name) {
        return questions.getOrDefault(name, 0);
    }

    boolean isKept(String name) {
        return kept.getOrDefault(name, 0) > 0;
    }

    /** Does what is due. */
    void run() {
        channel.runPendingTasks();
    }

    /** Lets time pass. */
    void pass(long millis) {
        channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
        channel.runPendingTasks();
    }

    private static UnknownHostException outage(String name) {
        UnknownHostException outage = new UnknownHostException("no answer for " + name);
        outage.initCause(new DnsNameResolverException(
                new InetSocketAddress("127.0.0.1", 53), new DefaultDnsQuestion(name, DnsRecordType.A), "timed out"));
        return outage;
    }

    private <T> Future<T> failed(Throwable why) {
        return channel.eventLoop().newFailedFuture(why);
    }

    private Future<List<InetAddress>> family(String name, boolean ipv4) {
        List<InetAddress> found = addresses.getOrDefault(name, List.of()).stream()
                .filter(each -> each instanceof Inet4Address == ipv4)
                .toList();
        if (out) {
            return failed(outage(name));
        }
        return found.isEmpty()
                ? failed(new UnknownHostException("no such name: " + name))
                : channel.eventLoop().newSucceededFuture(found);
    }

    @Override
    public Resolver.Answers addresses(String name) {
        questions.merge(name, 1, Integer::sum);
        if (silent.contains(name)) {
            Promise<List<InetAddress>> never = channel.eventLoop().newPromise();
            return new Resolver.Answers(never, never);
        }
        return new Resolver.Answers(family(name, false), family(name, true));
    }

    @Override
    public long holdsMillis(String name) {
        return TimeUnit.SECONDS.toMillis(seconds);
    }

    @Override
    public Resolver.@Nullable Standing standing(String name) {
        return standings.get(name);
    }

    @Override
    public boolean needsIpv6() {
        return false;
    }

    @Override
    public Future<ServiceRecord.Answer> services(String name) {
        questions.merge(name, 1, Integer::sum);
        List<ServiceRecord> found = services.get(name);
        if (out) {
            return failed(outage(name));
        }
        return found == null
                ? failed(new UnknownHostException("no SRV records of " + name))
                : channel.eventLoop().newSucceededFuture(new ServiceRecord.Answer(found, seconds));
    }

    /** The resolver has asked for a name out of turn. */
    void renew(String name) {
        List.copyOf(followers.getOrDefault(name, List.of())).forEach(Runnable::run);
        run();
    }

    boolean isFollowed(String name) {
        return !followers.getOrDefault(name, List.of()).isEmpty();
    }

    @Override
    public Runnable follow(String name, Runnable task) {
        List<Runnable> all = followers.computeIfAbsent(name, unknown -> new ArrayList<>());
        all.add(task);
        return () -> all.remove(task);
    }

    @Override
    public void keep(String name) {
        kept.merge(name, 1, Integer::sum);
    }

    @Override
    public void drop(String name) {
        kept.merge(name, -1, Integer::sum);
    }
}
