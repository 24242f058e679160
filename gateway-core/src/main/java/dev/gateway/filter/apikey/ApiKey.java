package dev.gateway.filter.apikey;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.auth.Challenges;
import dev.gateway.filter.auth.KeyPlace;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Identity;
import io.netty.util.AsciiString;
import java.util.Set;
import java.util.function.Supplier;

/**
 * API key authentication: lets only those use a route who show a key of a file. Keys are long and random, so one fast digest
 * is enough, on the event loop. Unless it is forwarded, the key is taken out of the head at once, right or wrong.
 */
public final class ApiKey implements Filter {
    private static final int MAX_BYTES = 512;

    private final KeyPlace place;
    private final Supplier<ApiKeys> keys;
    private final Challenges challenges;
    private final boolean forward;

    /**
     * Makes the filter.
     *
     * @param keys asked for each request, as the file may change
     * @param forward whether the upstream gets the key
     */
    public ApiKey(KeyPlace place, Supplier<ApiKeys> keys, String realm, boolean forward) {
        this.place = place;
        this.keys = keys;
        this.challenges = Challenges.key(realm);
        this.forward = forward;
    }

    @Override
    public boolean guards() {
        return true;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        AsciiString shown = place.find(head, !forward);
        if (shown == null || shown.isEmpty()) {
            return challenges.refuse("no API key, or more than one");
        }
        String owner = shown.length() > MAX_BYTES ? null : keys.get().owner(shown.toByteArray());
        if (owner == null) {
            return challenges.refuse("wrong API key");
        }
        context.setIdentity(new Identity(owner, Set.of()));
        return Verdict.PROCEED;
    }
}
