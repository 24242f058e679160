package dev.gateway.net.dns;

import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.dns.DefaultDnsRecordDecoder;
import io.netty.handler.codec.dns.DnsRawRecord;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.handler.codec.dns.DnsRecordType;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One lookup of the SRV records of a name. It tries the forms of the name in order, until one has records, also after
 * SERVFAIL: the server of a search domain may be out of reach. Confined to its event loop.
 */
final class ServiceLookup {
    static final int MAX_RECORDS = 1000;

    private static final Comparator<ServiceRecord> ORDER = Comparator.comparingInt(ServiceRecord::priority)
            .thenComparing(ServiceRecord::target)
            .thenComparingInt(ServiceRecord::port)
            .thenComparingInt(ServiceRecord::weight);

    private final Query query;
    private final String name;
    private final Iterator<String> forms;
    private final long maxTtlSeconds;
    private final Promise<ServiceRecord.Answer> promise;
    private @Nullable Throwable outage; // of an earlier form

    /** Queries name servers. */
    interface Query {
        /**
         * Queries SRV records.
         *
         * @param name with a dot at its end
         * @return the records, which the caller owns
         */
        Future<List<DnsRecord>> ask(String name);
    }

    private ServiceLookup(
            Query query,
            String name,
            Iterator<String> forms,
            long maxTtlSeconds,
            Promise<ServiceRecord.Answer> promise) {
        this.query = query;
        this.name = name;
        this.forms = forms;
        this.maxTtlSeconds = maxTtlSeconds;
        this.promise = promise;
    }

    /**
     * Starts a lookup.
     *
     * @param forms the forms of the name, with a dot at the end; at least one
     * @param maxTtlSeconds how long the answer is used at most
     */
    static Future<ServiceRecord.Answer> start(
            EventLoop loop, Query query, String name, List<String> forms, long maxTtlSeconds) {
        ServiceLookup lookup = new ServiceLookup(query, name, forms.iterator(), maxTtlSeconds, loop.newPromise());
        lookup.next();
        return lookup.promise;
    }

    private void next() {
        query.ask(forms.next()).addListener((Future<List<DnsRecord>> answer) -> onAnswer(answer));
    }

    private void onAnswer(Future<List<DnsRecord>> answer) {
        Throwable why = answer.cause();
        if (answer.isSuccess()) {
            ServiceRecord.Answer found = read(answer.getNow(), maxTtlSeconds);
            if (found != null) {
                promise.setSuccess(found);
                return;
            }
            why = new UnknownHostException("no SRV records of " + name);
        }
        if (why == null) {
            why = new UnknownHostException(name);
        }
        if (outage == null && Outages.isOne(why)) {
            outage = why;
        }
        if (forms.hasNext() && !DnsNameResolver.isTransportOrTimeoutError(why)) {
            next();
        } else {
            promise.setFailure(outage == null ? why : outage);
        }
    }

    /** Reads records and releases them. Returns null if there is no usable SRV record. */
    static ServiceRecord.@Nullable Answer read(List<DnsRecord> records, long maxTtlSeconds) {
        List<ServiceRecord> found = new ArrayList<>();
        long seconds = Long.MAX_VALUE;
        for (DnsRecord record : records) {
            try {
                if (record instanceof DnsRawRecord raw && record.type().equals(DnsRecordType.SRV)) {
                    ServiceRecord service = read(raw.content());
                    if (service.port() > 0 || service.isNowhere()) {
                        found.add(service);
                        seconds = Math.min(seconds, record.timeToLive());
                    }
                }
            } catch (RuntimeException e) {
                // a malformed record; the other records are used
            } finally {
                ReferenceCountUtil.release(record);
            }
        }
        if (found.isEmpty()) {
            return null;
        }
        found.removeIf(ServiceRecord::isNowhere);
        return new ServiceRecord.Answer(
                found.stream().sorted(ORDER).limit(MAX_RECORDS).toList(), Lookup.bounded(seconds, maxTtlSeconds));
    }

    private static ServiceRecord read(ByteBuf content) {
        int priority = content.readUnsignedShort();
        int weight = content.readUnsignedShort();
        int port = content.readUnsignedShort();
        String target = DefaultDnsRecordDecoder.decodeName(content).toLowerCase(Locale.ROOT);
        return new ServiceRecord(priority, weight, port, target.endsWith(".") ? target : target + ".");
    }
}
