package dev.gateway.filter.ratelimit;

import dev.gateway.files.StartException;
import dev.gateway.filter.FilterStates;
import dev.gateway.observe.metrics.Exposition;

/** Store key: the name of a store, by which limits find it. What it has counted outlives generations. */
public record StoreKey(String store) implements FilterStates.CountedKey<LimitStore> {
    @Override
    public Class<LimitStore> kind() {
        return LimitStore.class;
    }

    @Override
    public void addTo(Exposition out, LimitStore counts) {
        decided(out, "allowed", counts.allowed());
        decided(out, "denied", counts.denied());
        decided(out, "undecided", counts.undecided());
    }

    private void decided(Exposition out, String result, long count) {
        out.counter(
                "gateway_ratelimit_store_decisions",
                "Requests that a store of limits let pass or refused, and those decided while it did not answer.",
                count,
                "store",
                store,
                "result",
                result);
    }

    /** Makes the store of this name unless it is there, and has it ask at this place once the generation is active. */
    public void prepare(LimitStore.Place place, FilterStates.Prepared states) throws StartException {
        LimitStore prepared = states.get(this, () -> new LimitStore(store, place));
        states.onUse(this, () -> prepared.change(place));
    }

    /** Returns the store, which was prepared before. */
    LimitStore find(FilterStates.Prepared states) throws StartException {
        return states.get(this, () -> {
            throw new IllegalArgumentException("no store " + store);
        });
    }
}
