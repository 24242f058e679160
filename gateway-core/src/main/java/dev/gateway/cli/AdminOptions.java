package dev.gateway.cli;

import dev.gateway.config.AdminConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.listener.BindConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of commands that ask a running gateway: where its admin listener is, and how to be let in. */
final class AdminOptions {
    private static final String DEFAULT = "127.0.0.1:9901";

    @Option(
            names = "--admin",
            paramLabel = "ADDRESS",
            description = "Address of the admin listener, or unix:FILE. Default: that of --config, else " + DEFAULT)
    private @Nullable String address;

    @Option(
            names = {"-c", "--config"},
            paramLabel = "FILE",
            description = "Configuration of the running gateway, a file or a directory.")
    private @Nullable Path config;

    @Option(
            names = "--token-file",
            paramLabel = "FILE",
            description = "File with the bearer token. Default: that of --config")
    private @Nullable Path tokenFile;

    /** Returns the configuration that was named, or null. */
    @Nullable
    Path config() {
        return config;
    }

    /** Whether a gateway was named by its address. */
    boolean hasAddress() {
        return address != null;
    }

    /**
     * Makes the client that the options want.
     *
     * @return null if the configuration cannot be used, which has been printed then
     * @throws IllegalArgumentException if there is no such address
     */
    private @Nullable AdminClient client(PrintWriter err) {
        if (config == null) {
            return new AdminClient(address == null ? DEFAULT : address, tokenFile);
        }
        GatewayConfig loaded = CommandSupport.loadToAsk(config, err);
        if (loaded == null) {
            return null;
        }
        AdminConfig admin = loaded.withAdmin().admin();
        if (admin == null || !admin.enabled()) {
            throw new IllegalArgumentException(config + " has no admin listener: name one with --admin");
        }
        return new AdminClient(
                address == null ? address(admin.bind()) : address, tokenFile == null ? admin.tokenFile() : tokenFile);
    }

    /** What a command does with a running gateway; returns the exit code. */
    interface Use {
        int of(AdminClient client) throws IOException, InterruptedException;
    }

    /** Has a command use the gateway that the options name, and prints why if it cannot; returns the exit code. */
    int use(PrintWriter err, Use command) {
        try {
            AdminClient client = client(err);
            return client == null ? CommandSupport.INVALID_CONFIG : command.of(client);
        } catch (IOException e) {
            err.println(e.getMessage());
            return CommandSupport.UNAVAILABLE;
        } catch (IllegalArgumentException e) {
            err.println(e.getMessage());
            return CommandSupport.USAGE;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return CommandSupport.UNAVAILABLE; // so that nothing follows as if it were done
        }
    }

    /** Prints a page of the admin listener, or why it is unavailable; returns the exit code. */
    int print(String page, PrintWriter out, PrintWriter err) {
        return use(err, client -> print(client.get(page), out, err));
    }

    /**
     * Has the gateway do something, and prints what came of it; returns the exit code.
     *
     * @param command that wants it, for the gateway's log
     */
    int act(String action, String command, PrintWriter out, PrintWriter err) {
        return use(err, client -> print(client.post(action, asker(command)), out, err));
    }

    /** Returns who asks, for the gateway's log. */
    static String asker(String command) {
        return System.getProperty("user.name") + " by gateway " + command;
    }

    /** Prints an answer where it belongs; returns the exit code. */
    static int print(AdminClient.Answer answer, PrintWriter out, PrintWriter err) {
        boolean good = answer.status() == 200;
        (good ? out : err).print(answer.body());
        (good ? out : err).flush();
        if (answer.status() == 401) {
            err.println("Name the file that has it by --token-file FILE, or the configuration by --config FILE.");
        }
        return good ? CommandSupport.OK : CommandSupport.UNAVAILABLE;
    }

    private static String address(BindConfig bind) {
        if (bind.unix() != null) {
            return AdminClient.UNIX + bind.unix();
        }
        String host = bind.address().equals("0.0.0.0") || bind.address().equals("::") ? "127.0.0.1" : bind.address();
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + bind.port();
    }
}
