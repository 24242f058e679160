package dev.gateway.connect;

import dev.gateway.format.Cidr;
import io.netty.util.NetUtil;
import java.net.Inet4Address;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Proxy auto-config (PAC). Tells clients the policy, so that they send only allowed targets to the gateway: a
 * script for those who understand proxy auto-configuration, and a list for those who understand {@code NO_PROXY}. As it is
 * not known who will ask, the script sends here what any policy of the entry allows. Safe from any thread.
 */
public final class ProxyAutoConfig {
    private static final List<String> LOCAL_NAMES = List.of("localhost", ".localhost", ".local");

    private final Policies policies;
    private final boolean denyPrivate;
    private final boolean audit;
    private final HostRules trusted;

    /** How clients reach this gateway. */
    public record Proxy(boolean tls, String host, int port) {
        @Override
        public String toString() {
            return (tls ? "HTTPS " : "PROXY ") + (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
        }
    }

    /** Makes the script and the list for an entry. */
    public ProxyAutoConfig(Policies policies, AddressRules.Settings addresses) {
        this.policies = policies;
        this.denyPrivate = addresses.denyPrivate();
        this.audit = addresses.audit();
        this.trusted = HostRules.of(addresses.trusted());
    }

    /** Returns the script. It asks DNS for nothing, and old engines run it too. */
    public String script(Proxy proxy) {
        StringBuilder script = new StringBuilder(4096);
        // Lists are variables of a function, not of whatever page the script may be made a part of.
        script.append("var decide = (function () {\nvar proxy = ")
                .append(quote(proxy.toString()))
                .append(";\n");
        script.append("var policies = [\n");
        for (ConnectPolicy policy : all()) {
            script.append("  {ports: [");
            List<String> ports = new ArrayList<>();
            policy.settings()
                    .allowedPorts()
                    .forEach(range -> ports.add("[" + range.first() + ", " + range.last() + "]"));
            script.append(String.join(", ", ports)).append("],\n   allow: ");
            list(script, policy.settings().allow());
            script.append(",\n   deny: ");
            list(script, policy.settings().deny());
            script.append("},\n");
        }
        // Old engines take a comma at the end for one more element.
        script.setLength(script.length() - 2);
        script.append("\n];\nvar trusted = ");
        list(script, trusted.rules());
        script.append(";\nvar local = ");
        List<HostRule> local = new ArrayList<>();
        if (denyPrivate) {
            LOCAL_NAMES.forEach(name -> local.add(new HostRule(name, "")));
            SpecialAddresses.blocks().forEach(block -> local.add(new HostRule(block, "")));
        }
        list(script, local);
        script.append(";\nvar denyPrivate = ").append(denyPrivate).append(";\n");
        // In audit mode all that is not private passes here, whatever is allowed: it is what the operator wants to see.
        script.append("var otherwise = ").append(audit ? "proxy" : "\"DIRECT\"").append(";\n");
        return script.append(FUNCTIONS).toString();
    }

    private List<ConnectPolicy> all() {
        List<ConnectPolicy> all = new ArrayList<>();
        all.add(policies.otherwise());
        policies.assigned().forEach(assigned -> all.add(assigned.policy()));
        return all;
    }

    /** Writes rules as the script reads them: names as they are, blocks as their words and the length of their prefix. */
    private static void list(StringBuilder script, List<HostRule> rules) {
        List<String> names = new ArrayList<>();
        List<String> blocks = new ArrayList<>();
        for (HostRule rule : rules) {
            String block = HostRules.blockAsScript(rule.text());
            if (block == null) {
                names.add(quote(rule.text()));
            } else {
                blocks.add(block);
            }
        }
        script.append("{names: [").append(String.join(", ", names)).append("], blocks: [");
        script.append(String.join(", ", blocks)).append("]}");
    }

    private static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.chars().forEach(c -> {
            if (c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '<') {
                quoted.append((char) c);
            } else {
                quoted.append(String.format("\\u%04x", c));
            }
        });
        return quoted.append('"').toString();
    }

    /**
     * Returns the value for {@code NO_PROXY}: what would be refused here anyway, and may be reached otherwise. It cannot
     * say "all but what is allowed", so most of what is not allowed still comes here and is refused. Every program that
     * reads the variable must understand it: Python's httpx fails at blocks of IPv6 addresses, so it has no such block.
     */
    public String noProxy() {
        Set<String> entries = new LinkedHashSet<>();
        if (denyPrivate) {
            for (String name : LOCAL_NAMES) {
                add(entries, name);
            }
            for (String block : SpecialAddresses.blocks()) {
                if (!isPartlyTrusted(block)) {
                    add(entries, block);
                }
            }
        }
        for (HostRule rule : policies.otherwise().settings().deny()) {
            boolean denied = true;
            for (ConnectPolicy policy : all()) {
                denied &= policy.settings().deny().stream()
                        .anyMatch(other -> other.text().equals(rule.text()));
            }
            if (denied) {
                add(entries, rule.text());
            }
        }
        return String.join(",", entries);
    }

    /** A domain is written in both ways that are in use for it and what is below, and a single address without a prefix. */
    private static void add(Set<String> entries, String text) {
        Cidr block = Cidr.parse(text);
        if (block != null && block.isSingle()) {
            entries.add(NetUtil.toAddressString(block.network()));
        } else if (block == null || block.network() instanceof Inet4Address) {
            if (text.startsWith(".")) {
                entries.add(text.substring(1));
            }
            entries.add(text);
        }
    }

    private boolean isPartlyTrusted(String block) {
        Cidr parsed = Cidr.parse(block);
        return parsed != null && trusted.cidrs().stream().anyMatch(parsed::overlaps);
    }

    private static final String FUNCTIONS =
            """

            function proxyFor(url, host) {
              host = host.toLowerCase().replace(/^\\[|\\]$/g, "").replace(/\\.$/, "");
              var words = address(host);
              var port = portOf(url);
              if (denyPrivate && !has(trusted, host, words)) {
                if (has(local, host, words) || (words === null && host.indexOf(".") < 0 && !isNamed(host))) {
                  return "DIRECT";
                }
                if (words !== null && words.length === 8 && (words[0] < 0x2000 || words[0] > 0x3fff)) {
                  return "DIRECT";
                }
              }
              for (var i = 0; i < policies.length; i++) {
                var policy = policies[i];
                if (inRanges(policy.ports, port) && !has(policy.deny, host, words) && has(policy.allow, host, words)) {
                  return proxy;
                }
              }
              return otherwise;
            }

            function isNamed(host) {
              for (var i = 0; i < policies.length; i++) {
                var names = policies[i].allow.names;
                for (var j = 0; j < names.length; j++) {
                  if (names[j] === host) {
                    return true;
                  }
                }
              }
              return false;
            }

            function portOf(url) {
              var match = /^([a-z]+):\\/\\/(?:[^\\/?#@]*@)?(?:\\[[^\\]]*\\]|[^\\/?#:]*)(?::([0-9]+))?/i.exec(url);
              if (match === null) {
                return 0;
              }
              if (match[2]) {
                return parseInt(match[2], 10);
              }
              var scheme = match[1].toLowerCase();
              return scheme === "http" || scheme === "ws" ? 80 : scheme === "ftp" ? 21 : 443;
            }

            function inRanges(ranges, port) {
              for (var i = 0; i < ranges.length; i++) {
                if (port >= ranges[i][0] && port <= ranges[i][1]) {
                  return true;
                }
              }
              return false;
            }

            function has(rules, host, words) {
              for (var i = 0; i < rules.names.length; i++) {
                var name = rules.names[i];
                if (name === "*") {
                  return true;
                }
                if (words === null) {
                  var below = "." + host;
                  if (name.charAt(0) === "."
                      ? below.length >= name.length && below.substring(below.length - name.length) === name
                      : name === host) {
                    return true;
                  }
                }
              }
              for (var j = 0; words !== null && j < rules.blocks.length; j++) {
                if (inBlock(words, rules.blocks[j][0], rules.blocks[j][1])) {
                  return true;
                }
              }
              return false;
            }

            function inBlock(words, network, prefix) {
              if (words.length !== network.length) {
                return false;
              }
              for (var i = 0; i < words.length && prefix > 0; i++, prefix -= 16) {
                var shift = prefix >= 16 ? 0 : 16 - prefix;
                if (words[i] >> shift !== network[i] >> shift) {
                  return false;
                }
              }
              return true;
            }

            // Returns the 16-bit words of an address, null if it is not an address.
            function address(host) {
              var four = /^(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})$/.exec(host);
              if (four !== null) {
                var words = [four[1] * 256 + +four[2], four[3] * 256 + +four[4]];
                return four[1] > 255 || four[2] > 255 || four[3] > 255 || four[4] > 255 ? null : words;
              }
              if (host.indexOf(":") < 0 || !/^[0-9a-f:.]+$/.test(host)) {
                return null;
              }
              var dotted = /^(.*:)(\\d+\\.\\d+\\.\\d+\\.\\d+)$/.exec(host);
              if (dotted !== null) {
                var low = address(dotted[2]);
                return low === null ? null : address(dotted[1] + low[0].toString(16) + ":" + low[1].toString(16));
              }
              var halves = host.split("::");
              var head = halves[0] === "" ? [] : halves[0].split(":");
              var tail = halves.length < 2 || halves[1] === "" ? [] : halves[1].split(":");
              var zeros = 8 - head.length - tail.length;
              if (halves.length > 2 || (halves.length === 2 ? zeros < 1 : zeros !== 0)) {
                return null;
              }
              var all = head;
              for (; zeros > 0; zeros--) {
                all.push("0");
              }
              all = all.concat(tail);
              for (var i = 0; i < 8; i++) {
                if (!/^[0-9a-f]{1,4}$/.test(all[i])) {
                  return null;
                }
                all[i] = parseInt(all[i], 16);
              }
              var mapped = all[5] === 0xffff && !(all[0] || all[1] || all[2] || all[3] || all[4]);
              return mapped ? [all[6], all[7]] : all;
            }

            return proxyFor;
            })();

            function FindProxyForURL(url, host) {
              return decide(url, host);
            }
            """;
}
