package dev.gateway.tests.deployment;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A command that a document shows after a prompt, with the output that it shows below.
 *
 * @param line the line of the command, counted from 1
 * @param output the lines shown; empty if the document shows none
 */
record DocumentedCommand(int line, String command, List<String> output) {
    private static final Pattern SESSION =
            Pattern.compile("^```console\\n(.*?)^```", Pattern.DOTALL | Pattern.MULTILINE);

    /** Returns all of a document, in its order; those joined by {@code &&} are told apart. */
    static List<DocumentedCommand> of(Path document) throws IOException {
        List<DocumentedCommand> found = new ArrayList<>();
        String text = Files.readString(document);
        Matcher session = SESSION.matcher(text);
        while (session.find()) {
            int line = (int) text.substring(0, session.start(1)).lines().count();
            for (String each : session.group(1).lines().toList()) {
                line++;
                if (each.startsWith("$ ")) {
                    for (String command : each.substring(2).split(" && ")) {
                        found.add(new DocumentedCommand(line, command, new ArrayList<>()));
                    }
                } else {
                    found.get(found.size() - 1).output().add(each);
                }
            }
        }
        return found;
    }
}
