package dev.gateway.protocol.http2;

import io.netty.handler.codec.EmptyHeaders;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/**
 * What Netty's HTTP/2 codec wants a header list to be, without holding one: subclasses take what the HPACK decoder finds,
 * or give what the HPACK encoder writes. Everything else answers as an empty list does.
 */
abstract class HeadersAdapter extends EmptyHeaders<CharSequence, CharSequence, Http2Headers> implements Http2Headers {
    @Override
    public final Http2Headers method(CharSequence value) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final Http2Headers scheme(CharSequence value) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final Http2Headers authority(CharSequence value) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final Http2Headers path(CharSequence value) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final Http2Headers status(CharSequence value) {
        throw new UnsupportedOperationException();
    }

    @Override
    @SuppressWarnings("NullAway") // Netty's interface allows null and does not say so
    public @Nullable CharSequence method() {
        return null;
    }

    @Override
    @SuppressWarnings("NullAway")
    public @Nullable CharSequence scheme() {
        return null;
    }

    @Override
    @SuppressWarnings("NullAway")
    public @Nullable CharSequence authority() {
        return null;
    }

    @Override
    @SuppressWarnings("NullAway")
    public @Nullable CharSequence path() {
        return null;
    }

    @Override
    @SuppressWarnings("NullAway")
    public @Nullable CharSequence status() {
        return null;
    }

    @Override
    public final boolean contains(CharSequence name, CharSequence value, boolean caseInsensitive) {
        return false;
    }
}
