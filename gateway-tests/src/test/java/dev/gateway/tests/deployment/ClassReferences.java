package dev.gateway.tests.deployment;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Which classes a class file names in its constant pool (JVM Specification, 4.4), as classes or in descriptors. */
final class ClassReferences {
    private static final Pattern IN_DESCRIPTOR = Pattern.compile("L([\\w/$]+);");

    private ClassReferences() {}

    /** Returns their names, such as {@code java/lang/Object}. */
    static Set<String> in(byte[] classFile) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(classFile));
        in.skipNBytes(8); // magic, version
        int constants = in.readUnsignedShort();
        Map<Integer, String> texts = new HashMap<>();
        List<Integer> classes = new ArrayList<>();
        for (int i = 1; i < constants; i++) {
            int tag = in.readUnsignedByte();
            switch (tag) {
                case 1 -> texts.put(i, in.readUTF());
                case 7 -> classes.add(in.readUnsignedShort());
                case 8, 16, 19, 20 -> in.skipNBytes(2); // string, method type, module, package
                case 15 -> in.skipNBytes(3); // method handle
                case 3, 4, 9, 10, 11, 12, 17, 18 -> in.skipNBytes(4); // numbers, members, dynamic constants
                case 5, 6 -> { // long and double take two places
                    in.skipNBytes(8);
                    i++;
                }
                default -> throw new IOException("a constant of kind " + tag);
            }
        }
        Set<String> names = new TreeSet<>();
        for (int index : classes) {
            String name = texts.get(index);
            if (!name.startsWith("[")) { // an array is written as a descriptor
                names.add(name);
            }
        }
        for (String text : texts.values()) {
            if (text.startsWith("(") || text.startsWith("L") || text.startsWith("[")) {
                Matcher matcher = IN_DESCRIPTOR.matcher(text);
                while (matcher.find()) {
                    names.add(matcher.group(1));
                }
            }
        }
        return names;
    }
}
