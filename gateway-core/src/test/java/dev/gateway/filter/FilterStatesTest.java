package dev.gateway.filter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import dev.gateway.config.value.Position;
import dev.gateway.files.InputFile;
import dev.gateway.files.StartException;
import dev.gateway.observe.metrics.Exposition;
import dev.gateway.observe.metrics.Samples;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FilterStatesTest {
    private final FilterStates states = new FilterStates();

    private static FilterFile<String> open(Path file, int line, FilterStates.Prepared prepared) throws StartException {
        FilterFile.Use use = new FilterFile.Use(new Position("gateway.yaml", line, 1), "IPAccess", "addresses");
        return FilterFile.of(file, file, path -> InputFile.text(path, StandardCharsets.UTF_8, 10), use, prepared);
    }

    @Test
    void aStateIsKeptForAsLongAsAGenerationUsesIt() throws Exception {
        FilterStates.Prepared first = states.prepare();
        AtomicInteger count = first.get("a", AtomicInteger.class, AtomicInteger::new);
        states.use(first);

        FilterStates.Prepared second = states.prepare();
        assertThat(second.get("a", AtomicInteger.class, AtomicInteger::new)).isSameAs(count);
        states.use(second);
        states.use(states.prepare());
        assertThat(states.prepare().get("a", AtomicInteger.class, AtomicInteger::new))
                .isNotSameAs(count);
    }

    /** Key of what one rule counts. */
    private record Key(String rule) implements FilterStates.CountedKey<AtomicInteger> {
        @Override
        public Class<AtomicInteger> kind() {
            return AtomicInteger.class;
        }

        @Override
        public void addTo(Exposition out, AtomicInteger counts) {
            out.counter("requests", "Requests.", counts.get(), "route", rule);
        }
    }

    @Test
    void aScrapeShowsWhatTheActiveGenerationCounts() throws Exception {
        FilterStates.Prepared first = states.prepare();
        first.get(new Key("shop"), AtomicInteger::new).set(3);
        first.get(new Key("gone"), AtomicInteger::new).set(5);
        first.get("counts nothing", AtomicInteger.class, AtomicInteger::new);
        states.use(first);
        FilterStates.Prepared second = states.prepare();
        second.get(new Key("shop"), AtomicInteger::new).incrementAndGet();
        states.use(second);
        assertThat(Samples.of(states)).containsExactly(entry("requests_total{route=\"shop\"}", 4.0));
    }

    @Test
    void whatRunsByItselfEndsWithTheLastGenerationThatUsesIt() throws Exception {
        AtomicInteger ended = new AtomicInteger();
        FilterStates.Prepared first = states.prepare();
        first.get("a", FilterStates.Running.class, () -> ended::incrementAndGet);
        first.get("b", FilterStates.Running.class, () -> ended::incrementAndGet);
        states.use(first);
        FilterStates.Prepared second = states.prepare();
        second.get("b", FilterStates.Running.class, () -> ended::incrementAndGet);
        assertThat(ended).hasValue(0);
        states.use(second);
        assertThat(ended).hasValue(1);
        states.close();
        assertThat(ended).hasValue(2);
    }

    @Test
    void whatIsPreparedAndNotUsedLeavesNothing() throws Exception {
        AtomicInteger count = states.prepare().get("a", AtomicInteger.class, AtomicInteger::new);
        assertThat(states.prepare().get("a", AtomicInteger.class, AtomicInteger::new))
                .isNotSameAs(count);
    }

    @Test
    void aFileIsReadAgainWhenItHasChangedAndIsWrittenNoMore(@TempDir Path directory) throws Exception {
        Path path = Files.writeString(directory.resolve("list"), "one");
        FilterStates.Prepared prepared = states.prepare();
        FilterFile<String> file = open(path, 3, prepared);
        states.use(prepared);

        Files.move(Files.writeString(directory.resolve("next"), "two"), path, StandardCopyOption.ATOMIC_MOVE);
        states.look();
        assertThat(file.get()).isEqualTo("one"); // its writer may not have finished
        states.look();
        assertThat(file.get()).isEqualTo("two");
        assertThat(states.problems()).isEmpty();
    }

    /** Makes a file look as if its writer had finished long ago. */
    private static void age(Path path) throws IOException {
        Files.setLastModifiedTime(path, FileTime.fromMillis(1_700_000_000_000L));
    }

    @Test
    void aReloadReadsNoFileThatIsBeingWritten(@TempDir Path directory) throws Exception {
        Path path = Files.writeString(directory.resolve("list"), "one");
        FilterStates.Prepared prepared = states.prepare();
        FilterFile<String> file = open(path, 3, prepared);
        states.use(prepared);

        Files.writeString(path, "tw");
        FilterStates.Prepared next = states.prepare();
        assertThat(open(path, 3, next).get()).isEqualTo("one");
        states.use(next);
        Files.writeString(path, "two");
        states.look();
        states.look();
        assertThat(file.get()).isEqualTo("two");
    }

    @Test
    void aReloadWaitsForTheWriterOfAFileButNotForEver(@TempDir Path directory) throws Exception {
        Path path = Files.writeString(directory.resolve("list"), "one");
        FilterStates.Prepared prepared = states.prepare();
        FilterFile<String> file = open(path, 3, prepared);
        states.use(prepared);
        List<String> pauses = new ArrayList<>();
        states.awaitWriters(() -> pauses.add("nothing has changed"));
        assertThat(pauses).isEmpty();

        Files.writeString(path, "tw");
        states.awaitWriters(() -> {
            pauses.add("written");
            if (pauses.size() == 3) {
                finish(path, "two");
            }
        });
        assertThat(pauses).hasSize(3);
        assertThat(open(path, 3, states.prepare()).get()).isEqualTo("two");
        assertThat(file.get()).isEqualTo("two");

        pauses.clear();
        Files.writeString(path, "th");
        Files.setLastModifiedTime(path, FileTime.from(Instant.now().plusSeconds(3_600)));
        states.awaitWriters(() -> pauses.add("never finished"));
        assertThat(pauses).hasSizeBetween(2, 100);
    }

    private static void finish(Path path, String text) {
        try {
            Files.writeString(path, text);
            age(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aFileThatCannotBeUsedChangesNothingAndIsTold(@TempDir Path directory) throws Exception {
        Path path = Files.writeString(directory.resolve("list"), "one");
        FilterStates.Prepared prepared = states.prepare();
        FilterFile<String> file = open(path, 3, prepared);
        states.use(prepared);

        Files.writeString(path, "more than ten bytes");
        states.look();
        states.look();
        assertThat(file.get()).isEqualTo("one");
        assertThat(states.problems())
                .containsExactly("gateway.yaml:3:1: IPAccess: keeping the previous addresses: " + path
                        + " is larger than 0 KiB");

        age(path);
        FilterStates.Prepared next = states.prepare();
        assertThatThrownBy(() -> open(path, 9, next))
                .isInstanceOf(StartException.class)
                .hasMessageStartingWith("gateway.yaml:9:1: " + path);
        Files.writeString(path, "three");
        age(path);
        FilterStates.Prepared after = states.prepare();
        assertThat(open(path, 9, after)).isSameAs(file);
        assertThat(file.get()).isEqualTo("three");
        assertThat(states.problems()).isEmpty();
    }
}
