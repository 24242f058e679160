package dev.gateway.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class AdminWorkTest {
    private final CountDownLatch end = new CountDownLatch(1);

    private String slow() {
        try {
            end.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return "slow";
    }

    @Test
    void actionsDoNotWaitForPages() {
        try (AdminWork work = new AdminWork()) {
            CompletableFuture<String> page = AdminWork.supply(work.pages(), this::slow);
            assertThat(AdminWork.supply(work.actions(), () -> "done").join()).isEqualTo("done");
            assertThat(page).isNotDone();
            end.countDown();
            assertThat(page.join()).isEqualTo("slow");
        }
    }

    @Test
    void pagesThatFindNoRoomAreRefused() {
        try (AdminWork work = new AdminWork()) {
            List<CompletableFuture<String>> pages = new ArrayList<>();
            for (int i = 0; i < 70; i++) {
                pages.add(AdminWork.supply(work.pages(), this::slow));
            }
            assertThat(pages.stream().filter(CompletableFuture::isDone)).hasSize(5);
            assertThatThrownBy(pages.get(69)::join)
                    .isInstanceOf(CompletionException.class)
                    .hasCauseInstanceOf(RejectedExecutionException.class);
            end.countDown();
            assertThat(pages.get(64).join()).isEqualTo("slow");
        }
    }
}
