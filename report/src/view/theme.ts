// SPDX-License-Identifier: Apache-2.0
// Colours, light and dark.  Hues are those of Okabe and Ito, which people with any colour vision can tell apart; states
// that share a hue differ in pattern, too.

import {type Actor, Actors, kindActor, unitActor} from '../data/actors';
import type {Trace} from '../data/trace';

export {type Actor, kindActor, unitActor};
export type Rgb = [number, number, number];

export const actorNames: Record<Actor, string> = {
  load: 'loads (TMA)',
  mma: 'tensor core',
  epilogue: 'epilogue',
  store: 'stores (TMA)',
  clc: 'scheduling (CLC)',
  other: 'set-up and other',
};

export interface Theme {
  dark: boolean;
  background: Rgb;
  /** Rows of the second trace. */
  secondBackground: Rgb;
  panel: string;
  text: string;
  quietText: string;
  grid: string;
  line: string;
  /** Frames and links. */
  accent: string;
  /** Behind what is selected in a list. */
  current: string;
  /** Parts of the actor's hue in a wait for it: its ground and its hatching. */
  wait: {fill: number; hatch: number};
  /** Strong: work of that actor. */
  actor: Record<Actor, Rgb>;
  /** Frames and flags of what went wrong; its luminance is far from the tensor core's. */
  alarm: Rgb;
  /** The same as a text, and a text on the alarm. */
  alarmText: string;
  onAlarm: string;
  /** Behind the verdict of a run that passed, and the text on it. */
  good: string;
  onGood: string;
  path: Rgb;
  even: Rgb;
  odd: Rgb;
  /** Tiles in turn. */
  tiles: Rgb[];
}

/** Text on bright bars, in either theme. */
export const onBright = '#0c0d10';

const hues: Record<Actor, Rgb> = {
  load: [86, 180, 233],
  mma: [230, 159, 0],
  epilogue: [0, 158, 115],
  store: [204, 121, 167],
  clc: [240, 228, 66],
  other: [150, 150, 150],
};

export const light: Theme = {
  dark: false,
  background: [255, 255, 255],
  secondBackground: [244, 246, 250],
  panel: '#f6f7f9',
  text: '#16181d',
  quietText: '#5b6270',
  grid: '#e3e6eb',
  line: '#c9ced6',
  accent: '#0067a3',
  current: '#dcebf5',
  wait: {fill: 0.14, hatch: 0.45},
  actor: {...hues, clc: [222, 205, 40]},
  alarm: [168, 0, 38],
  alarmText: '#a80026',
  onAlarm: '#ffffff',
  good: '#0b6b4a',
  onGood: '#ffffff',
  path: [20, 20, 20],
  even: [214, 224, 240],
  odd: [240, 226, 206],
  tiles: [[196, 206, 226], [230, 216, 192], [190, 220, 210], [224, 204, 224]],
};

export const dark: Theme = {
  dark: true,
  background: [20, 22, 27],
  secondBackground: [28, 31, 40],
  panel: '#1b1e25',
  text: '#e8eaef',
  quietText: '#9aa3b2',
  grid: '#2a2e37',
  line: '#3c424e',
  accent: '#56b4e9',
  current: '#20384a',
  wait: {fill: 0.16, hatch: 0.39},
  actor: {...hues, mma: [255, 190, 60], epilogue: [16, 172, 128], other: [128, 132, 140]},
  alarm: [208, 30, 72],
  alarmText: '#ff8f9f',
  onAlarm: '#ffffff',
  good: '#0e7d59',
  onGood: '#ffffff',
  path: [255, 255, 255],
  even: [38, 50, 72],
  odd: [66, 52, 36],
  tiles: [[74, 84, 110], [104, 92, 74], [70, 98, 92], [100, 78, 100]],
};

/** The names under which style.css uses them. */
export function applyTheme(theme: Theme, element: HTMLElement): void {
  const names: Record<string, string> = {
    back: css(theme.background), panel: theme.panel, text: theme.text, quiet: theme.quietText, line: theme.line, grid: theme.grid,
    accent: theme.accent, alarm: css(theme.alarm), 'alarm-text': theme.alarmText, 'on-alarm': theme.onAlarm,
    good: theme.good, 'on-good': theme.onGood, current: theme.current,
  };
  for (const [name, value] of Object.entries(names)) element.style.setProperty(`--${name}`, value);
  element.dataset.theme = theme.dark ? 'dark' : 'light';
}

export function mix(a: Rgb, b: Rgb, partOfB: number): Rgb {
  return [0, 1, 2].map((i) => Math.round(a[i] + (b[i] - a[i]) * partOfB)) as Rgb;
}
export function css(c: Rgb, alpha = 1): string {
  return alpha === 1 ? `rgb(${c[0]} ${c[1]} ${c[2]})` : `rgb(${c[0]} ${c[1]} ${c[2]} / ${alpha})`;
}
/** As a pixel of ImageData on a little-endian machine. */
export function pixel(c: Rgb): number {
  return (255 << 24 | c[2] << 16 | c[1] << 8 | c[0]) >>> 0;
}

let actors = new Actors();

/** Makes the colours those of the traces' own roles and barriers. */
export function learnActors(traces: Trace[]): Actors {
  actors = new Actors(traces);
  if (actors.copies) actorNames.epilogue = 'consumers';
  return actors;
}
/** Who has to act before a wait on this barrier array can end. */
export function waitActor(pipeline: string): Actor {
  return actors.barrier(pipeline);
}
/** [producer, consumer] of a ring. */
export function ringActors(ring: string): [Actor, Actor] {
  return actors.ring(ring);
}
export function roleActor(role: string): Actor {
  return actors.role(role);
}
