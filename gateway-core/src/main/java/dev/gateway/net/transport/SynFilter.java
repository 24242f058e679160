package dev.gateway.net.transport;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.unix.RawUnixChannelOption;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Socket filter (BPF): makes a listening TCP socket ignore new clients, but continue with those whose handshake has
 * begun. Closing the socket would reset these, and those that wait to be accepted, though they may have sent a
 * request already; who is turned away tries again after a second, and then meets a new listener, or none. Linux only;
 * any thread.
 */
public final class SynFilter {
    private static final int SOL_SOCKET = 1;
    private static final int SO_ATTACH_FILTER = 26;
    private static final int SOCK_FPROG = 16; // bytes: a short, and a pointer where pointers may be
    private static final RawUnixChannelOption PROGRAM =
            new RawUnixChannelOption("SO_ATTACH_FILTER", SOL_SOCKET, SO_ATTACH_FILTER, SOCK_FPROG);

    private static final int LOAD_BYTE = 0x30;
    private static final int JUMP_IF_ANY_BIT = 0x45;
    private static final int RETURN = 0x06;
    private static final int FLAGS = 13; // where they are in a TCP header
    private static final int SYN = 2;
    private static final int DROP = 0;
    private static final int PASS = -1; // whole
    private static final int INSTRUCTIONS = 4;
    private static final int INSTRUCTION = 8; // bytes

    private SynFilter() {}

    /**
     * Turns new clients away from now on, for as long as the socket is open.
     *
     * @return whether the platform can
     */
    public static boolean attach(Channel socket) {
        ByteBuf program = Unpooled.directBuffer(INSTRUCTIONS * INSTRUCTION);
        try {
            instruction(program, LOAD_BYTE, 0, FLAGS);
            instruction(program, JUMP_IF_ANY_BIT, 1, SYN); // if not, one instruction further
            instruction(program, RETURN, 0, DROP);
            instruction(program, RETURN, 0, PASS);
            ByteBuffer pointer = ByteBuffer.allocateDirect(SOCK_FPROG).order(ByteOrder.nativeOrder());
            pointer.putShort(0, (short) INSTRUCTIONS).putLong(8, program.memoryAddress());
            return socket.config().setOption(PROGRAM, pointer);
        } catch (ChannelException | UnsupportedOperationException e) {
            return false;
        } finally {
            program.release();
        }
    }

    private static void instruction(ByteBuf program, int code, int jumpIfNot, int operand) {
        boolean little = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
        if (little) {
            program.writeShortLE(code).writeByte(0).writeByte(jumpIfNot).writeIntLE(operand);
        } else {
            program.writeShort(code).writeByte(0).writeByte(jumpIfNot).writeInt(operand);
        }
    }
}
