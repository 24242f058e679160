package dev.gateway.tests.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The head of a message in either protocol; {@code :authority} is shown as {@code host}, {@code :protocol} as it is.
 *
 * @param method of a request, empty for a response
 * @param target of a request as it was sent
 * @param status of a response, 0 for a request
 * @param fields in the order they were sent, names as they were sent
 */
public record Head(String method, String target, int status, List<Map.Entry<String, String>> fields) {
    /** Makes a request's head of names and values in turn. */
    public static Head request(String method, String target, String... fields) {
        return new Head(method, target, 0, pairs(fields));
    }

    /** Makes a response's head of names and values in turn. */
    public static Head response(int status, String... fields) {
        return new Head("", "", status, pairs(fields));
    }

    static List<Map.Entry<String, String>> pairs(String... fields) {
        List<Map.Entry<String, String>> pairs = new ArrayList<>();
        for (int i = 0; i < fields.length; i += 2) {
            pairs.add(Map.entry(fields[i], fields[i + 1]));
        }
        return pairs;
    }

    /** Returns the first value of a field. */
    public Optional<String> get(String name) {
        return all(name).stream().findFirst();
    }

    /** Returns the values of a field, whatever the case of its name. */
    public List<String> all(String name) {
        return all(fields, name);
    }

    static List<String> all(List<Map.Entry<String, String>> fields, String name) {
        return fields.stream()
                .filter(f -> f.getKey().equalsIgnoreCase(name))
                .map(Map.Entry::getValue)
                .toList();
    }

    /** Returns the path without its query. */
    public String path() {
        int query = target.indexOf('?');
        return query < 0 ? target : target.substring(0, query);
    }

    /** Whether this is an interim response. */
    public boolean isInterim() {
        return status >= 100 && status < 200;
    }
}
