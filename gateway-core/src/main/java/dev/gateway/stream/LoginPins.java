package dev.gateway.stream;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Login pins of a downstream connection: the upstream connections on which its client logs in, or has logged in, by NTLM or
 * Negotiate. Such a login may hold for all that follows on the upstream connection, so this client uses it and nobody else.
 * They end with the downstream connection. Confined to its event loop.
 */
public final class LoginPins {
    private final List<Pin> pins = new ArrayList<>(0);
    private boolean ended;

    /** An upstream connection that nobody else uses. */
    public interface Pin {
        /** Returns where the connection leads: the client has one for each place. */
        Place place();

        /** The client has gone, or uses another connection to this place. */
        void end();
    }

    /**
     * Where a login holds.
     *
     * @param upstream the pools of an upstream
     * @param serverName the name that TLS has asked for because a request said so, or null
     */
    public record Place(Object upstream, @Nullable String serverName) {}

    /**
     * Adds one, unless it is there; a former one to the same place ends.
     *
     * @return false if the downstream connection has ended
     */
    public boolean add(Pin pin) {
        Pin former = find(pin.place());
        if (ended || former == pin) {
            return !ended;
        }
        pins.add(pin);
        if (former != null) {
            pins.remove(former);
            former.end();
        }
        return true;
    }

    /** The upstream connection has ended. */
    public void remove(Pin pin) {
        pins.remove(pin);
    }

    /** Returns the upstream connection that the client uses for a place, null if it has logged in on none. */
    public @Nullable Pin find(Place place) {
        for (Pin each : pins) {
            if (each.place().equals(place)) {
                return each;
            }
        }
        return null;
    }

    /** Whether the client has logged in nowhere. */
    public boolean isEmpty() {
        return pins.isEmpty();
    }

    /** The downstream connection has ended. */
    public void end() {
        ended = true;
        List<Pin> all = List.copyOf(pins);
        pins.clear();
        all.forEach(Pin::end);
    }

    /** Whether the downstream connection has ended. */
    public boolean isEnded() {
        return ended;
    }
}
