package dev.gateway.observe.accesslog;

import dev.gateway.config.observe.AccessLogConfig;
import dev.gateway.config.observe.AccessLogConfig.Exchanges;
import dev.gateway.config.observe.AccessLogConfig.Lines;
import dev.gateway.observe.ExchangeObserver;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.LineBuffer;
import dev.gateway.observe.LogPolicy;
import dev.gateway.observe.accesslog.LogLine.Moment;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Formats the lines of one event loop, and hands them over in batches: when one is full, or a moment after its first. */
final class LoopAccessLog extends Timer implements ExchangeObserver {
    private static final int LONGEST_LINE = 4 * 1024; // usually; the buffer grows if it must
    private static final int BATCH_BYTES = LogWriter.BUFFER_BYTES - LONGEST_LINE;
    private static final long DELAY_MILLIS = 100;
    private static final int SERVER_ERROR = 500;

    private final TimerWheel wheel;
    private final SplittableRandom random = new SplittableRandom();
    private final LineBuffer buffer = new LineBuffer();
    final RecentFailures failures = new RecentFailures();
    private Redaction redaction = new Redaction(Redaction.Hidden.NOTHING);
    private LogPolicy policy = LogPolicy.ALL;
    private @Nullable LogLine line; // null while there are no lines
    private @Nullable LogWriter writer;
    private int lines;

    LoopAccessLog(TimerWheel wheel) {
        this.wheel = wheel;
    }

    Executor executor() {
        return wheel.loop();
    }

    /** Continues with other fields and another destination; on the event loop. */
    void use(AccessLogConfig config, Redaction redacting, @Nullable LogWriter next) {
        cancel();
        handOver();
        redaction = redacting;
        Lines shown = config.lines();
        line = switch (shown.format()) {
            case JSON ->
                shown.fields() == null
                        ? new JsonLine(shown, buffer, redaction)
                        : new FieldsLine(shown, shown.fields(), buffer, redaction);
            case COMBINED -> TemplateLine.combined(buffer, redaction);
            case TEMPLATE ->
                new TemplateLine(Objects.requireNonNull(shown.template()).parts(), buffer, redaction);
            case OFF -> null;
        };
        policy = LogAssembly.policy(config);
        writer = next;
    }

    @Override
    public void onTunnelOpened(ExchangeRecord exchange) {
        write(exchange, Moment.OPEN);
    }

    @Override
    public void onTunnelProgress(ExchangeRecord exchange) {
        write(exchange, Moment.INTERIM);
    }

    @Override
    public void onCompleted(ExchangeRecord exchange) {
        if (exchange.cause != null || exchange.status >= SERVER_ERROR) {
            failures.add(exchange, redaction);
        }
        write(exchange, Moment.CLOSE);
    }

    private void write(ExchangeRecord exchange, Moment moment) {
        if (line == null || !line.has(moment) || !isWanted(exchange, moment)) {
            return;
        }
        line.write(exchange, moment);
        lines++;
        if (buffer.length() >= BATCH_BYTES) {
            cancel();
            handOver();
        } else if (!isArmed()) {
            wheel.arm(this, DELAY_MILLIS);
        }
    }

    private boolean isWanted(ExchangeRecord exchange, Moment moment) {
        LogPolicy chosen = exchange.logPolicy == null ? policy : exchange.logPolicy;
        if (chosen.exchanges() == Exchanges.NONE) {
            return false;
        }
        if (moment == Moment.CLOSE && (exchange.cause != null || exchange.status >= SERVER_ERROR)) {
            return true;
        }
        if (chosen.exchanges() == Exchanges.FAILED || chosen.sample() >= 1) {
            return chosen.exchanges() == Exchanges.ALL;
        }
        if (exchange.isSampled == null) { // once, so that a tunnel has all of its lines or but the one of its failure
            exchange.isSampled = random.nextDouble() < chosen.sample();
        }
        return exchange.isSampled;
    }

    @Override
    protected void onExpired() {
        handOver();
    }

    /** Hands over the lines so far; on the event loop, or when it has ended. */
    void handOver() {
        if (lines > 0 && writer != null) {
            int length = buffer.length();
            // What is full goes without a copy, which costs as much as writing a few of the lines.
            boolean full = length >= BATCH_BYTES;
            writer.offer(full ? buffer.exchange(writer.spare()) : buffer.toByteArray(), length, lines);
        }
        buffer.clear();
        lines = 0;
    }
}
