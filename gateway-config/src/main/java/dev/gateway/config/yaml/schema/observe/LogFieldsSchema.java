package dev.gateway.config.yaml.schema.observe;

import dev.gateway.config.observe.AccessLogConfig.Added;
import dev.gateway.config.observe.AccessLogConfig.Fields;
import dev.gateway.config.observe.AccessLogConfig.Renamed;
import dev.gateway.config.observe.AccessLogTemplate;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** What fields JSON lines of the access log have, key by key. */
final class LogFieldsSchema {
    private static final ScalarType<String> NAME =
            Types.word("[!#-\\[\\]-~]{1,64}", "up to 64 printable characters without spaces, quotes and backslashes");

    private static final ScalarType<String> FIELD = Types.words(
                    fields(),
                    Map.of(),
                    foreign(),
                    text -> "expected the name of a field that JSON lines have, such as client")
            .named("log field", "A field that JSON lines of the access log have by themselves, such as client.");

    private static final ObjectType<Renamed> RENAMED =
            ObjectType.of("renamed field", "Another name of a field that JSON lines have.", o -> {
                var name = o.required("name", FIELD, Renamed::name, "Name of the field without this section.");
                var to = o.required("to", NAME, Renamed::to, "Name of the field in lines.");
                o.pair("name", "to");
                o.foreign("as newName target", "to");
                o.foreign("from field source", "name");
                return v -> new Renamed(v.position(), v.get(name), v.get(to));
            });

    private static final ObjectType<Added> ADDED =
            ObjectType.of("added field", "A field that JSON lines do not have by themselves.", o -> {
                var name = o.required("name", NAME, Added::name, "Name of the field in lines.");
                var value = o.required(
                        "value",
                        AccessLogTemplates.VALUE,
                        Added::value,
                        "Value of the field. A field alone keeps its type. Fields without a value are empty; if"
                                + " nothing is left, the line does not have the field.");
                o.pair("name", "value");
                o.foreign("format template", "value");
                o.foreign("header requestHeader", "write value: '{requestHeader:NAME}'");
                o.foreign("responseHeader", "write value: '{responseHeader:NAME}'");
                return v -> new Added(v.position(), v.get(name), v.get(value));
            });

    static final ObjectType<Fields> FIELDS =
            ObjectType.of("fields section", "Fields of JSON lines, instead of their own.", o -> {
                var keep = o.optional(
                        "keep",
                        ListType.distinct(FIELD, 0),
                        Fields::keep,
                        "Which of their own fields lines keep. Headers and the fields of add are there as well. The "
                                + "default is all but those of remove.");
                var remove = o.defaulted(
                        "remove",
                        ListType.distinct(FIELD, 0),
                        List.<String>of(),
                        Fields::remove,
                        "Their own fields that lines do not have.");
                var rename = o.defaulted(
                        "rename",
                        new ListType<>(RENAMED, 0),
                        List.<Renamed>of(),
                        Fields::rename,
                        "Their own fields that have another name.");
                var add = o.defaulted(
                        "add", new ListType<>(ADDED, 0), List.<Added>of(), Fields::add, "Fields after these.");
                o.foreign("only include", "keep");
                o.foreign("drop exclude omit", "remove"); // Traefik
                o.foreign("set extra custom", "add");
                o.foreign("defaultMode", "write keep or remove with a list of fields"); // Traefik
                o.foreign("names", "write keep, remove or rename with a list of fields"); // Traefik
                o.foreign("headers", "write add: [{name: tier, value: '{requestHeader:X-Tier}'}]"); // Traefik
                return v -> {
                    Fields fields = new Fields(v.position(), v.find(keep), v.get(remove), v.get(rename), v.get(add));
                    if (v.isSound()) {
                        check(v, fields);
                    }
                    return fields;
                };
            });

    private LogFieldsSchema() {}

    private static void check(Values v, Fields fields) {
        if (v.has("keep") && v.has("remove")) {
            v.error(v.atKey("remove"), "'keep' already says which fields lines have: remove one of them");
            return;
        }
        Map<String, String> names = fields.names();
        Set<String> renamed = new HashSet<>();
        for (Renamed each : fields.rename()) {
            if (!names.containsKey(each.name())) {
                v.error(each.position(), "rename: '" + each.name() + "' is left out: remove this, or keep the field");
            } else if (!renamed.add(each.name())) {
                v.error(each.position(), "rename: '" + each.name() + "' for a second time: remove one of them");
            }
        }
    }

    /**
     * Checks that lines have some fields, and no two of one name.
     *
     * @param v the section that has the fields
     * @param objects what lines have besides these
     */
    static void checkNames(Values v, Fields fields, List<String> objects) {
        Map<String, String> names = fields.names();
        Set<String> taken = new HashSet<>(objects);
        names.forEach((field, name) -> {
            if (field.equals(name)) {
                taken.add(name);
            }
        });
        for (Renamed each : fields.rename()) {
            if (!each.to().equals(each.name())) {
                claim(v, v.at(each, "to"), each.to(), taken);
            }
        }
        for (Added each : fields.add()) {
            claim(v, v.at(each, "name"), each.name(), taken);
        }
        if (names.isEmpty() && fields.add().isEmpty() && objects.isEmpty()) {
            v.error(fields.position(), "no field is left: keep or add one, or write format: off for no log");
        }
    }

    private static void claim(Values v, Position at, String name, Set<String> taken) {
        if (!taken.add(name)) {
            v.error(at, "lines have a field '" + name + "' already: write another name, or remove or rename the other");
        }
    }

    private static Map<String, String> fields() {
        Map<String, String> fields = new LinkedHashMap<>();
        AccessLogTemplate.IN_JSON.forEach(name -> fields.put(name, name));
        return fields;
    }

    /** What others call fields, and those of ours that only templates have. */
    private static Map<String, String> foreign() {
        Map<String, String> foreign = new HashMap<>();
        AccessLogTemplate.FIELDS.keySet().stream()
                .filter(name -> !AccessLogTemplate.IN_JSON.contains(name))
                .forEach(name -> foreign.put(
                        name.toLowerCase(Locale.ROOT),
                        "JSON lines do not have it by themselves: write add: [{name: " + name + ", value: '{" + name
                                + "}'}]"));
        ForeignPlaceholders.OURS.forEach((theirs, ours) -> {
            if (AccessLogTemplate.IN_JSON.contains(ours)) {
                foreign.putIfAbsent(theirs.replace("_", ""), ours);
            }
        });
        return foreign;
    }
}
