package dev.gateway.runtime.process;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Native heap (malloc): the memory that the C library has for this process. */
public final class NativeHeap {
    private static final Logger log = LoggerFactory.getLogger(NativeHeap.class);

    private NativeHeap() {}

    /**
     * Makes the C library return free memory to the system, as {@code jcmd PID System.trim_native_heap} does. Takes some
     * milliseconds; other threads continue.
     *
     * @return false if this JVM or its C library cannot do that
     */
    public static boolean trim() {
        try {
            Object result = ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            "systemTrimNativeHeap",
                            new Object[0],
                            new String[0]);
            log.debug("Gave memory back: {}", result);
            return true;
        } catch (JMException | RuntimeException e) {
            log.debug("Memory that buffers no longer need stays with the C library", e);
            return false;
        }
    }
}
