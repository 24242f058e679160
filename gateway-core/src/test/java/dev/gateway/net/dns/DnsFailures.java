package dev.gateway.net.dns;

import io.netty.handler.codec.dns.DefaultDnsQuestion;
import io.netty.handler.codec.dns.DnsRecordType;
import io.netty.handler.codec.dns.DnsResponseCode;
import io.netty.resolver.dns.DnsErrorCauseException;
import io.netty.resolver.dns.DnsNameResolverException;
import java.lang.reflect.Method;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** Failures as Netty's resolver reports them. */
final class DnsFailures {
    private DnsFailures() {}

    private static UnknownHostException because(Throwable cause) {
        UnknownHostException failure = new UnknownHostException("failed to resolve");
        failure.initCause(cause);
        return failure;
    }

    /** No name server has answered. */
    static UnknownHostException timeout() {
        return because(new DnsNameResolverException(
                new InetSocketAddress("127.0.0.1", 53), new DefaultDnsQuestion("a.", DnsRecordType.A), "timed out"));
    }

    /** A name server has answered with SERVFAIL. */
    static UnknownHostException serverFailure() {
        return answer(DnsResponseCode.SERVFAIL);
    }

    /** A name server has answered with an error. */
    static UnknownHostException answer(DnsResponseCode code) {
        try {
            Method maker = DnsErrorCauseException.class.getDeclaredMethod(
                    "newStatic", String.class, DnsResponseCode.class, Class.class, String.class);
            maker.setAccessible(true); // Netty makes none for others
            return because((Throwable) maker.invoke(null, "an error", code, DnsFailures.class, "answer"));
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }
}
