package dev.gateway.protocol.http2;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;

/** Netty's HPACK decoder, filling our header lists, which check what they are given. */
final class HeadersDecoder extends DefaultHttp2HeadersDecoder {
    /** How many times the size we accept we read on, to be able to answer 431 rather than end the connection. */
    static final int READ_ON = 4;

    private final int maxFields;
    private final boolean strict;
    private int blockLength;
    private Gate gate = streamId -> {};

    /**
     * Makes a decoder.
     *
     * @param strict whether header lists are read as those of a client, not of an upstream
     */
    HeadersDecoder(long maxHeaderListSize, int maxFields, boolean strict) {
        super(false, false, maxHeaderListSize);
        this.maxFields = maxFields;
        this.strict = strict;
        readOn(maxHeaderListSize);
    }

    /** Netty's own bound is a quarter more than the limit, and counts until the peer has acknowledged our SETTINGS. */
    private void readOn(long maxHeaderListSize) {
        try {
            maxHeaderListSize(maxHeaderListSize, maxHeaderListSize * READ_ON);
        } catch (Http2Exception e) {
            throw new IllegalArgumentException(e);
        }
    }

    /** Judges a header block by its stream alone, once the block went through HPACK's table. */
    interface Gate {
        void onHeaderBlock(int streamId) throws Http2Exception;
    }

    void gate(Gate gate) {
        this.gate = gate;
    }

    /** Returns the compressed size of the header block decoded last. */
    int blockLength() {
        return blockLength;
    }

    @Override
    public Http2Headers decodeHeaders(int streamId, ByteBuf headerBlock) throws Http2Exception {
        blockLength = headerBlock.readableBytes();
        Http2Headers headers = super.decodeHeaders(streamId, headerBlock);
        gate.onHeaderBlock(streamId);
        return headers;
    }

    @Override
    protected Http2Headers newHeaders() {
        return new ReceivedHeaders(maxFields, strict);
    }
}
