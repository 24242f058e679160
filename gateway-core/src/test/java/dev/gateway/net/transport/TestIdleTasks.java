package dev.gateway.net.transport;

/** Makes the thread of a test an event loop that has nothing to do when the test says so. */
public final class TestIdleTasks implements AutoCloseable {
    private final IdleTasks lull = new IdleTasks(() -> 0);

    /** Begins; until it is closed, what this thread makes finds a lull to wait for. */
    public TestIdleTasks() {
        lull.become();
    }

    /** There is nothing else to do. */
    public void comes() {
        lull.onPolled(true);
    }

    /** There is always something to do, but little time has passed. */
    public void doesNotCome() {
        lull.onPolled(false);
    }

    /** The loop has looked for what has happened since. */
    public void turns() {
        lull.onTurn();
    }

    @Override
    public void close() {
        IdleTasks.none();
    }
}
