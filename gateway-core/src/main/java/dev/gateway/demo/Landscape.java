package dev.gateway.demo;

/** Paints an evening by a mountain lake, pixel by pixel: a picture worth cutting into tiles. */
final class Landscape {
    private static final int RIDGES = 5;
    private static final double WATERLINE = 0.74;
    private static final double SUN_X = 0.66;
    private static final double SUN_Y = 0.40;

    private final int width;
    private final int height;
    private final double aspect;
    private final double[][] crests; // of each ridge, by column

    Landscape(int width, int height) {
        this.width = width;
        this.height = height;
        this.aspect = (double) width / height;
        this.crests = new double[RIDGES][width];
        for (int ridge = 0; ridge < RIDGES; ridge++) {
            for (int column = 0; column < width; column++) {
                crests[ridge][column] = crest((double) column / width, ridge, (double) ridge / (RIDGES - 1));
            }
        }
    }

    /** Returns the color of a pixel as {@code 0xRRGGBB}. */
    int pixel(int px, int py) {
        double x = (px + 0.5) / width;
        double y = (py + 0.5) / height;
        if (y < WATERLINE) {
            return rgb(land(x, y));
        }
        // Water mirrors what is above it, squeezed, rippled and darker the nearer it is.
        double depth = (y - WATERLINE) / (1 - WATERLINE);
        double ripple = noise(x * 14 * (1.4 - depth), depth * 90, 77) - 0.5;
        double mirroredY = WATERLINE - (y - WATERLINE) * 1.5 + ripple * 0.02 * (0.3 + depth);
        double[] mirrored = land(x + ripple * 0.012 * (0.4 + depth), Math.min(WATERLINE - 0.001, mirroredY));
        double glitter = Math.max(0, ripple - 0.18) * Math.exp(-sq((x - SUN_X) * 7)) * 2.4;
        double[] water = mix(mirrored, new double[] {0.04, 0.07, 0.14}, 0.18 + 0.45 * depth);
        return rgb(mix(water, new double[] {1, 0.82, 0.55}, Math.min(0.8, glitter)));
    }

    private double[] land(double x, double y) {
        int column = Math.max(0, Math.min(width - 1, (int) (x * width)));
        for (int ridge = RIDGES - 1; ridge >= 0; ridge--) {
            double crest = crests[ridge][column];
            if (y > crest) {
                double near = (double) ridge / (RIDGES - 1);
                double[] rock = mix(new double[] {0.52, 0.40, 0.50}, new double[] {0.05, 0.07, 0.12}, Math.sqrt(near));
                double mist = (1 - near) * 0.41 * smooth((y - crest) / 0.16);
                double[] lit = mix(rock, new double[] {0.93, 0.62, 0.47}, mist);
                double grain = (noise(x * aspect * 60, y * 60, ridge) - 0.5) * 0.035 * (0.4 + near);
                return new double[] {lit[0] + grain, lit[1] + grain, lit[2] + grain};
            }
        }
        return sky(x, y);
    }

    private static double crest(double x, int ridge, double near) {
        double base = 0.44 + 0.24 * near;
        double shape = fractal(x * (2.2 + 1.7 * ridge) + ridge * 13.7, ridge);
        double valley = 0.05 * Math.exp(-sq((x - SUN_X) * 4)); // lets the sun be seen
        return base - (shape - 0.45) * (0.30 - 0.15 * near) + valley;
    }

    private double[] sky(double x, double y) {
        double[] top = {0.07, 0.11, 0.30};
        double[] middle = {0.55, 0.30, 0.48};
        double[] low = {1.0, 0.66, 0.38};
        double t = Math.min(1, y / 0.55);
        double[] color = t < 0.55 ? mix(top, middle, smooth(t / 0.55)) : mix(middle, low, smooth((t - 0.55) / 0.45));
        double distance = Math.hypot((x - SUN_X) * aspect, y - SUN_Y);
        color = mix(color, new double[] {1, 0.84, 0.58}, 0.85 * Math.exp(-distance * 7));
        double streaks = noise(x * 4 + y * 3, y * 17, 9) * 0.6 + noise(x * 11 + y * 9, y * 41, 8) * 0.4;
        double cloud = smooth((streaks - 0.5) * 3.5);
        color = mix(color, new double[] {0.98, 0.62, 0.55}, 0.5 * cloud * smooth(t * 1.4));
        double disc = smooth((0.052 - distance) / 0.004);
        color = mix(color, new double[] {1, 0.96, 0.84}, disc);
        double star = noise(x * width * 0.5, y * height * 0.5, 5);
        return star > 0.985 && t < 0.45 ? mix(color, new double[] {1, 1, 1}, 0.7 * (1 - t / 0.45)) : color;
    }

    private static double fractal(double x, int seed) {
        double sum = 0;
        double weight = 0.5;
        for (int octave = 0; octave < 7; octave++) {
            sum += weight * noise(x, octave * 7.3, seed);
            x *= 2.03;
            weight *= 0.5;
        }
        return sum;
    }

    /** Smooth noise between 0 and 1: random values on a grid, blended. */
    private static double noise(double x, double y, int seed) {
        int ix = (int) Math.floor(x);
        int iy = (int) Math.floor(y);
        double fx = smooth(x - ix);
        double fy = smooth(y - iy);
        double above = lerp(random(ix, iy, seed), random(ix + 1, iy, seed), fx);
        double below = lerp(random(ix, iy + 1, seed), random(ix + 1, iy + 1, seed), fx);
        return lerp(above, below, fy);
    }

    private static double random(int x, int y, int seed) {
        int h = x * 0x27d4eb2d ^ y * 0x165667b1 ^ seed * 0x9e3779b1;
        h = (h ^ h >>> 15) * 0x85ebca6b;
        h = (h ^ h >>> 13) * 0xc2b2ae35;
        return ((h ^ h >>> 16) >>> 8) / (double) (1 << 24);
    }

    private static double smooth(double t) {
        double c = Math.max(0, Math.min(1, t));
        return c * c * (3 - 2 * c);
    }

    private static double lerp(double a, double b, double t) {
        return a + (b - a) * t;
    }

    private static double sq(double a) {
        return a * a;
    }

    private static double[] mix(double[] a, double[] b, double t) {
        return new double[] {lerp(a[0], b[0], t), lerp(a[1], b[1], t), lerp(a[2], b[2], t)};
    }

    private static int rgb(double[] color) {
        int rgb = 0;
        for (double part : color) {
            rgb = rgb << 8 | (int) Math.round(255 * Math.max(0, Math.min(1, part)));
        }
        return rgb;
    }
}
