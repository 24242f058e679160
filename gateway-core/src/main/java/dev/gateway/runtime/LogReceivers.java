package dev.gateway.runtime;

import dev.gateway.net.dns.Resolver;
import dev.gateway.observe.accesslog.ReceiverAddresses;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Resolves the names of log receivers by the gateway's resolver, and as the machine does once the event loops have ended. */
final class LogReceivers implements ReceiverAddresses {
    private static final long PATIENCE_SECONDS = 5;

    private final Resolver resolver;
    private final EventLoop loop;

    LogReceivers(Resolver resolver, EventLoop loop) {
        this.resolver = resolver;
        this.loop = loop;
    }

    @Override
    public List<InetAddress> of(String host) throws IOException {
        if (loop.isShuttingDown()) {
            return OF_MACHINE.of(host);
        }
        CompletableFuture<List<InetAddress>> found = new CompletableFuture<>();
        try {
            loop.execute(() -> resolve(host, found));
            return found.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (RejectedExecutionException e) { // it has ended meanwhile
            return OF_MACHINE.of(host);
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        } catch (TimeoutException e) {
            throw new UnknownHostException(host + ": no answer in " + PATIENCE_SECONDS + " s");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    private void resolve(String host, CompletableFuture<List<InetAddress>> found) {
        Resolver.Answers answers = resolver.resolve(loop, host);
        answers.ipv4().addListener((Future<List<InetAddress>> ipv4) -> answers.ipv6()
                .addListener((Future<List<InetAddress>> ipv6) -> complete(found, host, ipv4, ipv6)));
    }

    private static void complete(
            CompletableFuture<List<InetAddress>> found,
            String host,
            Future<List<InetAddress>> ipv4,
            Future<List<InetAddress>> ipv6) {
        List<InetAddress> all = new ArrayList<>();
        if (ipv4.isSuccess()) {
            all.addAll(ipv4.getNow());
        }
        if (ipv6.isSuccess()) {
            all.addAll(ipv6.getNow());
        }
        if (!all.isEmpty()) {
            found.complete(all);
            return;
        }
        Throwable why = ipv4.cause() == null ? ipv6.cause() : ipv4.cause();
        found.completeExceptionally(why == null ? noAddress(host) : why);
    }

    private static UnknownHostException noAddress(String host) {
        return new UnknownHostException(host + " has no address");
    }

    @Override
    public void keep(String host) {
        resolver.keep(host);
    }

    @Override
    public void drop(String host) {
        resolver.drop(host);
    }

    @Override
    public void doubt(String host) {
        resolver.doubt(loop, host, false);
    }
}
