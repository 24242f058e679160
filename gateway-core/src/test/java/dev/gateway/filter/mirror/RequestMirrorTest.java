package dev.gateway.filter.mirror;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.FakeContext;
import dev.gateway.filter.MirrorResult;
import dev.gateway.filter.MirrorTarget;
import dev.gateway.filter.Verdict;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.NamedByRequest;
import dev.gateway.upstream.dial.UpstreamValues;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which requests are copied, and how copies are counted. */
class RequestMirrorTest {
    private static final int REQUESTS = 100_000;

    private final MirrorTally tally = new MirrorTally();
    private final Upstream next = new Upstream(
            "next", List.of(), NamedByRequest.POLICY, UpstreamValues.builder().build());
    private final MirrorTarget target = new MirrorTarget(next, tally);
    private final FakeContext context = FakeContext.from("192.0.2.7");

    private static RequestHead head(String method) {
        return new RequestHead(
                Method.of(method),
                new AsciiString("http"),
                new AsciiString("shop.example.com"),
                new AsciiString("/"),
                new Fields(),
                RequestHead.UNKNOWN_LENGTH);
    }

    private int copies(RequestMirror mirror, String method, int requests) {
        for (int i = 0; i < requests; i++) {
            assertThat(mirror.onRequest(head(method), context)).isEqualTo(Verdict.PROCEED);
        }
        assertThat(context.mirrors).allMatch(target::equals);
        return context.mirrors.size();
    }

    /** Of so many requests, the share is off by less than five standard deviations, and the seed is fixed. */
    @ParameterizedTest
    @CsvSource({"1, 100", "10, 100", "50, 100", "99, 100", "1, 1000", "25, 10000", "1, 3"})
    void aShareOfTheRequestsIsCopied(int numerator, int denominator) {
        RequestMirror mirror = new RequestMirror(target, numerator, denominator, new Random(7)::nextInt);
        double share = (double) numerator / denominator;
        double deviation = Math.sqrt(REQUESTS * share * (1 - share));
        assertThat((double) copies(mirror, "GET", REQUESTS))
                .isBetween(REQUESTS * share - 5 * deviation, REQUESTS * share + 5 * deviation);
    }

    @Test
    void allOrNoneAreCopiedWithoutChance() {
        RequestMirror none = new RequestMirror(target, 0, 100, bound -> 0);
        assertThat(copies(none, "GET", 10)).isZero();
        RequestMirror all = new RequestMirror(target, 100, 100, bound -> bound - 1);
        assertThat(copies(all, "POST", 10)).isEqualTo(10);
    }

    @Test
    void tunnelsAreNotCopied() {
        RequestMirror all = new RequestMirror(target, 1, 1, bound -> 0);
        assertThat(copies(all, "CONNECT", 10)).isZero();
    }

    @Test
    void copiesAreCountedByResult() {
        tally.onBegun();
        tally.onBegun();
        tally.onBegun();
        tally.onEnded(MirrorResult.of(204));
        tally.onEnded(MirrorResult.SLOW);
        assertThat(tally.active()).isEqualTo(1);
        assertThat(tally.ended(MirrorResult.SUCCESS)).isEqualTo(1);
        assertThat(tally.ended(MirrorResult.SLOW)).isEqualTo(1);
        assertThat(tally.ended(MirrorResult.ABORTED)).isZero();
    }
}
