package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StreamStateTest {
    @Test
    void aStreamIsClosedOnceBothDirectionsHaveEnded() {
        assertEquals(StreamState.HALF_CLOSED_LOCAL, StreamState.OPEN.withLocalEnded());
        assertEquals(StreamState.HALF_CLOSED_REMOTE, StreamState.OPEN.withRemoteEnded());
        assertEquals(StreamState.CLOSED, StreamState.HALF_CLOSED_LOCAL.withRemoteEnded());
        assertEquals(StreamState.CLOSED, StreamState.HALF_CLOSED_REMOTE.withLocalEnded());
    }

    @Test
    void anOpenStreamHasEndedNowhere() {
        assertFalse(StreamState.OPEN.isLocalEnded());
        assertFalse(StreamState.OPEN.isRemoteEnded());
    }

    @ParameterizedTest
    @EnumSource
    void aDirectionEndsOnceAndLeavesTheOtherAsItWas(StreamState state) {
        StreamState local = state.withLocalEnded();
        assertTrue(local.isLocalEnded());
        assertEquals(state.isRemoteEnded(), local.isRemoteEnded());
        assertEquals(local, local.withLocalEnded());
        StreamState remote = state.withRemoteEnded();
        assertTrue(remote.isRemoteEnded());
        assertEquals(state.isLocalEnded(), remote.isLocalEnded());
        assertEquals(remote, remote.withRemoteEnded());
    }
}
