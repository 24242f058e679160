package dev.gateway.testing;

import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import io.netty.buffer.ByteBuf;

/** Stream events that a test ignores, and releases; it overrides those that it wants to see. */
public class IgnoredEvents implements ResponseEvents {
    @Override
    public void onHead(ResponseHead head, boolean last) {}

    @Override
    public void onData(ByteBuf data, boolean last) {
        data.release();
    }

    @Override
    public void onTrailers(Fields trailers) {}

    @Override
    public void onWritable() {}

    @Override
    public void onReadComplete() {}

    @Override
    public void onReset(Failure failure) {}
}
