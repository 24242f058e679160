package dev.gateway.demo;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/** Writes PNG images (8 bits for each of red, green and blue), so that no desktop library need be there. */
final class Png {
    private static final byte[] SIGNATURE = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

    private Png() {}

    /** Encodes a picture of {@code 0xRRGGBB} pixels, row by row. */
    static byte[] encode(int[] pixels, int width) {
        int height = pixels.length / width;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(SIGNATURE);
        ByteBuffer header = ByteBuffer.allocate(13).putInt(width).putInt(height);
        header.put((byte) 8).put((byte) 2).put(new byte[3]); // bit depth, truecolor, defaults
        chunk(out, "IHDR", header.array(), 13);
        byte[] rows = rows(pixels, width, height);
        Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION);
        deflater.setInput(rows);
        deflater.finish();
        byte[] compressed = new byte[rows.length + 1024];
        int length = 0;
        while (!deflater.finished()) {
            length += deflater.deflate(compressed, length, compressed.length - length);
        }
        deflater.end();
        chunk(out, "IDAT", compressed, length);
        chunk(out, "IEND", new byte[0], 0);
        return out.toByteArray();
    }

    private static byte[] rows(int[] pixels, int width, int height) {
        byte[] rows = new byte[height * (width * 3 + 1)];
        int to = 0;
        for (int y = 0; y < height; y++) {
            rows[to++] = 1; // filter "Sub": the difference to the pixel on the left compresses well
            int left = 0;
            for (int x = 0; x < width; x++) {
                int pixel = pixels[y * width + x];
                for (int shift = 16; shift >= 0; shift -= 8) {
                    rows[to++] = (byte) ((pixel >> shift) - (left >> shift));
                }
                left = pixel;
            }
        }
        return rows;
    }

    private static void chunk(ByteArrayOutputStream out, String type, byte[] data, int length) {
        byte[] name = type.getBytes(StandardCharsets.US_ASCII);
        CRC32 crc = new CRC32();
        crc.update(name);
        crc.update(data, 0, length);
        out.writeBytes(ByteBuffer.allocate(4).putInt(length).array());
        out.writeBytes(name);
        out.write(data, 0, length);
        out.writeBytes(ByteBuffer.allocate(4).putInt((int) crc.getValue()).array());
    }
}
