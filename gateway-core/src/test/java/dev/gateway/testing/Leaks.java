package dev.gateway.testing;

import dev.gateway.testkit.LeakDetector;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Fails a test class after which Netty reports a buffer that nobody released. Installed for every class before the
 * first one is loaded.
 */
public final class Leaks implements LauncherSessionListener, AfterAllCallback {
    @Override
    public void launcherSessionOpened(LauncherSession session) {
        LeakDetector.install();
    }

    /** Looks for what the looks after the classes may have missed. Ends the JVM with an error, because no class can fail now. */
    @Override
    public void launcherSessionClosed(LauncherSession session) {
        try {
            fail(LeakDetector.reportAll());
        } catch (InterruptedException e) {
            throw new AssertionError("nothing can be said about leaks", e);
        }
    }

    @Override
    public void afterAll(ExtensionContext context) throws InterruptedException {
        if (context.getParent().flatMap(ExtensionContext::getTestClass).isPresent()) {
            return; // a nested class: its outer class looks
        }
        fail(LeakDetector.report());
    }

    private static void fail(@Nullable String report) {
        if (report != null) {
            throw new AssertionError("a buffer leaked; with -Dleak.records=20 Maven says where it was used: " + report);
        }
    }
}
