package dev.gateway.config.value;

/** Statuses from first to last, which is not less. */
public record StatusRange(int first, int last) {
    /** Whether a status is one of them. */
    public boolean contains(int status) {
        return first <= status && status <= last;
    }

    /** Returns {@code 200}, or {@code 200-299}. */
    @Override
    public String toString() {
        return first == last ? Integer.toString(first) : first + "-" + last;
    }
}
