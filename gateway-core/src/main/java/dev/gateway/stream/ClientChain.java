package dev.gateway.stream;

import dev.gateway.overload.memory.Account;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Client certificate chain: the certificates that a client has sent in the handshake of its connection, or of the session
 * that it resumes. Keeps what filters have read in them. Confined to the connection's event loop.
 */
public final class ClientChain {
    private final List<X509Certificate> certificates;
    private @Nullable Object reading;
    private long charged;

    /**
     * Makes it.
     *
     * @param certificates at least one, in the order in which they were sent. TLS has verified the first, the client's own; the
     *     client may have added any others.
     */
    public ClientChain(List<X509Certificate> certificates) {
        this.certificates = List.copyOf(certificates);
    }

    /** Returns the certificates, the client's own first. */
    public List<X509Certificate> certificates() {
        return certificates;
    }

    /** Returns what was read in the certificates; the first time, the reader reads it. */
    public <T> T reading(Class<T> type, Function<List<X509Certificate>, T> reader) {
        if (!type.isInstance(reading)) {
            reading = reader.apply(certificates);
        }
        return type.cast(reading);
    }

    /** The reading takes so many bytes more. */
    void charge(Account account, long bytes) {
        account.charge(bytes);
        charged += bytes;
    }

    /** Returns how many bytes were charged. The listener releases them when the connection has closed. */
    public long charged() {
        return charged;
    }
}
