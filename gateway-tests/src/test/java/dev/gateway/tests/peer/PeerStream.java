package dev.gateway.tests.peer;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** One exchange as a client or an origin sees it. Blocking; one thread may send while another one receives. */
public abstract class PeerStream {
    /** Sends a head; interim responses may come first. */
    public abstract void send(Head head, boolean last) throws IOException;

    /** Sends a part of the body, when the other side has room for it. */
    public abstract void send(byte[] data, int offset, int length, boolean last) throws IOException;

    /** Ends the message by trailers: names and values in turn. */
    public abstract void sendTrailers(String... fields) throws IOException;

    /** Waits for the next head. */
    public abstract Head receiveHead() throws IOException;

    /** Waits for body; returns how many bytes there were, or -1 at its end. */
    public abstract int receive(byte[] buffer) throws IOException;

    /** Returns the trailers received; valid after the body's end. */
    public abstract List<Map.Entry<String, String>> trailers();

    /** Ends the exchange at once: RST_STREAM with CANCEL, or a TCP reset. */
    public abstract void reset() throws IOException;

    /** Returns the connection. */
    public abstract Peer peer();

    /**
     * Sends a whole message and aborts the connection at once; the other side receives both. Nothing else is on its way by
     * then: behind many small segments, the kernel would delay the message, and lose it by the reset.
     */
    public final void sendAndAbort(Head head, String body) throws IOException {
        Peer peer = peer();
        synchronized (peer) { // so that HTTP/2 gives no credit meanwhile
            peer.awaitDelivery();
            send(head, false);
            send(body, true);
            peer.abort();
        }
    }

    /** Sends a part of the body. */
    public final void send(byte[] data, boolean last) throws IOException {
        send(data, 0, data.length, last);
    }

    /** Sends a part of the body. */
    public final void send(String data, boolean last) throws IOException {
        send(data.getBytes(StandardCharsets.ISO_8859_1), last);
    }

    /** Waits for a head that is not interim. */
    public final Head receiveFinal() throws IOException {
        Head head = receiveHead();
        while (head.isInterim()) {
            head = receiveHead();
        }
        return head;
    }

    /** Waits for the whole body; for small ones. */
    public final String receiveBody() throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        byte[] buffer = new byte[8192];
        for (int n = receive(buffer); n >= 0; n = receive(buffer)) {
            body.write(buffer, 0, n);
        }
        return body.toString(StandardCharsets.ISO_8859_1);
    }

    /** Returns the values of a trailer field. */
    public final List<String> trailer(String name) {
        return Head.all(trailers(), name);
    }
}
