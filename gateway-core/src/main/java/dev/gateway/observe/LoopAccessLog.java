package dev.gateway.observe;

import dev.gateway.observe.AccessLogFormat.Moment;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;

/** Formats the lines of one event loop, and hands them over in batches: when one is full, or a moment after its first. */
final class LoopAccessLog extends Timer implements ExchangeObserver {
    private static final int BATCH_BYTES = 16 * 1024;
    private static final int LONGEST_LINE = 4 * 1024; // usually; the buffer grows if it must
    private static final long DELAY_MILLIS = 100;

    private final AccessLog log;
    private final TimerWheel wheel;
    private final AccessLogFormat format;
    private final LineBuffer buffer = new LineBuffer(BATCH_BYTES + LONGEST_LINE);
    private int lines;

    LoopAccessLog(AccessLog log, TimerWheel wheel, AccessLogFormat format) {
        this.log = log;
        this.wheel = wheel;
        this.format = format;
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
        write(exchange, Moment.CLOSE);
    }

    private void write(ExchangeRecord exchange, Moment moment) {
        if (!format.has(moment)) {
            return;
        }
        format.write(exchange, moment, buffer);
        lines++;
        if (buffer.length() >= BATCH_BYTES) {
            cancel();
            handOver();
        } else if (!isArmed()) {
            wheel.arm(this, DELAY_MILLIS);
        }
    }

    @Override
    protected void onExpired() {
        handOver();
    }

    void handOver() {
        if (lines > 0) {
            log.offer(buffer.toByteArray(), lines);
            buffer.clear();
            lines = 0;
        }
    }
}
