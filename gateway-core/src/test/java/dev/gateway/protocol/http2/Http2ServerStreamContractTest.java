package dev.gateway.protocol.http2;

import dev.gateway.protocol.http2.Frames.Frame;
import dev.gateway.stream.ContractClient;
import dev.gateway.stream.ContractCore;
import dev.gateway.stream.ServerStreamContract;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The contract of a stream, kept by HTTP/2. */
class Http2ServerStreamContractTest extends ServerStreamContract {
    Http2ServerStreamContractTest() {
        super(Client::new);
    }

    /** A client that sends frames, within the windows that it is given, and gives more window only when told to. */
    private static final class Client extends ContractClient {
        private static final int INITIAL_WINDOW_SIZE = 4;
        private static final int DEFAULT_WINDOW = 65_535;
        private static final int NO_ERROR = 0;
        private static final int CANCEL = 8;
        private static final int MORE = 1 << 24;

        private final Http2ServerConnection connection;
        private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder();
        private final ByteBuf unread = Unpooled.buffer();
        private final List<Integer> statuses = new ArrayList<>();
        private final StringBuilder body = new StringBuilder();
        private int stream = -1;
        private int streamWindow = DEFAULT_WINDOW; // what a new one has
        private int window; // what is left of the stream's
        private int connectionWindow = DEFAULT_WINDOW;
        private boolean complete;
        private boolean failed;

        Client(ContractCore core) {
            super(new EmbeddedChannel());
            connection = Http2ServerConnection.create(
                    Pair.info(), core, new Pair.Counts(), Pair.wheel(channel), Http2ServerSettings.DEFAULT);
            channel.pipeline().addLast(connection);
            sendRaw(Frames.preface());
            sendRaw(Frames.frame(Frames.SETTINGS, Frames.ACK, 0));
        }

        @Override
        public boolean has(Ability ability) {
            return true;
        }

        @Override
        public void open() {
            begin(Frames.post());
        }

        @Override
        public void openTunnel() {
            begin(Frames.block(":method", "CONNECT", ":authority", "example.org:443"));
        }

        private void begin(byte[] head) {
            stream += 2;
            window = streamWindow;
            statuses.clear();
            body.setLength(0);
            complete = false;
            failed = false;
            sendRaw(Frames.frame(Frames.HEADERS, Frames.END_HEADERS, stream, head));
        }

        @Override
        public void send(String bytes) {
            window -= bytes.length();
            connectionWindow -= bytes.length();
            sendRaw(Buffers.join(Frames.frame(Frames.DATA, 0, stream, bytes.getBytes(StandardCharsets.ISO_8859_1))));
        }

        @Override
        public void end() {
            sendRaw(Frames.frame(Frames.DATA, Frames.END_STREAM, stream));
        }

        @Override
        public void reset() {
            sendRaw(Frames.frame(Frames.RST_STREAM, 0, stream, Frames.number(CANCEL)));
        }

        /** Sends trailers with what only a head may have. */
        @Override
        public void breakRules() {
            int flags = Frames.END_STREAM | Frames.END_HEADERS;
            sendRaw(Frames.frame(Frames.HEADERS, flags, stream, Frames.block(":path", "/")));
        }

        @Override
        public boolean maySend(int bytes) {
            return Math.min(window, connectionWindow) >= bytes;
        }

        @Override
        public void takeAll() {
            super.takeAll();
            sendRaw(Frames.frame(Frames.WINDOW_UPDATE, 0, 0, Frames.number(MORE)));
            sendRaw(Frames.frame(Frames.WINDOW_UPDATE, 0, stream, Frames.number(MORE)));
        }

        @Override
        public List<Integer> statuses() {
            return statuses;
        }

        @Override
        public String body() {
            return body.toString();
        }

        @Override
        public boolean isComplete() {
            return complete;
        }

        @Override
        public boolean isCutShort() {
            return failed || (!complete && !channel.isOpen());
        }

        @Override
        public void drain() {
            connection.drain();
        }

        @Override
        protected void receive(ByteBuf bytes) {
            unread.writeBytes(bytes);
            for (Frame frame : Frames.read(unread)) {
                on(frame);
            }
        }

        private void on(Frame frame) {
            boolean ours = frame.stream() == stream;
            if (frame.type() == Frames.SETTINGS) {
                onSettings(frame.payload());
            } else if (frame.type() == Frames.WINDOW_UPDATE && frame.stream() == 0) {
                connectionWindow += frame.number(0);
            } else if (frame.type() == Frames.WINDOW_UPDATE && ours) {
                window += frame.number(0);
            } else if (frame.type() == Frames.HEADERS) {
                onHeaders(frame);
            } else if (frame.type() == Frames.DATA && ours) {
                body.append(frame.payload().toString(StandardCharsets.ISO_8859_1));
            } else if (frame.type() == Frames.RST_STREAM && ours) {
                // After a whole response it only says that the rest of the request is not wanted.
                failed = !complete || frame.number(0) != NO_ERROR;
            }
            boolean mayEnd = frame.type() == Frames.HEADERS || frame.type() == Frames.DATA;
            complete |= ours && mayEnd && (frame.flags() & Frames.END_STREAM) != 0;
        }

        private void onSettings(ByteBuf settings) {
            while (settings.isReadable()) {
                int id = settings.readUnsignedShort();
                int value = settings.readInt();
                streamWindow = id == INITIAL_WINDOW_SIZE ? value : streamWindow;
            }
        }

        private void onHeaders(Frame frame) {
            try {
                Http2Headers headers = decoder.decodeHeaders(frame.stream(), frame.payload());
                if (headers.status() != null) {
                    statuses.add(Integer.parseInt(headers.status().toString()));
                }
            } catch (Http2Exception e) {
                throw new AssertionError(e);
            }
        }
    }
}
