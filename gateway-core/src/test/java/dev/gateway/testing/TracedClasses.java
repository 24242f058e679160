package dev.gateway.testing;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/**
 * Class loader that loads the gateway's classes once more, with calls of {@link #enter} and {@link #leave} around each method.
 * It records the calls of one thread. Bridge methods are left out, since the compiler writes them. So is what an exception
 * ends: the record must be taken where none is thrown.
 */
public final class TracedClasses extends ClassLoader {
    private static final String OURS = "dev.gateway.";
    private static final String RECORDER = TracedClasses.class.getName().replace('.', '/');
    private static final int LEFT = -1;

    private static final List<Method> METHODS = Collections.synchronizedList(new ArrayList<>());
    private static final Thread NOBODY = new Thread("nobody"); // never runs
    private static volatile Thread recorded = NOBODY;
    private static int[] events = new int[1 << 10]; // of the recorded thread: a method, or LEFT
    private static volatile int length;

    static {
        registerAsParallelCapable();
    }

    /** A method of a traced class. */
    public record Method(String type, String name) {
        @Override
        public String toString() {
            return type.substring(type.lastIndexOf('.') + 1) + "." + name;
        }
    }

    /**
     * A call with the calls inside it.
     *
     * @param callers the methods that are on the stack, from the outermost one
     */
    public record Call(Method method, List<Method> callers) {
        /**
         * Whether it is a climb: the class is on the stack already. A class that calls itself directly does not count.
         */
        public boolean isClimb() {
            int last = callers.size() - 1;
            return last >= 0
                    && !callers.get(last).type().equals(method.type())
                    && callers.stream().anyMatch(each -> each.type().equals(method.type()));
        }
    }

    /** Makes a loader whose classes are other ones than those of the tests. */
    public TracedClasses() {
        super(TracedClasses.class.getClassLoader());
    }

    /** Records the calls of this thread from now on. */
    public static void record(Thread thread) {
        length = 0;
        recorded = thread;
    }

    /** Records nothing more. */
    public static void stop() {
        recorded = NOBODY;
    }

    /** Returns the calls so far. Each call that no recorded method made begins a list of its own. */
    public static List<List<Call>> calls() {
        List<List<Call>> roots = new ArrayList<>();
        List<Method> stack = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            if (events[i] == LEFT) {
                if (!stack.isEmpty()) { // else the method began before the record
                    stack.remove(stack.size() - 1);
                }
                continue;
            }
            Method method = METHODS.get(events[i]);
            if (stack.isEmpty()) {
                roots.add(new ArrayList<>());
            }
            roots.get(roots.size() - 1).add(new Call(method, List.copyOf(stack)));
            stack.add(method);
        }
        return roots;
    }

    /** A method begins. */
    public static void enter(int method) {
        add(method);
    }

    /** A method returns. */
    public static void leave() {
        add(LEFT);
    }

    private static void add(int event) {
        if (Thread.currentThread() == recorded) {
            int at = length;
            if (at == events.length) {
                events = Arrays.copyOf(events, at * 2);
            }
            events[at] = event;
            length = at + 1;
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(OURS) || name.equals(TracedClasses.class.getName())) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? findClass(name) : loaded;
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        URL url = getResource(name.replace('.', '/') + ".class");
        if (url == null) {
            throw new ClassNotFoundException(name);
        }
        try (InputStream in = url.openStream()) {
            byte[] code = in.readAllBytes();
            byte[] defined = url.getPath().contains("/test-classes/") ? code : traced(code, name);
            return defineClass(name, defined, 0, defined.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private static byte[] traced(byte[] code, String type) {
        ClassReader reader = new ClassReader(code);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(
                new ClassVisitor(Opcodes.ASM9, writer) {
                    @Override
                    public MethodVisitor visitMethod(
                            int access, String name, String descriptor, String signature, String[] exceptions) {
                        MethodVisitor method = super.visitMethod(access, name, descriptor, signature, exceptions);
                        return (access & Opcodes.ACC_BRIDGE) != 0 ? method : new Around(method, id(type, name));
                    }
                },
                0);
        return writer.toByteArray();
    }

    private static int id(String type, String name) {
        synchronized (METHODS) {
            METHODS.add(new Method(type, name));
            return METHODS.size() - 1;
        }
    }

    /** Adds the two calls to a method. */
    private static final class Around extends MethodVisitor {
        private final int id;

        Around(MethodVisitor method, int id) {
            super(Opcodes.ASM9, method);
            this.id = id;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            super.visitLdcInsn(id);
            super.visitMethodInsn(Opcodes.INVOKESTATIC, RECORDER, "enter", "(I)V", false);
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
                super.visitMethodInsn(Opcodes.INVOKESTATIC, RECORDER, "leave", "()V", false);
            }
            super.visitInsn(opcode);
        }
    }
}
