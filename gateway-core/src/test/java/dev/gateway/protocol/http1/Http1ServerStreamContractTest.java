package dev.gateway.protocol.http1;

import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.ContractCore;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ServerStreamContract;
import dev.gateway.stream.SocketContractClient;
import dev.gateway.testing.Buffers;
import dev.gateway.testing.HalfClosableChannel;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The contract of a stream, kept by HTTP/1.1. */
class Http1ServerStreamContractTest extends ServerStreamContract {
    Http1ServerStreamContractTest() {
        super(core -> new Client(core, new HalfClosableChannel()));
    }

    /** A client that sends chunks, and reads chunks and bytes until the end of the connection. */
    private static final class Client extends SocketContractClient {
        private final Http1ServerConnection connection;
        private final List<Integer> statuses = new ArrayList<>();
        private final StringBuilder unread = new StringBuilder();
        private final StringBuilder body = new StringBuilder();
        private boolean tunnel;
        private boolean inBody;
        private boolean complete;

        Client(ContractCore core, HalfClosableChannel socket) {
            super(socket);
            ConnectionInfo info = new ConnectionInfo(0, "test", HttpVersion.HTTP_1_1, null, null, null);
            connection = new Http1ServerConnection(
                    info, core, new ConnectionObserver() {}, new TestClock(socket).timers(), Downstream.SETTINGS, null);
            channel.pipeline().addLast(connection);
        }

        @Override
        public boolean has(Ability ability) {
            return ability == Ability.MESSAGES;
        }

        @Override
        public void open() {
            begin("POST / HTTP/1.1\r\nHost: example.org\r\nTransfer-Encoding: chunked\r\n\r\n");
        }

        @Override
        public void openTunnel() {
            begin("CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n");
            tunnel = true;
        }

        private void begin(String head) {
            statuses.clear();
            body.setLength(0);
            inBody = false;
            complete = false;
            sendRaw(Buffers.of(head));
        }

        @Override
        public void send(String bytes) {
            String chunk = Integer.toHexString(bytes.length()) + "\r\n" + bytes + "\r\n";
            sendRaw(Buffers.of(tunnel ? bytes : chunk));
        }

        @Override
        public void end() {
            if (!tunnel) {
                sendRaw(Buffers.of("0\r\n\r\n"));
            } else {
                sendFin();
            }
        }

        @Override
        public void breakRules() {
            sendRaw(Buffers.of("no chunk\r\n"));
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
            return complete || (tunnel && hasReceivedFin());
        }

        @Override
        public void drain() {
            connection.drain();
        }

        @Override
        protected void receive(ByteBuf bytes) {
            unread.append(bytes.toString(StandardCharsets.ISO_8859_1));
            while (!complete && (inBody ? readBody() : readHead())) {
                // more may have come
            }
        }

        private boolean readHead() {
            int end = unread.indexOf("\r\n\r\n");
            if (end < 0) {
                return false;
            }
            String head = take(end + 4);
            int status = Integer.parseInt(head.substring(9, 12));
            statuses.add(status);
            inBody = status >= 200;
            complete = inBody && head.toLowerCase(Locale.ROOT).contains("\r\ncontent-length: 0\r\n");
            return true;
        }

        private boolean readBody() {
            if (tunnel) {
                body.append(take(unread.length()));
                return false;
            }
            int line = unread.indexOf("\r\n");
            if (line < 0) {
                return false;
            }
            int length = Integer.parseInt(unread.substring(0, line), 16);
            if (length == 0) {
                int end = unread.indexOf("\r\n\r\n");
                complete = end >= 0;
                unread.delete(0, complete ? end + 4 : 0);
                return false;
            }
            if (unread.length() < line + 2 + length + 2) {
                return false;
            }
            body.append(unread, line + 2, line + 2 + length);
            unread.delete(0, line + 2 + length + 2);
            return true;
        }

        private String take(int length) {
            String taken = unread.substring(0, length);
            unread.delete(0, length);
            return taken;
        }
    }
}
