package dev.gateway.protocol.http2;

import io.netty.handler.codec.http2.Http2Stream;

/**
 * The entry of a stream in the queue for sending: what it has to send, and its place among those of its connection that have
 * something.
 */
final class StreamEntry {
    final Http2Stream stream;
    final Ring.Link<StreamEntry> turn = new Ring.Link<>(this); // among those of its urgency that take turns
    final Ring.Link<StreamEntry> wait = new Ring.Link<>(this); // among all
    int urgency = Priority.DEFAULT_URGENCY;
    boolean takesTurns = true;
    int streamable; // bytes that wait and that its window has room for
    boolean queued;
    boolean writing;

    StreamEntry(Http2Stream stream) {
        this.stream = stream;
    }

    int id() {
        return stream.id();
    }
}
