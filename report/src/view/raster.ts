// SPDX-License-Identifier: Apache-2.0
// Rows of spans as pixels.  A row is built as one line of pixels (a background and a hatch colour for each x) and copied
// down its height.  That is faster than drawing rectangles, and what is narrower than a pixel is averaged by how much of
// the pixel it covers, so that a zoomed-out lane shows shares of time and not whatever was drawn last.

import {type Rgb, mix, pixel} from './theme';

export interface Paint {
  fill: Rgb;
  /** Colour of the diagonal lines; absent: solid. */
  hatch?: Rgb;
  /** First pixel, so that neighbours of one kind are told apart. */
  edge: Rgb;
  /** Colour when it covers part of a pixel. */
  average: Rgb;
}

export function solid(fill: Rgb, background: Rgb): Paint {
  return {fill, edge: mix(fill, background, 0.55), average: fill};
}
export function hatched(fill: Rgb, hatch: Rgb, background: Rgb): Paint {
  return {fill, hatch, edge: mix(hatch, background, 0.25), average: mix(fill, hatch, 0.3)};
}

export class Raster {
  readonly image: ImageData;
  private readonly pixels: Uint32Array;
  private readonly back: Uint32Array;
  private readonly hatch: Uint32Array;
  private readonly line: Uint32Array;
  private readonly cover: Float32Array;
  private hatches = false;
  private low = 0;
  private high = -1;
  /** So that hatching moves with the spans. */
  hatchOffset = 0;

  /** Distance of the hatch lines less one, a power of two less one, and their width. */
  private readonly mask: number;
  private readonly stroke: number;

  /** @param density  pixels per CSS pixel */
  constructor(readonly width: number, readonly height: number, density = 1) {
    this.mask = density >= 1.5 ? 15 : 7;
    this.stroke = density >= 1.5 ? 4 : 2;
    this.image = new ImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.back = new Uint32Array(width);
    this.hatch = new Uint32Array(width);
    this.line = new Uint32Array(width);
    this.cover = new Float32Array(4 * width);
  }

  clear(color: Rgb): void {
    this.pixels.fill(pixel(color));
  }

  beginRow(background: Rgb): void {
    const p = pixel(background);
    this.back.fill(p);
    this.hatch.fill(p);
    this.hatches = false;
    this.low = this.width;
    this.high = -1;
  }

  /** [x0, x1) in pixels, may lie outside. */
  span(x0: number, x1: number, paint: Paint): void {
    const from = Math.max(0, x0), to = Math.min(this.width, x1);
    if (!(from < to)) {
      // A span without length still is a hair.
      if (x0 >= 0 && x0 < this.width && x0 === x1) this.partial(Math.floor(x0), 0.4, paint.average);
      return;
    }
    if (x1 - x0 < 2) {
      const first = Math.floor(from), last = Math.min(this.width - 1, Math.floor(to));
      for (let x = first; x <= last; ++x) this.partial(x, Math.min(to, x + 1) - Math.max(from, x), paint.average);
      return;
    }
    const first = Math.round(from), last = Math.round(to);
    const fill = pixel(paint.fill);
    this.back.fill(fill, first, last);
    if (paint.hatch) this.hatches = true;
    this.hatch.fill(paint.hatch ? pixel(paint.hatch) : fill, first, last);
    if (x0 >= 0 && x1 - x0 >= 4) this.back[first] = this.hatch[first] = pixel(paint.edge);
  }

  private partial(x: number, part: number, color: Rgb): void {
    if (part <= 0) return;
    this.cover[4 * x] += color[0] * part;
    this.cover[4 * x + 1] += color[1] * part;
    this.cover[4 * x + 2] += color[2] * part;
    this.cover[4 * x + 3] += part;
    this.low = Math.min(this.low, x);
    this.high = Math.max(this.high, x);
  }

  /** Writes the row to lines y0 to y1 - 1. */
  endRow(y0: number, y1: number): void {
    for (let x = this.low; x <= this.high; ++x) {
      const part = this.cover[4 * x + 3];
      if (part === 0) continue;
      const kept = Math.max(0, 1 - part), scale = part > 1 ? 1 / part : 1;
      const old = this.back[x];
      const mixed = pixel([
        (old & 255) * kept + this.cover[4 * x] * scale,
        (old >> 8 & 255) * kept + this.cover[4 * x + 1] * scale,
        (old >> 16 & 255) * kept + this.cover[4 * x + 2] * scale,
      ]);
      this.back[x] = this.hatch[x] = mixed;
      this.cover.fill(0, 4 * x, 4 * x + 4);
    }
    const {width, pixels, back, hatch, line, mask, stroke} = this;
    for (let y = Math.max(0, Math.round(y0)); y < Math.min(this.height, Math.round(y1)); ++y) {
      if (!this.hatches) {
        pixels.set(back, y * width);
        continue;
      }
      const shift = y + this.hatchOffset;
      for (let x = 0; x < width; ++x) line[x] = (x + shift & mask) < stroke ? hatch[x] : back[x];
      pixels.set(line, y * width);
    }
  }

  /** A filled rectangle over what is there. */
  rect(x0: number, y0: number, x1: number, y1: number, color: Rgb): void {
    const left = Math.max(0, Math.round(x0)), right = Math.min(this.width, Math.round(x1));
    if (left >= right) return;
    const p = pixel(color);
    for (let y = Math.max(0, Math.round(y0)); y < Math.min(this.height, Math.round(y1)); ++y)
      this.pixels.fill(p, y * this.width + left, y * this.width + right);
  }
}
