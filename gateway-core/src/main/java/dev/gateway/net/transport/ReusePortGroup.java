package dev.gateway.net.transport;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.unix.IntegerUnixChannelOption;
import io.netty.channel.unix.RawUnixChannelOption;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The reuseport group of an address: all sockets that listen there by {@code SO_REUSEPORT}, also those of other processes.
 * Lists them, and steers new connections to some of them by a BPF program. Linux only; any thread.
 */
public final class ReusePortGroup {
    private static final int SOL_SOCKET = 1;
    private static final int SO_ATTACH_REUSEPORT_CBPF = 51;
    private static final int SO_DETACH_REUSEPORT_BPF = 68;
    private static final int SOCK_FPROG = 16; // bytes: a short, and a pointer where pointers may be
    private static final RawUnixChannelOption PROGRAM =
            new RawUnixChannelOption("SO_ATTACH_REUSEPORT_CBPF", SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, SOCK_FPROG);
    private static final IntegerUnixChannelOption NO_PROGRAM =
            new IntegerUnixChannelOption("SO_DETACH_REUSEPORT_BPF", SOL_SOCKET, SO_DETACH_REUSEPORT_BPF);

    private static final int LOAD = 0x20;
    private static final int RANDOM = 0xfffff000 + 56; // what is loaded, an address that is none
    private static final int MODULO = 0x94;
    private static final int ADD = 0x04;
    private static final int RETURN = 0x16;
    private static final int INSTRUCTIONS = 4;
    private static final int INSTRUCTION = 8; // bytes

    private static final List<Path> TABLES = List.of(Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6"));
    private static final String LISTENS = "0A";
    private static final int ADDRESS = 1; // of what a line of the kernel's tables says
    private static final int STATE = 3;
    private static final int INODE = 9;

    private ReusePortGroup() {}

    /** Returns the sockets that listen at an address, of whatever process, by numbers that the kernel gives them. */
    public static Set<String> listening(InetSocketAddress address) throws IOException {
        Set<String> found = new HashSet<>();
        for (Path table : TABLES) {
            if (Files.exists(table)) {
                try (Stream<String> lines = Files.lines(table)) {
                    lines.skip(1)
                            .map(line -> line.strip().split(" +"))
                            .takeWhile(line -> line[STATE].equals(LISTENS)) // the others, which may be many, come later
                            .filter(line -> is(address, line[ADDRESS]))
                            .forEach(line -> found.add(line[INODE]));
                }
            }
        }
        return found;
    }

    private static boolean is(InetSocketAddress address, String written) {
        int colon = written.indexOf(':');
        if (Integer.parseInt(written.substring(colon + 1), 16) != address.getPort()) {
            return false;
        }
        byte[] words = HexFormat.of().parseHex(written.substring(0, colon));
        ByteBuffer bytes = ByteBuffer.allocate(words.length);
        ByteBuffer native32 = ByteBuffer.wrap(words).order(ByteOrder.BIG_ENDIAN);
        while (native32.hasRemaining()) {
            int word = native32.getInt();
            bytes.putInt(ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? Integer.reverseBytes(word) : word);
        }
        try {
            InetAddress bound = InetAddress.getByAddress(bytes.array());
            return bound.equals(address.getAddress())
                    || (bound.isAnyLocalAddress() && address.getAddress().isAnyLocalAddress());
        } catch (IOException e) {
            throw new IllegalStateException(e); // an address has 4 or 16 bytes, and so has what the kernel writes
        }
    }

    /**
     * Lets new connections of a port go to some of the sockets that listen there, which the kernel numbers as they began
     * to listen. If there is no socket of the number drawn, the kernel spreads as it does without this.
     *
     * @param socket any of them
     * @throws IOException if the platform cannot
     */
    public static void steer(Channel socket, int first, int count) throws IOException {
        ByteBuf program = Unpooled.directBuffer(INSTRUCTIONS * INSTRUCTION);
        try {
            instruction(program, LOAD, RANDOM);
            instruction(program, MODULO, count);
            instruction(program, ADD, first);
            instruction(program, RETURN, 0);
            ByteBuffer pointer = ByteBuffer.allocateDirect(SOCK_FPROG).order(ByteOrder.nativeOrder());
            pointer.putShort(0, (short) INSTRUCTIONS).putLong(8, program.memoryAddress());
            if (!socket.config().setOption(PROGRAM, pointer)) {
                throw new IOException("not with this kind of sockets");
            }
        } catch (ChannelException | UnsupportedOperationException e) {
            throw new IOException(e.getMessage(), e);
        } finally {
            program.release();
        }
    }

    /**
     * Lets the kernel spread new connections of a port over all sockets that listen there.
     *
     * @param socket any of them
     */
    public static void spread(Channel socket) {
        try {
            socket.config().setOption(NO_PROGRAM, 0);
        } catch (ChannelException | UnsupportedOperationException e) {
            return; // it does so already
        }
    }

    private static void instruction(ByteBuf program, int code, int operand) {
        boolean little = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
        if (little) {
            program.writeShortLE(code).writeShort(0).writeIntLE(operand); // no jumps
        } else {
            program.writeShort(code).writeShort(0).writeInt(operand);
        }
    }
}
