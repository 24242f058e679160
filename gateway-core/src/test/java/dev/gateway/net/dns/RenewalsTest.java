package dev.gateway.net.dns;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When DNS is asked again for a name whose answer is in doubt. */
class RenewalsTest {
    private static final Renewals.Key NAME = new Renewals.Key("app.test", false);

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final EventLoop loop = channel.eventLoop();
    private final List<Promise<Void>> asked = new ArrayList<>();
    private final List<String> told = new ArrayList<>();
    private final Renewals renewals = new Renewals(loop, key -> {
        Promise<Void> answer = loop.newPromise();
        asked.add(answer);
        return answer;
    });

    @BeforeEach
    void freezeTime() {
        channel.freezeTime();
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private Promise<Boolean> renew() {
        Promise<Boolean> result = loop.newPromise();
        renewals.renew(NAME, result);
        channel.runPendingTasks();
        return result;
    }

    private void answer() {
        asked.get(asked.size() - 1).setSuccess(null);
        channel.runPendingTasks();
    }

    private void pass(long millis) {
        channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
        channel.runPendingTasks();
    }

    @Test
    void doubtsThatComeTogetherAreOneQuestion() {
        Promise<Boolean> first = renew();
        Promise<Boolean> second = renew();
        assertThat(asked).hasSize(1);
        assertThat(first.isDone()).isFalse();
        answer();
        assertThat(first.getNow()).isTrue();
        assertThat(second.getNow()).isTrue();
    }

    @Test
    void aDoubtThatComesTooSoonIsHeardWhenTheIntervalIsOver() {
        renew();
        answer();
        assertThat(renew().getNow()).isFalse();
        pass(1_999);
        assertThat(asked).hasSize(1);
        pass(1);
        assertThat(asked).hasSize(2);
        answer();
        pass(2_000);
        assertThat(asked).as("without another doubt").hasSize(2);
        renew();
        assertThat(asked).hasSize(3);
    }

    @Test
    void aNameWhoseServerIsSlowIsAskedForOnceAtATime() {
        Promise<Boolean> first = renew();
        pass(2_000);
        assertThat(renew().isDone()).isFalse();
        assertThat(asked).hasSize(1);
        answer();
        assertThat(first.getNow()).isTrue();
        renew();
        assertThat(asked).hasSize(2);
    }

    @Test
    void whoeverFollowsANameIsToldOfEachOutcome() {
        Runnable end = renewals.follow(NAME, loop, () -> told.add("one"));
        Runnable endOther = renewals.follow(NAME, loop, () -> told.add("two"));
        renewals.follow(new Renewals.Key("app.test", true), loop, () -> told.add("exact"));
        renew();
        assertThat(told).isEmpty();
        answer();
        assertThat(told).containsExactlyInAnyOrder("one", "two");
        end.run();
        renew();
        pass(2_000);
        answer();
        assertThat(told).containsExactlyInAnyOrder("one", "two", "two");
        endOther.run();
        assertThat(renewals.isFollowed(NAME)).isFalse();
    }

    @Test
    void namesThatAreFollowedCanAllBeRenewed() {
        renewals.follow(NAME, loop, () -> told.add("one"));
        renewals.follow(new Renewals.Key("other.test", false), loop, () -> told.add("other"));
        renewals.renewFollowed();
        channel.runPendingTasks();
        assertThat(asked).hasSize(2);
    }

    @Test
    void moreNamesThanTheLimitAreNotRenewed() {
        for (int i = 0; i < Renewals.MAX_NAMES; i++) {
            renewals.renew(new Renewals.Key("name-" + i, true), loop.newPromise());
        }
        assertThat(renew().getNow()).isFalse();
        assertThat(asked).hasSize(Renewals.MAX_NAMES);
    }
}
