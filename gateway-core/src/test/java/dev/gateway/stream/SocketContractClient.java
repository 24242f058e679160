package dev.gateway.stream;

import dev.gateway.testing.HalfClosableChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;

/** A client whose connection has one request at a time, so that resetting the request closes the connection. */
public abstract class SocketContractClient extends ContractClient {
    private final HalfClosableChannel socket;
    private boolean finSent;

    /** Makes a client whose connection is this channel; the adapter is yet to be added. */
    protected SocketContractClient(HalfClosableChannel socket) {
        super(socket);
        this.socket = socket;
    }

    /** Sends a FIN, unless the connection is closed. */
    protected final void sendFin() {
        if (socket.isOpen()) {
            finSent = true;
            socket.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        }
        settle();
    }

    /** Whether the gateway has sent a FIN, or has closed a connection on which the client had sent its own. */
    protected final boolean hasReceivedFin() {
        return socket.isOutputShutdown() || (finSent && !socket.isOpen());
    }

    @Override
    public final void reset() {
        socket.close();
        settle();
    }

    @Override
    public final boolean maySend(int bytes) {
        return socket.isOpen() && socket.config().isAutoRead();
    }

    @Override
    public final boolean isCutShort() {
        return !socket.isOpen() && !isComplete();
    }
}
