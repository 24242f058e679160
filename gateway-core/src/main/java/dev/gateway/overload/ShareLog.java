package dev.gateway.overload;

import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs a client whose requests are refused because of what it holds. It may be a proxy with few connections. Logs at once, then
 * once a minute, with a count and an example. Event loops share it.
 */
final class ShareLog {
    private static final Logger log = LoggerFactory.getLogger(ShareLog.class);

    private final Throttle throttle;

    ShareLog(LongSupplier nanoClock) {
        throttle = new Throttle(nanoClock);
    }

    void tell(String listener, Object client) {
        long count = throttle.count();
        if (count > 0) {
            log.warn(
                    "listener {} refuses requests ({} so far), such as of {}, which holds as much memory as a connection or"
                            + " a client may. If it is a proxy, set proxyProtocol or trustedProxies",
                    listener,
                    count,
                    client);
        }
    }
}
