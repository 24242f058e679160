package dev.gateway.net.transport;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.ThreadAwareExecutor;
import java.util.function.BiFunction;

/**
 * One of Netty's handlers of I/O, each of whose sockets is put in between by a {@link Registered}: what that does not do
 * differently is done as Netty does it, but that the loop does not wait before its {@link IdleTasks} has been. Used by its event
 * loop only.
 */
abstract class WrappedHandler implements IoHandler {
    private final IoHandler wrapped;
    private final IdleTasks lull = new IdleTasks(System::nanoTime);
    private final Polling polling = new Polling();

    WrappedHandler(IoHandler wrapped) {
        this.wrapped = wrapped;
    }

    /** Wraps each handler that Netty's factory makes. */
    static IoHandlerFactory factory(
            IoHandlerFactory factory, BiFunction<IoHandler, ThreadAwareExecutor, WrappedHandler> wrapper) {
        return new IoHandlerFactory() {
            @Override
            public IoHandler newHandler(ThreadAwareExecutor executor) {
                return wrapper.apply(factory.newHandler(executor), executor);
            }

            @Override
            public boolean isChangingThreadSupported() {
                return factory.isChangingThreadSupported();
            }
        };
    }

    /** Returns what goes between this socket's channel and Netty's handler. */
    abstract Registered<?> wrap(IoHandle handle);

    @Override
    public final void initialize() {
        lull.become();
        wrapped.initialize();
    }

    @Override
    public int run(IoHandlerContext context) {
        lull.onTurn();
        if (!lull.isAwaited()) {
            return wrapped.run(context);
        }
        boolean hasNoTasks = context.canBlock();
        polling.context = context;
        int handled = wrapped.run(polling);
        lull.onPolled(hasNoTasks && handled == 0);
        return handled;
    }

    @Override
    public final void prepareToDestroy() {
        wrapped.prepareToDestroy();
    }

    @Override
    public final void destroy() {
        wrapped.destroy();
    }

    @Override
    public final IoRegistration register(IoHandle handle) throws Exception {
        Registered<?> registered = wrap(handle);
        registered.registration = wrapped.register(registered);
        return registered;
    }

    @Override
    public final void wakeup() {
        wrapped.wakeup();
    }

    @Override
    public final boolean isCompatible(Class<? extends IoHandle> handleType) {
        return wrapped.isCompatible(handleType);
    }

    /** A look at what has happened that does not wait for more. */
    private static final class Polling implements IoHandlerContext {
        @SuppressWarnings("NullAway.Init")
        IoHandlerContext context;

        @Override
        public boolean canBlock() {
            return false;
        }

        @Override
        public long delayNanos(long currentTimeNanos) {
            return context.delayNanos(currentTimeNanos);
        }

        @Override
        public long deadlineNanos() {
            return context.deadlineNanos();
        }

        @Override
        public boolean shouldReportActiveIoTime() {
            return context.shouldReportActiveIoTime();
        }

        @Override
        public void reportActiveIoTime(long activeNanos) {
            context.reportActiveIoTime(activeNanos);
        }
    }

    /** A socket between its channel and Netty's handler, either of which takes it for the other. */
    @SuppressWarnings("try") // of close(), which is the interface's
    abstract static class Registered<H extends IoHandle> implements IoHandle, IoRegistration {
        final H handle;

        @SuppressWarnings("NullAway.Init")
        IoRegistration registration; // set before the first event

        Registered(H handle) {
            this.handle = handle;
        }

        // Towards Netty's handler.

        @Override
        public long submit(IoOps ops) {
            return registration.submit(ops);
        }

        @Override
        @SuppressWarnings("TypeParameterUnusedInFormals") // the interface's
        public final <T> T attachment() {
            return registration.attachment();
        }

        @Override
        public final boolean isValid() {
            return registration.isValid();
        }

        @Override
        public boolean cancel() {
            return registration.cancel();
        }

        // Towards the channel.

        @Override
        public final void registered() {
            handle.registered();
        }

        @Override
        public final void unregistered() {
            handle.unregistered();
        }

        @Override
        public final void close() throws Exception {
            handle.close();
        }
    }
}
