package dev.gateway.config;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A block of IP addresses.
 *
 * @param network the first address of the block
 * @param prefixLength how many leading bits are common to the block
 */
public record Cidr(InetAddress network, int prefixLength) {
    private static final String NUMBER = "(0|[1-9][0-9]{0,2})"; // a leading zero is octal to some
    private static final Pattern LITERAL = Pattern.compile(
            NUMBER + "(\\." + NUMBER + "){3}|(?=.*:)[0-9A-Fa-f:.]+"); // never a name, so never looked up

    /** Returns the block that {@code 10.0.0.0/8}, {@code fd00::/8} or a single address stands for, null if none. */
    public static @Nullable Cidr parse(String text) {
        int slash = text.indexOf('/');
        String address = slash < 0 ? text : text.substring(0, slash);
        if (!LITERAL.matcher(address).matches()) {
            return null;
        }
        try {
            InetAddress network = InetAddress.getByName(address);
            int bits = network.getAddress().length * 8;
            int length = slash < 0 ? bits : prefixLength(text.substring(slash + 1));
            return length < 0 || length > bits ? null : new Cidr(first(network, length), length);
        } catch (UnknownHostException e) {
            return null; // a literal out of range, such as 300.0.0.1
        }
    }

    private static InetAddress first(InetAddress address, int prefixLength) throws UnknownHostException {
        byte[] bytes = address.getAddress();
        for (int bit = prefixLength; bit < bytes.length * 8; bit++) {
            bytes[bit / 8] &= (byte) ~(0x80 >> bit % 8);
        }
        return InetAddress.getByAddress(bytes);
    }

    private static int prefixLength(String digits) {
        return digits.matches("[0-9]{1,3}") ? Integer.parseInt(digits) : -1;
    }

    /** Whether it has one address only. */
    public boolean isSingle() {
        return prefixLength == network.getAddress().length * 8;
    }

    /** Whether an address belongs to the block; an address of the other family never does. */
    public boolean contains(InetAddress address) {
        byte[] ours = network.getAddress();
        byte[] theirs = address.getAddress();
        if (ours.length != theirs.length) {
            return false;
        }
        int whole = prefixLength / 8;
        for (int i = 0; i < whole; i++) {
            if (ours[i] != theirs[i]) {
                return false;
            }
        }
        int rest = prefixLength % 8;
        return rest == 0 || ((ours[whole] ^ theirs[whole]) & 0xff) >>> (8 - rest) == 0;
    }

    /** Returns the block with its first address, as it may be written. */
    @Override
    public String toString() {
        return network.getHostAddress() + "/" + prefixLength;
    }
}
