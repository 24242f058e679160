package dev.gateway.filter.compression;

import com.github.luben.zstd.EndDirective;
import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdException;
import dev.gateway.filter.BodyTransform.Input;
import dev.gateway.filter.coding.DirectBytes;
import dev.gateway.filter.coding.ZstdErrors;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.FastThreadLocal;
import java.nio.ByteBuffer;

/** Compressor to zstd (RFC 8878) by zstd-jni, with a context of its event loop. It makes one frame, without a checksum. */
final class ZstdCompressor implements Compressor {
    /** Native memory of a context: window, tables and the buffers of a block. */
    static final int BYTES = 1152 * 1024;

    /** 128 KiB: clients need 8 MB at most (RFC 9659), and a larger window takes more memory for each response. */
    private static final int WINDOW_LOG = 17;

    private static final int TABLE_LOG = 15;
    private static final int MOST_IDLE = 2;
    private static final int ANY_LEVEL = 0; // a context can change its level between two bodies

    private static final FastThreadLocal<IdleCompressors<ZstdCompressCtx>> OF_THIS_LOOP = new FastThreadLocal<>() {
        @Override
        protected IdleCompressors<ZstdCompressCtx> initialValue() {
            return new IdleCompressors<>(
                    MOST_IDLE, ZstdCompressor::newContext, ZstdCompressCtx::reset, ZstdCompressCtx::close);
        }

        @Override
        protected void onRemoval(IdleCompressors<ZstdCompressCtx> all) {
            all.end();
        }
    };

    private final IdleCompressors<ZstdCompressCtx> loop;
    private final ZstdCompressCtx context;
    private boolean finished;

    /** Takes a context of the current event loop. */
    ZstdCompressor(int level) {
        this.loop = ofThisLoop();
        this.context = loop.take(ANY_LEVEL);
        context.setLevel(level)
                .setWindowLog(WINDOW_LOG)
                .setHashLog(TABLE_LOG)
                .setChainLog(TABLE_LOG)
                .setContentSize(false);
    }

    private static ZstdCompressCtx newContext(int anyLevel) {
        return new ZstdCompressCtx();
    }

    /** Returns the idle contexts of the current event loop. */
    static IdleCompressors<ZstdCompressCtx> ofThisLoop() {
        return OF_THIS_LOOP.get();
    }

    @Override
    public void compress(ByteBuf in, ByteBuf out, Input input) {
        boolean done;
        do {
            done = step(in, out, input);
        } while (out.isWritable() && (in.isReadable() || (input != Input.CONTINUES && !done)));
        finished = done && input == Input.ENDS && !in.isReadable();
    }

    /** Calls the library once. Returns whether it has written everything. */
    private boolean step(ByteBuf in, ByteBuf out, Input input) {
        ByteBuf bytes = DirectBytes.of(in);
        try {
            boolean all = bytes.readableBytes() == in.readableBytes();
            ByteBuffer source = bytes.nioBuffer();
            int before = source.position();
            ByteBuffer room = out.nioBuffer(out.writerIndex(), out.writableBytes());
            int start = room.position();
            boolean done = context.compressDirectByteBufferStream(
                    room, source, all ? directive(input) : EndDirective.CONTINUE);
            in.skipBytes(source.position() - before);
            out.writerIndex(out.writerIndex() + room.position() - start);
            return done && all;
        } catch (ZstdException e) {
            throw failure(e);
        } finally {
            bytes.release();
        }
    }

    private static EndDirective directive(Input input) {
        return switch (input) {
            case CONTINUES -> EndDirective.CONTINUE;
            case PAUSES -> EndDirective.FLUSH;
            case ENDS -> EndDirective.END;
        };
    }

    private static RuntimeException failure(ZstdException e) {
        if (ZstdErrors.is(e, Zstd.errMemoryAllocation())) {
            throw new OutOfMemoryError("of zstd's compressor");
        }
        return new IllegalStateException("zstd: " + e.getMessage(), e);
    }

    @Override
    public boolean isFinished() {
        return finished;
    }

    @Override
    public void close() {
        loop.giveBack(context, ANY_LEVEL);
    }
}
