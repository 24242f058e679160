package dev.gateway.exchange.request;

import dev.gateway.config.listener.ListenerConfig.HeadersWithUnderscores;
import dev.gateway.message.Fields;
import dev.gateway.message.OddNames;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.time.TimerWheel;
import io.netty.util.AsciiString;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes or refuses fields whose names upstreams may misread, in heads and trailers of requests. Confined to an event
 * loop.
 */
public final class OddNameGuard {
    private static final Logger log = LoggerFactory.getLogger(OddNameGuard.class);
    private static final long TELL_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final int SHOWN = 64;

    private final TimerWheel clock;
    private boolean told;
    private long toldNanos;

    /** Makes the guard of an event loop. */
    public OddNameGuard(TimerWheel clock) {
        this.clock = clock;
    }

    /**
     * Applies the listener's policy to the fields of a request.
     *
     * @return why the gateway refuses the request, or null
     */
    public @Nullable Failure check(Fields fields, HeadersWithUnderscores policy, ExchangeRecord record) {
        AsciiString odd = policy == HeadersWithUnderscores.ALLOW ? null : OddNames.first(fields);
        if (odd == null) {
            return null;
        }
        record.hasOddNames = true;
        String shown = odd.subSequence(0, Math.min(SHOWN, odd.length())).toString();
        if (policy == HeadersWithUnderscores.REJECT) {
            return Failure.of(
                    Cause.CLIENT_PROTOCOL_ERROR,
                    "a field name with other characters than letters, digits and hyphens, or that does not begin with a"
                            + " letter: " + shown);
        }
        OddNames.remove(fields);
        tell(shown, record);
        return null;
    }

    /** Logs the dropped field, so that an operator who misses it finds the reason. */
    private void tell(String name, ExchangeRecord record) {
        long now = clock.nanoTime();
        if (!told || now - toldNanos > TELL_NANOS) {
            told = true;
            toldNanos = now;
            log.warn(
                    "listener {} drops the field {} of a request: upstreams may misread its name. To forward"
                            + " it, set headersWithUnderscores: allow",
                    record.connection.listenerName(),
                    name);
        }
    }
}
