package dev.gateway.overload;

import dev.gateway.overload.memory.DirectMemory;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/** Counts actions against overload by resource. Safe from any thread; written only when there is an action. */
public final class Actions {
    private final Map<Resource, Map<Action, LongAdder>> counts = new EnumMap<>(Resource.class); // filled once

    Actions() {
        for (Resource each : Resource.values()) {
            Map<Action, LongAdder> ofResource = new EnumMap<>(Action.class);
            for (Action action : Action.values()) {
                ofResource.put(action, new LongAdder());
            }
            counts.put(each, ofResource);
        }
    }

    /** Counts an action. */
    void count(Resource because, Action action) {
        of(because, action).increment();
    }

    /** An exchange or a stream was ended because this resource is short. */
    public void onCut(Resource because) {
        if (because == Resource.DIRECT_MEMORY) {
            DirectMemory.onCut();
        } else {
            count(because, Action.CUT);
        }
    }

    /** Returns the number of such actions. */
    public long count(Action action, Resource because) {
        return because == Resource.DIRECT_MEMORY && action == Action.CUT
                ? DirectMemory.cuts()
                : of(because, action).sum();
    }

    private LongAdder of(Resource because, Action action) {
        return Objects.requireNonNull(
                Objects.requireNonNull(counts.get(because)).get(action));
    }
}
