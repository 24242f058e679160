package dev.gateway.filter.errorpages;

import dev.gateway.config.file.ErrorPageFile;
import dev.gateway.config.listener.ErrorPagesConfig;
import dev.gateway.files.StartException;
import dev.gateway.filter.FilterFile;
import dev.gateway.filter.FilterStates;
import dev.gateway.format.PageType;
import dev.gateway.stream.Cause;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Makes error pages, of rules and of listeners, whose files are watched. */
public final class ErrorPageFiles {
    private ErrorPageFiles() {}

    /** Key of the page of a file. */
    private record PageOf(Path file) {}

    /**
     * Makes the pages.
     *
     * @throws StartException if a file cannot be used
     */
    public static ErrorPages pages(ErrorPagesConfig config, FilterStates.Prepared states) throws StartException {
        List<ErrorPages.Page> pages = new ArrayList<>();
        for (ErrorPagesConfig.Page page : config.pages()) {
            pages.add(new ErrorPages.Page(page.statuses(), causes(page), files(page, states)));
        }
        return new ErrorPages(pages, config.upstreamErrors());
    }

    private static Set<Cause> causes(ErrorPagesConfig.Page page) {
        return page.causes().stream()
                .map(word -> Cause.valueOf(word.toUpperCase(Locale.ROOT)))
                .collect(Collectors.toUnmodifiableSet());
    }

    private static List<Supplier<PageTemplate>> files(ErrorPagesConfig.Page page, FilterStates.Prepared states)
            throws StartException {
        FilterFile.Use use = new FilterFile.Use(page.position(), ErrorPagesFeature.NAME, "page");
        List<Supplier<PageTemplate>> files = new ArrayList<>();
        for (Path file : page.files()) {
            files.add(FilterFile.of(new PageOf(file), file, ErrorPageFiles::read, use, states));
        }
        return files;
    }

    private static PageTemplate read(Path file) throws IOException {
        PageType type = PageType.of(file.toString());
        if (type == null) {
            throw new IOException(file + " has none of the extensions " + PageType.allExtensions());
        }
        return new PageTemplate(type, ErrorPageFile.read(file));
    }
}
