package dev.gateway.config.yaml.schema.listener;

import dev.gateway.config.file.ErrorPageFile;
import dev.gateway.config.listener.ErrorPagesConfig;
import dev.gateway.config.listener.ErrorPagesConfig.Page;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Suggestions;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.format.PagePlace;
import dev.gateway.format.PageType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Error pages of a rule or a listener, key by key. */
public final class ErrorPagesSchema {
    private static final List<String> WHICH = List.of("statuses", "causes");

    private static final ScalarType<String> CAUSE = Types.words(causes(), Map.of())
            .named("cause", "The cause of an error, as the access log has it, such as no_route.");

    private static final ObjectType<Page> PAGE = ObjectType.of(
            "error page", "The body of some errors: a file, or a choice of files of different types.", o -> {
                var statuses = o.optional(
                        "statuses",
                        new ListType<>(StatusRanges.ERRORS, 1),
                        page -> page.statuses().isEmpty() ? null : page.statuses(),
                        "Statuses of the errors. The default is all errors with one of the causes.");
                var causes = o.optional(
                        "causes",
                        new ListType<>(CAUSE, 1),
                        page -> page.causes().isEmpty() ? null : page.causes(),
                        "Causes of the errors, in the words of the access log. Errors of upstreams and direct responses "
                                + "have none. The default is all errors with one of the statuses.");
                var files = o.required(
                        "files",
                        new ListType<>(Types.PATH, 1),
                        Page::files,
                        "Files with the body, up to " + ErrorPageFile.MAX_KIBIBYTES
                                + " KiB of UTF-8 each. The extension "
                                + "gives the content type: " + PageType.allExtensions()
                                + ". The client's Accept header "
                                + "chooses; the first file is for clients without a preference. The gateway reads files "
                                + "again when they change.");
                o.constraint(
                        values -> WHICH.stream().anyMatch(values::has)
                                ? null
                                : new ObjectType.Finding("", "an error page needs 'statuses' or 'causes', or both"),
                        Map.of("anyOf", WHICH.stream().map(ObjectType::requires).toList()));
                return v -> new Page(
                        v.position(), orNone(v.find(statuses)), orNone(v.find(causes)), checked(v, v.get(files)));
            });

    /** Settings. */
    public static final ObjectType<ErrorPagesConfig> ERROR_PAGES = ObjectType.of(
            "errorPages section",
            "Bodies of errors from files. The status stays. Each page may have the placeholders {{requestId}}, "
                    + "{{status}}, {{reason}} and {{cause}}. Calls of gRPC get no pages.",
            o -> {
                var pages = o.required(
                        "pages",
                        new ListType<>(PAGE, 1),
                        ErrorPagesConfig::pages,
                        "Pages. The first that has the status and the cause of an error is used.");
                var upstreamErrors = o.defaulted(
                        "upstreamErrors",
                        Types.BOOLEAN,
                        false,
                        ErrorPagesConfig::upstreamErrors,
                        "Whether pages also take the place of what upstreams answer with these statuses. The default is "
                                + "for the gateway's own answers only.");
                o.foreign(ErrorPagesSchema::page); // HAProxy
                return v -> {
                    List<Page> all = v.get(pages);
                    for (int i = 1; i < all.size(); i++) {
                        hidden(v, all.get(i), all.subList(0, i));
                    }
                    if (v.get(upstreamErrors)
                            && all.stream().noneMatch(page -> page.causes().isEmpty())) {
                        v.warning(
                                v.at("upstreamErrors"),
                                "upstreamErrors: errors of upstreams have no cause: write a page without causes");
                    }
                    return new ErrorPagesConfig(v.position(), all, v.get(upstreamErrors));
                };
            });

    private ErrorPagesSchema() {}

    /** Returns how the page of a status is written, for those who write the status as a key. */
    private static @Nullable String page(String key) {
        return key.matches("[45]([0-9]{2}|[xX]{2})")
                ? "write pages: [{statuses: [" + key.toLowerCase(Locale.ROOT) + "], files: […]}]"
                : null;
    }

    private static Map<String, String> causes() {
        Map<String, String> words = new LinkedHashMap<>();
        ErrorPagesConfig.CAUSES.forEach(cause -> words.put(cause, cause));
        return words;
    }

    private static <T> List<T> orNone(@Nullable List<T> written) {
        return written == null ? List.of() : written;
    }

    private static void hidden(Values v, Page page, List<Page> before) {
        before.stream()
                .filter(each -> each.hides(page))
                .findFirst()
                .ifPresent(each -> v.warning(
                        page.position(),
                        "no error gets this page: the one in line "
                                + each.position().line() + " comes first, and has all of its statuses"));
    }

    private static void unfilled(Values v, Path file, String page) {
        for (String place : PagePlace.unknown(page)) {
            String near = Suggestions.nearest(place.strip(), PagePlace.NAMES);
            v.warning(
                    v.at("files"),
                    "files: clients see {{" + place + "}} of " + file + " as it is: "
                            + (near == null
                                    ? "the gateway fills in " + String.join(", ", PagePlace.NAMES)
                                    : "did you mean {{" + near + "}}?"));
        }
    }

    private static List<Path> checked(Values v, List<Path> files) {
        Set<PageType> types = EnumSet.noneOf(PageType.class);
        for (Path file : files) {
            PageType type = PageType.of(file.toString());
            if (type == null) {
                v.error(v.at("files"), "files: " + file + " has none of the extensions " + PageType.allExtensions());
            } else if (!types.add(type)) {
                v.error(v.at("files"), "files: another file has the type of " + file + " already: remove one");
            } else {
                try {
                    unfilled(v, file, ErrorPageFile.read(file));
                } catch (IOException e) {
                    v.error(v.at("files"), "files: " + e.getMessage());
                }
            }
        }
        return files;
    }
}
