package dev.gateway.connect;

import dev.gateway.format.Cidr;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Host rules: an allow or deny list, compiled. Its order does not matter: of the lines that match a host the most exact one
 * is the one that counts. That is the name, then the longest domain; for an address the first block that holds it; then
 * {@code *}. A question allocates nothing. Immutable.
 */
public final class HostRules {
    /** Matches nothing. */
    public static final HostRules NONE = of(List.of());

    private static final int NOTHING = -1;

    /** A name of the list. */
    private record Name(String name, boolean below, int rule) {}

    private record Block(Cidr cidr, int rule) {}

    private final List<HostRule> rules;
    private final @Nullable Name[] names; // by the hash of the name, open addressing
    private final Block[] blocks;
    private final int any;

    private HostRules(List<HostRule> rules) {
        this.rules = List.copyOf(rules);
        this.names = new @Nullable Name[Integer.highestOneBit(Math.max(1, rules.size())) * 4];
        List<Block> found = new ArrayList<>();
        int all = NOTHING;
        for (int i = 0; i < rules.size(); i++) {
            String text = rules.get(i).text();
            Cidr cidr;
            if (text.equals("*")) {
                all = all < 0 ? i : all;
            } else if ((cidr = Cidr.parse(text)) != null) {
                found.add(new Block(cidr, i));
            } else {
                add(text, i);
            }
        }
        this.blocks = found.toArray(Block[]::new);
        this.any = all;
    }

    /**
     * Compiles a list.
     *
     * @throws IllegalArgumentException if a line has none of the forms
     */
    public static HostRules of(List<HostRule> rules) {
        return new HostRules(rules);
    }

    private void add(String text, int rule) {
        boolean below = text.startsWith(".");
        String name = (below ? text.substring(1) : text).toLowerCase(Locale.ROOT);
        if (!Target.isPlainName(name)) {
            throw new IllegalArgumentException("neither a name, '.domain', an address block nor '*': " + text);
        }
        int hash = 0;
        for (int i = name.length() - 1; i >= 0; i--) {
            hash = step(hash, name.charAt(i));
        }
        int slot = slot(hash);
        while (names[slot] != null) {
            slot = (slot + 1) & (names.length - 1);
        }
        names[slot] = new Name(name, below, rule);
    }

    private static int step(int hash, char c) {
        return hash * 31 + c;
    }

    private int slot(int hash) {
        return (hash ^ hash >>> 16) & (names.length - 1);
    }

    /** Returns the line that a target matches, or null. */
    public @Nullable HostRule match(Target target) {
        return match(target.host(), target.address());
    }

    /**
     * Returns the line that a host matches, or null.
     *
     * @param host a name in lower case without a dot at its end, if it is no address
     * @param address what the host is if it is an address, else null
     */
    @Nullable
    public HostRule match(String host, @Nullable InetAddress address) {
        int rule = address == null ? matchName(host) : matchAddress(address);
        if (rule == NOTHING) {
            rule = any;
        }
        return rule == NOTHING ? null : rules.get(rule);
    }

    private int matchAddress(InetAddress address) {
        for (Block block : blocks) {
            if (block.cidr.contains(address)) {
                return block.rule;
            }
        }
        return NOTHING;
    }

    /** Hashes the name from its end, so that each domain that it is in costs one look into the table. */
    private int matchName(String host) {
        int found = NOTHING;
        int hash = 0;
        for (int i = host.length() - 1; i >= 0; i--) {
            char c = host.charAt(i);
            if (c == '.') {
                found = find(host, i + 1, hash, true, found);
            }
            hash = step(hash, c);
        }
        return find(host, 0, hash, false, find(host, 0, hash, true, found));
    }

    private int find(String host, int from, int hash, boolean below, int otherwise) {
        int slot = slot(hash);
        for (Name name = names[slot]; name != null; name = names[slot]) {
            if (name.below == below
                    && name.name.length() == host.length() - from
                    && host.regionMatches(from, name.name, 0, name.name.length())) {
                return name.rule;
            }
            slot = (slot + 1) & (names.length - 1);
        }
        return otherwise;
    }

    /** Returns the block of a line as {@code [[words], prefix]}, null if it is not one. */
    static @Nullable String blockAsScript(String text) {
        Cidr block = Cidr.parse(text);
        if (block == null) {
            return null;
        }
        byte[] bytes = block.network().getAddress();
        StringBuilder script = new StringBuilder("[[");
        for (int i = 0; i < bytes.length; i += 2) {
            script.append(i == 0 ? "" : ",").append((bytes[i] & 0xff) << 8 | (bytes[i + 1] & 0xff));
        }
        return script.append("],").append(block.prefixLength()).append(']').toString();
    }

    /** Returns the blocks of addresses. */
    List<Cidr> cidrs() {
        List<Cidr> cidrs = new ArrayList<>();
        for (Block block : blocks) {
            cidrs.add(block.cidr);
        }
        return cidrs;
    }

    /** Returns the lines as they were given. */
    public List<HostRule> rules() {
        return rules;
    }
}
