package dev.gateway.filter.mirror;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.MirrorTarget;
import dev.gateway.filter.Verdict;
import dev.gateway.message.RequestHead;
import java.util.function.IntUnaryOperator;

/**
 * Request mirroring (the Gateway API's HTTPRequestMirrorFilter; traffic shadowing): has a share of the requests copied to
 * another upstream. The exchange makes the copies. Shared by all event loops.
 */
public final class RequestMirror implements Filter {
    private final MirrorTarget target;
    private final int numerator;
    private final int denominator;
    private final IntUnaryOperator random;

    /**
     * Makes the filter.
     *
     * @param numerator how many of {@code denominator} requests are copied, on average
     * @param random returns a random number from 0 to its argument, exclusive; called on any event loop
     */
    public RequestMirror(MirrorTarget target, int numerator, int denominator, IntUnaryOperator random) {
        this.target = target;
        this.numerator = numerator;
        this.denominator = denominator;
        this.random = random;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        if (!head.isConnect() && isChosen()) {
            context.mirror(target);
        }
        return Verdict.PROCEED;
    }

    private boolean isChosen() {
        return numerator == denominator || (numerator > 0 && random.applyAsInt(denominator) < numerator);
    }
}
