package dev.gateway.protocol.tcp;

import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.ContractCore;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ServerStreamContract;
import dev.gateway.stream.SocketContractClient;
import dev.gateway.testing.Buffers;
import dev.gateway.testing.HalfClosableChannel;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The contract of a stream, kept by a connection whose bytes are passed on. */
class TcpServerStreamContractTest extends ServerStreamContract {
    TcpServerStreamContractTest() {
        super(core -> new Client(core, new HalfClosableChannel()));
    }

    /** A client that sends bytes: its connection is a tunnel from the start. */
    private static final class Client extends SocketContractClient {
        private final TcpServerConnection connection;
        private final StringBuilder received = new StringBuilder();
        private boolean opened;

        Client(ContractCore core, HalfClosableChannel socket) {
            super(socket);
            ConnectionInfo info = new ConnectionInfo(0, "test", HttpVersion.HTTP_1_1, null, null, null);
            TimerWheel timers = new TimerWheel(
                    socket.eventLoop(), () -> socket.eventLoop().ticker().nanoTime());
            connection = new TcpServerConnection(
                    info, core, new ConnectionObserver() {}, timers, new TcpServerSettings(false, 0));
        }

        @Override
        public boolean has(Ability ability) {
            return false;
        }

        /** Makes the connection the only request that there is on it; in a turn of the loop, after which closing is told. */
        @Override
        public void open() {
            if (!opened) {
                opened = true;
                channel.eventLoop().execute(() -> channel.pipeline().addLast(connection));
                settle();
            }
        }

        @Override
        public void openTunnel() {
            open();
        }

        @Override
        public void send(String bytes) {
            sendRaw(Buffers.of(bytes));
        }

        @Override
        public void end() {
            sendFin();
        }

        @Override
        public void breakRules() {
            throw new UnsupportedOperationException("there are none");
        }

        @Override
        public List<Integer> statuses() {
            return List.of();
        }

        @Override
        public String body() {
            return received.toString();
        }

        @Override
        public boolean isComplete() {
            return hasReceivedFin();
        }

        @Override
        public void drain() {
            connection.drain();
        }

        @Override
        protected void receive(ByteBuf bytes) {
            received.append(bytes.toString(StandardCharsets.ISO_8859_1));
        }
    }
}
