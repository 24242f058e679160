package dev.gateway.time;

import org.jspecify.annotations.Nullable;

/**
 * Timer: something that happens unless it is cancelled first. An object of its owner's that is armed again and again:
 * arming allocates nothing, unless it is the one that expires next. Confined to the event loop of its {@link TimerWheel}.
 */
public abstract class Timer {
    @Nullable
    TimerWheel wheel; // null unless armed

    @Nullable
    Timer previous;

    @Nullable
    Timer next;

    long deadlineTick;

    /** The delay has passed; called on the loop, with this timer no longer armed. */
    protected abstract void onExpired();

    /** Disarms the timer; does nothing if it is not armed. */
    public final void cancel() {
        if (wheel != null) {
            wheel.remove(this);
        }
    }

    /** Whether it will expire unless cancelled. */
    public final boolean isArmed() {
        return wheel != null;
    }
}
