package dev.gateway.runtime;

import dev.gateway.config.listener.TlsConfig.CertificateRef;
import dev.gateway.config.value.ConfigEquality;
import dev.gateway.files.FileWatch;
import dev.gateway.net.tls.ServerTls;
import dev.gateway.net.tls.ServerTlsSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;

/** TLS of a listener: a listener's TLS with the files that it was read from. */
public final class ListenerTls implements AutoCloseable {
    private final ServerTlsSettings settings;
    private final FileWatch watch;
    private final ServerTls tls;
    private boolean outdated; // the files are not what this was made of

    private ListenerTls(ServerTlsSettings settings, FileWatch watch, ServerTls tls) {
        this.settings = settings;
        this.watch = watch;
        this.tls = tls;
    }

    /** Reads the files. */
    static ListenerTls read(ServerTlsSettings settings) throws IOException, GeneralSecurityException {
        List<Path> files = new ArrayList<>();
        for (CertificateRef each : settings.shown()) {
            files.add(each.certFile());
            files.add(each.keyFile());
        }
        Path caFile = settings.config().clients().caFile();
        if (caFile != null) {
            files.add(caFile);
        }
        Path crlFile = settings.config().clients().crlFile();
        if (crlFile != null) {
            files.add(crlFile);
        }
        FileWatch watch = new FileWatch(files);
        return new ListenerTls(settings, watch, new ServerTls(settings));
    }

    /** Returns what handshakes go by now. */
    public ServerTls tls() {
        return tls;
    }

    /** Whether the files have changed and settled, and so are worth an attempt to read them: one for each change. */
    boolean isDue() {
        if (!watch.hasSettled()) {
            return false;
        }
        watch.reading();
        outdated = true; // whatever comes of the attempt
        return true;
    }

    /** The files could not be read, so they are due again after a while. */
    void unread() {
        watch.unread();
    }

    ServerTlsSettings settings() {
        return settings;
    }

    /** Whether reading the files by these settings would make the same of them. */
    boolean isCurrent(ServerTlsSettings wanted) {
        return ConfigEquality.isSame(settings, wanted) && !outdated && !watch.hasChanged();
    }

    /** Has no further use for it; connections that are being secured keep what they need. */
    @Override
    public void close() {
        tls.close();
    }
}
