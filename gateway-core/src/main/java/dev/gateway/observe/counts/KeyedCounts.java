package dev.gateway.observe.counts;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Counters of one event loop by a key that is not 0: a table with open addressing, so that counting neither boxes nor
 * allocates. Keys are of a closed set, so it stays small. One thread adds, any thread reads.
 */
public final class KeyedCounts {
    private static final VarHandle KEYS = MethodHandles.arrayElementVarHandle(int[].class);

    /** Takes a key and its count. */
    public interface Reader {
        void read(int key, long count);
    }

    private static final class Table {
        final int[] keys;
        final Counts counts;

        Table(int size) {
            keys = new int[size];
            counts = new Counts(size);
        }
    }

    private volatile Table table = new Table(8); // replaced whole when it grows
    private int used;

    /** Counts for a key; to be called by one thread. */
    public void increment(int key) {
        Table current = table;
        int slot = slot(current, key);
        if (current.keys[slot] == 0) {
            if (++used > current.keys.length / 2) {
                current = grow(current);
                slot = slot(current, key);
            }
            KEYS.setRelease(current.keys, slot, key);
        }
        current.counts.add(slot, 1);
    }

    private static int slot(Table table, int key) {
        int mask = table.keys.length - 1;
        int slot = ((key * 0x9E3779B9) >>> 16) & mask;
        while (table.keys[slot] != 0 && table.keys[slot] != key) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    private Table grow(Table old) {
        Table grown = new Table(old.keys.length * 2);
        for (int i = 0; i < old.keys.length; i++) {
            if (old.keys[i] != 0) {
                int slot = slot(grown, old.keys[i]);
                grown.keys[slot] = old.keys[i];
                grown.counts.add(slot, old.counts.get(i));
            }
        }
        table = grown;
        return grown;
    }

    /** Tells the reader each key that was counted. */
    public void forEach(Reader reader) {
        Table current = table;
        for (int i = 0; i < current.keys.length; i++) {
            int key = (int) KEYS.getAcquire(current.keys, i);
            if (key != 0) {
                reader.read(key, current.counts.get(i));
            }
        }
    }
}
