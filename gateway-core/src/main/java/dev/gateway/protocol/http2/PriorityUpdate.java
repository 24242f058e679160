package dev.gateway.protocol.http2;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.util.AsciiString;

/** The frame by which a client changes a response's priority, maybe before it asks for that (RFC 9218, section 7.1). */
record PriorityUpdate(int streamId, Priority priority) {
    static final int TYPE = 0x10;

    static PriorityUpdate read(ByteBuf payload) throws Http2Exception {
        if (payload.readableBytes() < Integer.BYTES) {
            throw Http2Exception.connectionError(Http2Error.FRAME_SIZE_ERROR, "a PRIORITY_UPDATE without a stream");
        }
        int streamId = payload.readInt() & Integer.MAX_VALUE;
        if ((streamId & 1) == 0) {
            throw Http2Exception.connectionError(Http2Error.PROTOCOL_ERROR, "PRIORITY_UPDATE of no client's stream");
        }
        return new PriorityUpdate(streamId, Priority.parse(new AsciiString(ByteBufUtil.getBytes(payload), false)));
    }
}
