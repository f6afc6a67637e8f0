// SPDX-License-Identifier: Apache-2.0
// How each kind of span and each state is painted, made once per theme.

import {kEmpty, kFilling, kFull, kReading} from '../data/rings';
import type {Trace} from '../data/trace';
import {type Paint, hatched, solid} from './raster';
import {type Actor, type Rgb, type Theme, kindActor, mix, ringActors, roleActor, waitActor} from './theme';

export class Paints {
  private readonly cache = new Map<string, Paint>();
  constructor(readonly theme: Theme) {}

  private of(key: string, make: () => Paint): Paint {
    let paint = this.cache.get(key);
    if (!paint) this.cache.set(key, paint = make());
    return paint;
  }

  work(actor: Actor, strength = 1): Paint {
    const {background} = this.theme;
    return this.of(`work ${actor} ${strength}`, () => solid(mix(background, this.theme.actor[actor], strength), background));
  }
  waiting(actor: Actor): Paint {
    const {background, wait} = this.theme;
    const hue = this.theme.actor[actor];
    return this.of(`wait ${actor}`, () => hatched(mix(background, hue, wait.fill), mix(background, hue, wait.hatch), background));
  }
  span(trace: Trace, span: number): Paint {
    const kind = trace.kind(span);
    if (kind === 'wait' || kind === 'lock_wait') return this.waiting(waitActor(trace.pipeline(span)));
    if (kind === 'store_wait') return this.waiting('store');
    if (kind === 'tile') return this.work(roleActor(trace.track(span).name)); // holds nothing: the tile is the work
    return this.work(kindActor(kind), kind === 'drain' || kind === 'setup' ? 0.45 : 1);
  }
  /** What a search did not find, or the critical path does not touch. */
  faded(paint: Paint): Paint {
    return this.of(`faded ${paint.average}`, () => solid(this.pale(paint.average), this.theme.background));
  }
  pale(color: Rgb): Rgb {
    return mix(this.theme.background, color, this.theme.dark ? 0.3 : 0.22);
  }
  /** Tiles in turn, so that a tile can be followed from lane to lane. */
  tile(number: number): Paint {
    const {background, tiles: tints} = this.theme;
    const n = ((number % tints.length) + tints.length) % tints.length;
    return this.of(`tile ${n}`, () => solid(tints[n], background));
  }
  stage(ring: string, state: number): Paint {
    const [producer, consumer] = ringActors(ring);
    const {background} = this.theme;
    const hue = this.theme.actor[producer];
    switch (state) {
      case kFilling: return this.of(`filling ${producer}`, () => hatched(mix(background, hue, 0.12), mix(background, hue, 0.6), background));
      case kFull: return this.of(`full ${producer}`, () => solid(mix(background, hue, 0.9), background));
      case kReading: return this.of(`reading ${consumer}`, () => solid(mix(background, this.theme.actor[consumer], 0.95), background));
      case kEmpty:
      default: return this.of('empty', () => solid(background, background));
    }
  }
}
