package dev.gateway.observe.accesslog;

import java.io.IOException;
import java.io.OutputStream;

/** A stream that is not ours to close, such as standard output. */
final class StreamDestination implements LogDestination {
    private final OutputStream out;

    StreamDestination(OutputStream out) {
        this.out = out;
    }

    @Override
    public int write(byte[] lines, int length) throws IOException {
        out.write(lines, 0, length);
        out.flush();
        return 0;
    }

    @Override
    public void close() {}
}
