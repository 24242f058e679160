package dev.gateway.observe;

import dev.gateway.observe.ExchangeRecord.AttemptKind;
import dev.gateway.observe.counts.EndpointMeters;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.EndpointName;
import org.jspecify.annotations.Nullable;

/**
 * The part of an {@link ExchangeRecord} about one attempt, for an attempt that the record does not show at present: of two
 * attempts that run at the same time, it shows one. Confined to the exchange's event loop.
 */
public final class OtherAttempt {
    private @Nullable EndpointName endpoint;
    private int endpointIndex = -1;
    private @Nullable EndpointMeters endpointMeters;
    private @Nullable DialedPeer hop;
    private AttemptKind kind = AttemptKind.HEDGE;
    private long attemptNanos;
    private long dialNanos;
    private long requestedNanos;

    /** Exchanges the two: the record shows this attempt, and this keeps the one that the record showed. */
    public void swap(ExchangeRecord record) {
        EndpointName toldEndpoint = record.endpoint;
        int toldIndex = record.endpointIndex;
        EndpointMeters toldMeters = record.endpointMeters;
        DialedPeer toldHop = record.hop;
        AttemptKind toldKind = record.attemptKind;
        long toldAttempt = record.attemptNanos;
        long toldDial = record.dialNanos;
        long toldRequested = record.requestedNanos;
        record.endpoint = endpoint;
        record.endpointIndex = endpointIndex;
        record.endpointMeters = endpointMeters;
        record.hop = hop;
        record.attemptKind = kind;
        record.attemptNanos = attemptNanos;
        record.dialNanos = dialNanos;
        record.requestedNanos = requestedNanos;
        endpoint = toldEndpoint;
        endpointIndex = toldIndex;
        endpointMeters = toldMeters;
        hop = toldHop;
        kind = toldKind;
        attemptNanos = toldAttempt;
        dialNanos = toldDial;
        requestedNanos = toldRequested;
    }
}
