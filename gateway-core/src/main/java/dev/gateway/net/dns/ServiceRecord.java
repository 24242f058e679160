package dev.gateway.net.dns;

import java.util.List;

/**
 * SRV record (RFC 2782): a host that offers a service.
 *
 * @param priority the lowest one is used first; 0 to 65535
 * @param weight its share relative to records of the same priority; 0 to 65535
 * @param port 0 to 65535
 * @param target the name of the host, in lower case and with a dot at its end
 */
public record ServiceRecord(int priority, int weight, int port, String target) {
    private static final String NOWHERE = ".";

    /** Whether the target is {@code .}, which means that the service does not exist. */
    boolean isNowhere() {
        return target.equals(NOWHERE);
    }

    /**
     * An answer with SRV records.
     *
     * @param records in the order of their priorities; none if the service does not exist
     * @param seconds the time to live of the answer
     */
    public record Answer(List<ServiceRecord> records, long seconds) {}
}
