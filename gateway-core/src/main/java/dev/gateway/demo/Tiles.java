package dev.gateway.demo;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

/** The tiles page: one picture cut in 180 images, so that a page load is 181 requests. */
final class Tiles {
    static final int COLUMNS = 18;
    static final int ROWS = 10;
    static final int COUNT = COLUMNS * ROWS;
    private static final int SIZE = 64;

    private static final String PAGE = page();

    private Tiles() {}

    /** The picture is painted once, when first asked for, and not on an event loop. */
    private static final class Holder {
        static final CompletableFuture<byte[][]> PICTURE = CompletableFuture.supplyAsync(Tiles::paint);
    }

    /** Returns the tiles as PNG, row by row, once they are painted. */
    static CompletableFuture<byte[][]> picture() {
        return Holder.PICTURE;
    }

    private static byte[][] paint() {
        Landscape landscape = new Landscape(COLUMNS * SIZE, ROWS * SIZE);
        byte[][] tiles = new byte[COUNT][];
        int[] pixels = new int[SIZE * SIZE];
        for (int tile = 0; tile < COUNT; tile++) {
            int left = tile % COLUMNS * SIZE;
            int top = tile / COLUMNS * SIZE;
            for (int i = 0; i < pixels.length; i++) {
                pixels[i] = landscape.pixel(left + i % SIZE, top + i / SIZE);
            }
            tiles[tile] = Png.encode(pixels, SIZE);
        }
        return tiles;
    }

    /** Returns the page whose tiles come after that many milliseconds each, with links to itself by other protocols. */
    static String html(int latencyMillis, Entrances entrances) {
        StringBuilder images = new StringBuilder();
        for (int i = 0; i < COUNT; i++) {
            images.append("<img src=\"tiles/").append(i).append(".png");
            if (latencyMillis > 0) {
                images.append("?latency=").append(latencyMillis);
            }
            images.append("\" alt=\"\" width=\"64\" height=\"64\">");
        }
        return PAGE.replace("@TILES@", images)
                .replace("@PROTOCOLS@", entrances.links("/tiles?latency=" + latencyMillis))
                .replace("@LATENCY@", Integer.toString(latencyMillis));
    }

    private static String page() {
        try (InputStream in = Tiles.class.getResourceAsStream("tiles.html")) {
            if (in == null) {
                throw new IllegalStateException("tiles.html is not on the class path");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
