package dev.gateway.pool;

import dev.gateway.net.DescriptorShare;
import java.util.List;
import java.util.function.Consumer;

/**
 * Finds a file descriptor for a connection to an upstream. Where there is none left, an idle connection is closed for it:
 * one of the same event loop, or else of another. Confined to its loop.
 */
final class DialRoom {
    private final LoopPools here;
    private final DescriptorShare share;
    private List<LoopPools> others = List.of();

    DialRoom(LoopPools here, DescriptorShare share) {
        this.here = here;
        this.share = share;
    }

    /** Takes note of all event loops; before anything is claimed. */
    void join(List<LoopPools> all) {
        others = all.stream().filter(each -> each != here).toList();
    }

    /**
     * Asks for room for one connection.
     *
     * @param then told whether there is some, on this loop, maybe before this returns
     */
    void claim(Consumer<Boolean> then) {
        if (!share.isFull() || here.giveUpIdle()) {
            then.accept(true);
        } else if (others.isEmpty()) {
            then.accept(false);
        } else {
            ask(0, then);
        }
    }

    private void ask(int position, Consumer<Boolean> then) {
        LoopPools asked = others.get(position);
        asked.loop.execute(() -> {
            boolean found = !share.isFull() || asked.giveUpIdle();
            here.loop.execute(() -> {
                if (found || position + 1 == others.size()) {
                    then.accept(found);
                } else {
                    ask(position + 1, then);
                }
            });
        });
    }
}
