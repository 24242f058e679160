package dev.gateway.observe.metrics;

import dev.gateway.observe.ConnectWaitResult;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.AttemptKind;
import dev.gateway.observe.ExchangeRecord.HedgeResult;
import dev.gateway.observe.SessionResult;
import dev.gateway.observe.counts.Counts;
import dev.gateway.observe.counts.EndpointMeters;
import dev.gateway.observe.counts.EndpointsOfLoop;
import dev.gateway.observe.counts.FineHistogram;
import dev.gateway.observe.counts.Histogram;
import dev.gateway.stream.Cause;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.UpstreamObserver;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What is counted of one upstream on one event loop: its connections, and the attempts made there. */
@SuppressWarnings("EnumOrdinal") // positions in arrays that never leave the process
final class UpstreamMeters extends ConnectionMeters implements UpstreamObserver {
    /** What is counted of attempts, of waiting for a connection, and of checks. */
    enum UpstreamCount {
        ATTEMPTS_BEGUN,
        ATTEMPTS_ENDED,
        ATTEMPTS_FAILED,
        PENDING_BEGUN,
        PENDING_ENDED,
        PENDING_OVERFLOW,
        PENDING_TIMEOUT,
        RETRIES_SUCCEEDED,
        RETRIES_FAILED,
        RETRIES_OVER_BUDGET,
        HEDGES_WON,
        HEDGES_LOST,
        HEDGES_FAILED,
        HEDGES_OVER_BUDGET,
        STALE_RETRIED,
        STALE_FAILED,
        CHECKS_SUCCEEDED,
        CHECKS_FAILED
    }

    private static final int KINDS = AttemptKind.values().length;

    private final Counts counts = new Counts(UpstreamCount.values().length);
    private final Counts closed = new Counts(CloseCause.values().length);
    private final Counts connectFailures = new Counts(Cause.values().length);
    private final Counts connectWaits = new Counts(ConnectWaitResult.values().length);
    private final Counts sessions = new Counts(SessionResult.values().length);
    private final Counts idle = new Counts(HttpVersion.values().length);
    private final Counts idleEnded = new Counts(HttpVersion.values().length);
    private final Counts attempts = new Counts(KINDS * RouteMeters.CODE_CLASSES);
    private final @Nullable Histogram[] durations = new @Nullable Histogram[KINDS * RouteMeters.CODE_CLASSES];
    final Histogram connectDurations = new Histogram(Histogram.Buckets.CONNECTION);
    final Histogram tlsDurations = new Histogram(Histogram.Buckets.CONNECTION);
    final Histogram pendingDurations = new Histogram(Histogram.Buckets.REQUEST);
    final FineHistogram recent = new FineHistogram();
    final EndpointsOfLoop endpoints = new EndpointsOfLoop();

    long get(UpstreamCount count) {
        return counts.get(count.ordinal());
    }

    long connectFailures(Cause cause) {
        return connectFailures.get(cause.ordinal());
    }

    /** Returns how many connections were closed for a reason. */
    long closed(CloseCause cause) {
        return closed.get(cause.ordinal());
    }

    private static int index(AttemptKind kind, int codeClass) {
        return kind.ordinal() * RouteMeters.CODE_CLASSES + codeClass;
    }

    long attempts(AttemptKind kind, int codeClass) {
        return attempts.get(index(kind, codeClass));
    }

    @Nullable
    Histogram durations(AttemptKind kind, int codeClass) {
        return durations[index(kind, codeClass)];
    }

    void addTo(long[] sums) {
        for (int i = 0; i < sums.length; i++) {
            sums[i] += counts.get(i);
        }
    }

    void addConnectFailuresTo(Map<String, Long> sums) {
        for (Cause cause : Cause.values()) {
            if (connectFailures(cause) > 0) {
                sums.merge(cause.label(), connectFailures(cause), Long::sum);
            }
        }
    }

    void addCodesTo(Map<String, Long> sums) {
        for (int i = 0; i < RouteMeters.CODE_CLASSES; i++) {
            long ended = 0;
            for (AttemptKind kind : AttemptKind.values()) {
                ended += attempts(kind, i);
            }
            if (ended > 0) {
                sums.merge(RouteMeters.codeClassLabel(i), ended, Long::sum);
            }
        }
    }

    /** Adds how many attempts took how long, and returns how many seconds all took together. */
    double addDurationsTo(long[] buckets) {
        double seconds = 0;
        for (Histogram histogram : durations) {
            if (histogram != null) {
                histogram.addTo(buckets);
                seconds += histogram.sumSeconds();
            }
        }
        return seconds;
    }

    private void count(UpstreamCount count) {
        counts.add(count.ordinal(), 1);
    }

    void attemptBegun(ExchangeRecord exchange) {
        count(UpstreamCount.ATTEMPTS_BEGUN);
        beginAtEndpoint(exchange);
    }

    /** The attempt leaves its endpoint for another one. */
    void attemptMoved(ExchangeRecord exchange) {
        EndpointMeters former = exchange.endpointMeters;
        if (former != null) {
            former.left();
        }
        beginAtEndpoint(exchange);
    }

    private void beginAtEndpoint(ExchangeRecord exchange) {
        EndpointMeters meters = endpoints.onLoop(exchange.endpoint, exchange.endpointIndex);
        exchange.endpointMeters = meters;
        if (meters != null) {
            meters.begun();
        }
    }

    void attemptEnded(ExchangeRecord exchange, int status, @Nullable Failure failure, boolean again, long now) {
        int index = index(exchange.attemptKind, RouteMeters.codeClass(status));
        attempts.add(index, 1);
        Histogram histogram = durations[index];
        if (histogram == null) {
            histogram = new Histogram(Histogram.Buckets.REQUEST);
            durations[index] = histogram;
        }
        histogram.record(now - exchange.attemptNanos);
        recent.record(now - exchange.attemptNanos);
        boolean failed = EndpointMeters.isFailed(status, failure);
        if (failed) {
            count(UpstreamCount.ATTEMPTS_FAILED);
        }
        EndpointMeters endpoint = exchange.endpointMeters;
        if (endpoint != null) {
            exchange.endpointMeters = null;
            endpoint.ended(failed, now - exchange.attemptNanos);
        }
        HedgeResult hedge = exchange.hedge();
        if (exchange.attemptKind == AttemptKind.RETRY) {
            boolean helped = failure == null && !again && !failed && !exchange.isRetriable;
            count(helped ? UpstreamCount.RETRIES_SUCCEEDED : UpstreamCount.RETRIES_FAILED);
        } else if (exchange.attemptKind == AttemptKind.HEDGE && hedge != null) {
            count(
                    switch (hedge) {
                        case WON -> UpstreamCount.HEDGES_WON;
                        case LOST -> UpstreamCount.HEDGES_LOST;
                        case FAILED -> UpstreamCount.HEDGES_FAILED;
                    });
        }
        if (!again && exchange.cause == Cause.RETRY_BUDGET) {
            count(UpstreamCount.RETRIES_OVER_BUDGET);
        }
        if (failure != null && failure.stale()) {
            count(again ? UpstreamCount.STALE_RETRIED : UpstreamCount.STALE_FAILED);
        }
        count(UpstreamCount.ATTEMPTS_ENDED);
    }

    void connectWaited(ConnectWaitResult result) {
        connectWaits.add(result.ordinal(), 1);
    }

    long connectWaits(ConnectWaitResult result) {
        return connectWaits.get(result.ordinal());
    }

    void session(SessionResult result) {
        sessions.add(result.ordinal(), 1);
    }

    long sessions(SessionResult result) {
        return sessions.get(result.ordinal());
    }

    void hedgeOverBudget() {
        count(UpstreamCount.HEDGES_OVER_BUDGET);
    }

    @Override
    public void onConnected(long connectNanos, long tlsNanos) {
        connectDurations.record(connectNanos);
        if (tlsNanos > 0) {
            tlsDurations.record(tlsNanos);
        }
    }

    @Override
    public void onClosed(HttpVersion version, boolean tls, CloseCause cause) {
        onClosed(version, tls);
        closed.add(cause.ordinal(), 1);
    }

    @Override
    public void onConnectFailed(Cause cause) {
        connectFailures.add(cause.ordinal(), 1);
    }

    /** Returns how many connections are kept without a stream. */
    long idle(HttpVersion version) {
        long ended = idleEnded.get(version.ordinal()); // first: it never exceeds what began before it was read
        return idle.get(version.ordinal()) - ended;
    }

    @Override
    public void onIdle(HttpVersion version) {
        idle.add(version.ordinal(), 1);
    }

    @Override
    public void onIdleEnded(HttpVersion version) {
        idleEnded.add(version.ordinal(), 1);
    }

    @Override
    public void onPending() {
        count(UpstreamCount.PENDING_BEGUN);
    }

    @Override
    public void onPendingEnded(long nanos) {
        count(UpstreamCount.PENDING_ENDED);
        pendingDurations.record(nanos);
    }

    @Override
    public void onPendingOverflow() {
        count(UpstreamCount.PENDING_OVERFLOW);
    }

    @Override
    public void onPendingTimeout() {
        count(UpstreamCount.PENDING_TIMEOUT);
    }

    @Override
    public void onChecked(boolean well) {
        count(well ? UpstreamCount.CHECKS_SUCCEEDED : UpstreamCount.CHECKS_FAILED);
    }
}
