package dev.gateway.testing;

import dev.gateway.testkit.LeakDetector;
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

    @Override
    public void afterAll(ExtensionContext context) throws InterruptedException {
        if (context.getParent().flatMap(ExtensionContext::getTestClass).isPresent()) {
            return; // a nested class: its outer class looks
        }
        String report = LeakDetector.report();
        if (report != null) {
            throw new AssertionError("a buffer leaked: " + report);
        }
    }
}
