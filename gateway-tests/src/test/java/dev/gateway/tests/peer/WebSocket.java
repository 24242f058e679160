package dev.gateway.tests.peer;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The frames of a WebSocket (RFC 6455, section 5) on a stream that has become one, frame by frame as a test says. */
public final class WebSocket {
    public static final int CONTINUATION = 0;
    public static final int TEXT = 1;
    public static final int BINARY = 2;
    public static final int CLOSE = 8;
    public static final int PING = 9;
    public static final int PONG = 10;

    private static final byte[] MASK = {0x37, (byte) 0xfa, 0x21, 0x3d};

    private final PeerStream stream;
    private final boolean client;
    private final byte[] buffer = new byte[65_536];
    private int next;
    private int end;

    public WebSocket(PeerStream stream, boolean client) {
        this.stream = stream;
        this.client = client;
    }

    /** A frame as it was received, unmasked. */
    public static final class Frame {
        private final int opcode;
        private final boolean fin;
        private final byte[] payload;

        private Frame(int opcode, boolean fin, byte[] payload) {
            this.opcode = opcode;
            this.fin = fin;
            this.payload = payload;
        }

        public int opcode() {
            return opcode;
        }

        public boolean fin() {
            return fin;
        }

        public byte[] payload() {
            return payload;
        }

        /** Returns the payload as text. */
        public String text() {
            return new String(payload, StandardCharsets.UTF_8);
        }

        /** Returns the code of a close frame. */
        public int code() {
            return ByteBuffer.wrap(payload).getShort() & 0xffff;
        }
    }

    /** Sends a frame. */
    public void send(int opcode, boolean fin, byte[] payload) throws IOException {
        ByteBuffer out = ByteBuffer.allocate(14 + payload.length);
        out.put((byte) (opcode | (fin ? 0x80 : 0)));
        int masked = client ? 0x80 : 0;
        if (payload.length < 126) {
            out.put((byte) (payload.length | masked));
        } else if (payload.length < 1 << 16) {
            out.put((byte) (126 | masked)).putShort((short) payload.length);
        } else {
            out.put((byte) (127 | masked)).putLong(payload.length);
        }
        if (client) {
            out.put(MASK);
            for (int i = 0; i < payload.length; i++) {
                out.put((byte) (payload[i] ^ MASK[i & 3]));
            }
        } else {
            out.put(payload);
        }
        stream.send(out.array(), 0, out.position(), false);
    }

    /** Sends a whole text message. */
    public void text(String text) throws IOException {
        send(TEXT, true, text.getBytes(StandardCharsets.UTF_8));
    }

    /** Sends a close frame. */
    public void close(int code) throws IOException {
        send(CLOSE, true, ByteBuffer.allocate(2).putShort((short) code).array());
    }

    /** Waits for the next frame. */
    public Frame receive() throws IOException {
        int first = read();
        int second = read();
        long length = second & 0x7f;
        if (length > 125) {
            int bytes = length == 126 ? 2 : 8;
            length = 0;
            for (int i = 0; i < bytes; i++) {
                length = length << 8 | read();
            }
        }
        if ((second & 0x80) == (client ? 0x80 : 0)) {
            throw new IOException("masked by a server, or not by a client");
        }
        byte[] mask = new byte[4];
        for (int i = 0; i < 4 && !client; i++) {
            mask[i] = (byte) read();
        }
        byte[] payload = new byte[Math.toIntExact(length)];
        for (int i = 0; i < payload.length; i++) {
            payload[i] = (byte) (read() ^ mask[i & 3]);
        }
        return new Frame(first & 0x0f, (first & 0x80) != 0, payload);
    }

    private int read() throws IOException {
        if (next == end) {
            next = 0;
            end = stream.receive(buffer);
            if (end < 0) {
                end = 0;
                throw new EOFException("the WebSocket ended within a frame, or before one");
            }
        }
        return buffer[next++] & 0xff;
    }

    /** Ends our direction, and waits for the end of the other. */
    public void end() throws IOException {
        stream.send("", true);
        if (next < end || stream.receive(buffer) >= 0) {
            throw new IOException("more came than was to");
        }
    }

    /** What an origin does that echoes messages until it is told to close. */
    public static void echo(PeerStream stream, Head head) throws IOException {
        Handshake.accept(stream, head);
        WebSocket socket = new WebSocket(stream, false);
        for (Frame frame = socket.receive(); ; frame = socket.receive()) {
            socket.send(frame.opcode() == PING ? PONG : frame.opcode(), frame.fin(), frame.payload());
            if (frame.opcode() == CLOSE) {
                socket.end();
                return;
            }
        }
    }
}
