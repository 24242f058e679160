package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Clients that connect to a port again and again, each for one answer. */
final class Hammer implements AutoCloseable {
    private static final int CLIENTS = 3;

    private final InetSocketAddress address;
    private final AtomicLong answers = new AtomicLong();
    private final Queue<String> failures = new ConcurrentLinkedQueue<>();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean ended;

    Hammer(InetSocketAddress address) {
        this.address = address;
        for (int i = 0; i < CLIENTS; i++) {
            Thread thread = new Thread(this::run, "hammer-" + i);
            threads.add(thread);
            thread.start();
        }
    }

    private void run() {
        while (!ended) {
            try (Socket socket = new Socket()) {
                socket.setSoTimeout(ListenerRig.PATIENCE_MILLIS);
                socket.setSoLinger(true, 0); // leaves no port in TIME_WAIT
                socket.connect(address, ListenerRig.PATIENCE_MILLIS);
                String answer = Clients.exchange(socket, "/");
                if (!answer.startsWith("HTTP/1.1 200 ")) {
                    failures.add(answer);
                }
            } catch (IOException | RuntimeException | AssertionError e) {
                failures.add(e.toString());
            }
            answers.incrementAndGet();
        }
    }

    /** Waits until so many more have been answered, or have failed. */
    void awaitAnswers(int count) {
        long until = answers.get() + count;
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ListenerRig.PATIENCE_MILLIS);
        while (answers.get() < until) {
            assertThat(System.nanoTime()).as("still %s answers", answers.get()).isLessThan(deadline);
            LockSupport.parkNanos(1_000_000);
        }
    }

    Queue<String> failures() {
        return failures;
    }

    @Override
    public void close() {
        ended = true;
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // they end all the same
        }
    }
}
