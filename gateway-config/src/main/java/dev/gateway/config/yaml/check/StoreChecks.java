package dev.gateway.config.yaml.check;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.StoreConfig;
import dev.gateway.config.file.PasswordFile;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.files.FileFault;
import java.io.IOException;
import java.nio.file.Path;

/** Passwords of stores can be read. */
final class StoreChecks {
    private StoreChecks() {}

    static void run(GatewayConfig config, Scope scope) {
        for (StoreConfig store : config.stores()) {
            Path file = store.passwordFile();
            if (file != null && file.getNameCount() > 0) { // one that is no path was reported where it was read
                try {
                    PasswordFile.read(file);
                } catch (IOException e) {
                    scope.problems.error(scope.at(store, "passwordFile"), "passwordFile: " + FileFault.message(e));
                }
            }
        }
    }
}
