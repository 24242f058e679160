package dev.gateway.filter.ratelimit.redis;

import dev.gateway.filter.ratelimit.StoreClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.netty.channel.EventLoop;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A connection of Lettuce, with the one script that the gateway runs. */
final class LettuceLink implements RedisLink {
    private final StatefulRedisConnection<byte[], byte[]> connection;
    private final EventLoop loop;
    private final List<Reply> unsent = new ArrayList<>(); // of questions; Lettuce has their bytes
    private boolean flushing;
    private boolean sending;

    LettuceLink(StatefulRedisConnection<byte[], byte[]> connection, EventLoop loop) {
        this.connection = connection;
        this.loop = loop;
        connection.setAutoFlushCommands(false);
    }

    /** Two numbers. */
    private static final class Taken extends CommandOutput<byte[], byte[], Void> {
        private int count;
        private long granted;
        private long lacks;

        @SuppressWarnings("NullAway") // Lettuce knows no annotations: it has no value of its own
        Taken() {
            super(ByteArrayCodec.INSTANCE, null);
        }

        @Override
        public void set(long number) {
            if (count++ == 0) {
                granted = number;
            } else {
                lacks = number;
            }
        }
    }

    /** A call of the script. */
    private final class Take extends Command<byte[], byte[], Void> {
        private final StoreClient.Question question;
        private final Taken taken;
        private final Reply reply;

        Take(CommandType type, String script, StoreClient.Question question, Taken taken, Reply reply) {
            super(
                    type,
                    taken,
                    new CommandArgs<>(ByteArrayCodec.INSTANCE)
                            .add(script)
                            .add(1)
                            .addKey(question.key().getBytes(StandardCharsets.UTF_8))
                            .add(question.wanted())
                            .add(question.capacity())
                            .add(Double.toString(question.ticksPerMicro())));
            this.question = question;
            this.taken = taken;
            this.reply = reply;
        }

        @Override
        public void complete() {
            super.complete();
            if (!taken.hasError()) {
                reply.onTaken((int) taken.granted, taken.lacks);
            } else if (getType() == CommandType.EVALSHA && taken.getError().startsWith("NOSCRIPT")) {
                send(new Take(CommandType.EVAL, TakeScript.TEXT, question, new Taken(), reply));
            } else {
                reply.onError(taken.getError());
            }
        }

        @Override
        public boolean completeExceptionally(Throwable failure) {
            boolean done = super.completeExceptionally(failure);
            failed(reply, String.valueOf(failure.getMessage()));
            return done;
        }

        @Override
        public void cancel() {
            super.cancel();
            failed(reply, "the connection was closed");
        }
    }

    @Override
    public void ask(StoreClient.Question question, Reply reply) {
        unsent.add(reply);
        send(new Take(CommandType.EVALSHA, TakeScript.SHA1, question, new Taken(), reply));
    }

    private void send(Take take) {
        sending = true;
        connection.dispatch(take);
        sending = false;
        if (!flushing) {
            flushing = true;
            loop.execute(this::flush);
        }
    }

    /** A closed connection refuses commands at once. */
    private void failed(Reply reply, String reason) {
        if (sending) {
            loop.execute(() -> reply.onEnded(reason));
        } else {
            reply.onEnded(reason);
        }
    }

    private void flush() {
        flushing = false;
        connection.flushCommands();
        List<Reply> sent = List.copyOf(unsent);
        unsent.clear();
        sent.forEach(Reply::onSent);
    }

    @Override
    public void close() {
        connection.closeAsync();
    }
}
