// SPDX-License-Identifier: Apache-2.0
// The part of the time axis that is shown.  Axis units are ticks of the first trace.

export class Viewport {
  constructor(public from: number, public to: number, private readonly first: number, private readonly last: number) {}

  width = 1;

  get scale(): number {
    return this.width / (this.to - this.from);
  }
  x(time: number): number {
    return (time - this.from) * this.scale;
  }
  time(x: number): number {
    return this.from + x / this.scale;
  }
  /** Factors below 1 zoom in; the time under x stays where it is. */
  zoom(factor: number, x: number): void {
    const at = this.time(x);
    const length = Math.min(Math.max((this.to - this.from) * factor, 8), (this.last - this.first) * 1.2);
    this.set(at - length * (x / this.width), length);
  }
  pan(pixels: number): void {
    this.set(this.from + pixels / this.scale, this.to - this.from);
  }
  show(from: number, to: number, margin = 0.1): void {
    const length = Math.max((to - from) * (1 + 2 * margin), 8);
    this.set((from + to) / 2 - length / 2, length);
  }
  showAll(): void {
    this.show(this.first, this.last, 0.02);
  }
  get showsAll(): boolean {
    return this.from <= this.first && this.to >= this.last;
  }
  /** What is shown at least of the surroundings of a moment: a part of the run. */
  private get least(): number {
    return Math.min(Math.max((this.last - this.first) / 30, 300), 3000);
  }
  /** Shows [from, to] with what is around it; a moment with its surroundings. */
  frame(from: number, to: number): void {
    const length = Math.max((to - from) * 1.3, this.least);
    this.set((from + to) / 2 - length / 2, length);
  }
  /** Moves only as far as needed to have [from, to] in sight, and zooms if it would be a speck or does not fit. */
  reveal(from: number, to: number): void {
    const length = to - from, seen = this.to - this.from;
    if (length === 0) {
      if (seen > 8 * this.least || seen < this.least / 8) return this.frame(from, to);
    } else if (length > seen * 0.9 || length < seen * 0.01) return this.show(from, to, 3);
    if (from <= this.from || to >= this.to) this.set((from + to) / 2 - seen / 2, seen);
  }
  private set(from: number, length: number): void {
    // A quarter of a window of nothing is as far as it goes.
    const low = this.first - length / 4, high = Math.max(this.last - length * 0.75, low);
    this.from = Math.min(Math.max(from, low), high);
    this.to = this.from + length;
  }
}
