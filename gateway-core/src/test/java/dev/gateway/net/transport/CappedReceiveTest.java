package dev.gateway.net.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.IoEvent;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.uring.IoUringIoEvent;
import io.netty.channel.uring.IoUringIoHandle;
import io.netty.channel.uring.IoUringIoOps;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CappedReceiveTest {
    private static final int FD = 42;
    private static final short DATA = 7;
    private static final int NO_BUFFER_LEFT = -105;
    private static final int NO_SUCH_REQUEST = -2;
    private static final int CANCELED = -125;
    private static final int MORE = 2;
    private static final int NON_EMPTY = 4;
    private static final IoUringIoOps RECEIVE = receive((short) 2, 0);
    private static final IoUringIoOps CANCEL = op((byte) 14, (byte) 0, (short) 0, -1, (short) 27, 0);

    private final List<String> submitted = new ArrayList<>();
    private final List<String> told = new ArrayList<>();
    private Runnable whenTold = () -> {};
    private final CappedReceive receive = new CappedReceive(new Socket());

    @Test
    void hasAnEndWhateverNettyWants() {
        receive.submit(RECEIVE);

        assertThat(submitted)
                .containsExactly(receive((short) 2, CappedReceive.CAP).toString());
    }

    @Test
    void isBegunAnewAtItsEndWithoutTheChannelsKnowing() {
        receive.submit(RECEIVE);
        receive.received(completion(100, MORE));
        receive.received(completion(200, 0));

        assertThat(told).containsExactly("100 more", "200 more");
        assertThat(submitted).hasSize(2);
        assertThat(submitted.get(1)).isEqualTo(submitted.get(0));
    }

    @Test
    void isOverAtItsEndForAChannelThatIsPausedByWhatItWasTold() {
        receive.submit(RECEIVE);
        whenTold = () -> assertThat(receive.submit(CANCEL)).isNotZero();
        receive.received(completion(200, 0));

        assertThat(told).containsExactly("200 more", CANCELED + " last");
        assertThat(submitted).hasSize(1);
    }

    @Test
    void isOverAtItsEndForAChannelThatWasPausedBefore() {
        receive.submit(RECEIVE);
        receive.submit(CANCEL);
        receive.received(completion(100, MORE));
        receive.received(completion(200, 0));

        assertThat(told).containsExactly("100 more", "200 more", CANCELED + " last");
        assertThat(submitted).containsExactly(submitted.get(0), CANCEL.toString());
    }

    @Test
    void lessIsNotHeldBackForMoreOnceItIsCancelled() {
        receive.submit(RECEIVE);
        receive.received(completion(100, MORE | NON_EMPTY));
        assertThat(told).containsExactly("100 more, not all");

        receive.submit(CANCEL);
        receive.received(completion(200, MORE | NON_EMPTY));
        assertThat(told).hasSize(2).endsWith("200 more");
    }

    @Test
    void isCancelledUntilItIs() {
        receive.submit(RECEIVE);
        receive.submit(CANCEL);
        receive.cancelled(new IoUringIoEvent(NO_SUCH_REQUEST, 0, (byte) 14, 27L));
        assertThat(submitted).containsExactly(submitted.get(0), CANCEL.toString(), CANCEL.toString());

        receive.received(completion(CANCELED, 0));
        receive.cancelled(new IoUringIoEvent(NO_SUCH_REQUEST, 0, (byte) 14, 27L));
        assertThat(submitted).hasSize(3);
    }

    @Test
    void isNotBegunAnewForWantOfBuffersOnceItIsCancelled() {
        receive.submit(RECEIVE);
        receive.received(completion(NO_BUFFER_LEFT, 0));
        assertThat(told).containsExactly(NO_BUFFER_LEFT + " last");

        receive.submit(RECEIVE);
        receive.submit(CANCEL);
        receive.received(completion(NO_BUFFER_LEFT, 0));
        assertThat(told).hasSize(2).endsWith(CANCELED + " last");
    }

    @Test
    void leavesReceivesOfOneShotAlone() {
        IoUringIoOps once = receive((short) 0, 0);
        receive.submit(once);
        receive.received(completion(100, 0));

        assertThat(submitted).containsExactly(once.toString());
        assertThat(told).containsExactly("100 last");
    }

    private static IoUringIoOps receive(short priority, int cap) {
        return op((byte) 27, (byte) (1 << 5), priority, FD, DATA, cap);
    }

    private static IoUringIoOps op(byte opcode, byte flags, short priority, int fd, short data, int cap) {
        short none = 0;
        return new IoUringIoOps(opcode, flags, priority, fd, 0, 0, 0, 0, (long) data, none, none, cap, 0);
    }

    private static IoUringIoEvent completion(int result, int flags) {
        return new IoUringIoEvent(result, flags, (byte) 27, (long) DATA);
    }

    /** What the kernel is asked to do. */
    private final class Ring implements IoRegistration {
        @Override
        @SuppressWarnings("TypeParameterUnusedInFormals") // the interface's
        public <T> T attachment() {
            throw new UnsupportedOperationException();
        }

        @Override
        public long submit(IoOps ops) {
            submitted.add(ops.toString());
            return 1;
        }

        @Override
        public boolean isValid() {
            return true;
        }

        @Override
        public boolean cancel() {
            throw new UnsupportedOperationException();
        }
    }

    /** What the channel is told. */
    private final class Handle implements IoUringIoHandle {
        @Override
        public void handle(IoRegistration registration, IoEvent event) {
            IoUringIoEvent completion = (IoUringIoEvent) event;
            if (completion.opcode() == 27) {
                told.add(completion.res()
                        + ((completion.flags() & MORE) != 0 ? " more" : " last")
                        + ((completion.flags() & NON_EMPTY) != 0 ? ", not all" : ""));
            }
            whenTold.run();
            whenTold = () -> {};
        }

        @Override
        public void registered() {}

        @Override
        public void unregistered() {}

        @Override
        public void close() {}
    }

    @SuppressWarnings("try") // of close(), which is the interface's
    private final class Socket extends WrappedHandler.Registered<IoUringIoHandle> implements IoUringIoHandle {
        Socket() {
            super(new Handle());
            registration = new Ring();
        }

        @Override
        public void handle(IoRegistration from, IoEvent event) {
            throw new UnsupportedOperationException();
        }
    }
}
