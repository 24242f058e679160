package dev.gateway;

import dev.gateway.net.ServerTls;
import dev.gateway.net.ServerTlsSettings;
import dev.gateway.net.ServerTlsSettings.CertificateFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;

/** A listener's TLS with the files that it was read from. */
final class ListenerTls implements AutoCloseable {
    private final ServerTlsSettings settings;
    private final FileWatch watch;
    private final ServerTls tls;

    private ListenerTls(ServerTlsSettings settings, FileWatch watch, ServerTls tls) {
        this.settings = settings;
        this.watch = watch;
        this.tls = tls;
    }

    /** Reads the files. */
    static ListenerTls read(ServerTlsSettings settings) throws IOException, GeneralSecurityException {
        List<Path> files = new ArrayList<>();
        for (CertificateFiles each : settings.certificates()) {
            files.add(each.certFile());
            files.add(each.keyFile());
        }
        if (settings.clientCaFile() != null) {
            files.add(settings.clientCaFile());
        }
        FileWatch watch = new FileWatch(files);
        return new ListenerTls(settings, watch, new ServerTls(settings));
    }

    ServerTls tls() {
        return tls;
    }

    /** Whether reading the files by these settings would make the same of them. */
    boolean isCurrent(ServerTlsSettings wanted) {
        return settings.equals(wanted) && !watch.hasChanged();
    }

    /** Has no further use for it; connections that are being secured keep what they need. */
    @Override
    public void close() {
        tls.close();
    }
}
