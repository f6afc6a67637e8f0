// SPDX-License-Identifier: Apache-2.0
// Where a span lies in the picture, whether its row is open or folded into its CTA's.

import type {Model} from '../model';
import {bodyBox, columnBox, kStrip, laneBox} from './draw_rows';
import type {Row} from './layout';

export interface Box {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
  /** The row itself, else the CTA's. */
  exact: boolean;
}

export class Places {
  private readonly rows = new Map<string, Row>();
  private readonly ctas = new Map<string, Row>();
  constructor(private readonly model: Model) {
    for (const row of model.rows) {
      if ('track' in row) this.rows.set(`${row.side} ${row.track.id}`, row);
      if (row.kind === 'cta') this.ctas.set(row.cta.key, row);
    }
  }

  row(side: number, track: number): Row | undefined {
    return this.rows.get(`${side} ${track}`);
  }
  /** Where a track is shown: its row, or its CTA's. */
  track(side: number, track: number): {y0: number; y1: number; exact: boolean} | null {
    const {scroll} = this.model;
    const row = this.row(side, track);
    if (row) return {y0: row.y - scroll, y1: row.y + row.height - scroll, exact: true};
    const cta = this.model.ctaOf(side, track);
    const folded = cta && this.ctas.get(cta.key);
    return folded ? {y0: folded.y - scroll + 4, y1: folded.y + folded.height - scroll - 4, exact: false} : null;
  }
  span(side: number, span: number): Box | null {
    const {model} = this;
    const {trace} = model.sides[side];
    const place = this.track(side, trace.spans.track[span]);
    if (!place) return null;
    const x0 = model.view.x(model.axis(side, trace.spans.begin[span]));
    const x1 = model.view.x(model.axis(side, trace.spans.end[span]));
    let {y0, y1} = place;
    const row = this.row(side, trace.spans.track[span]);
    if (row?.kind === 'role') {
      const part = trace.contains[span] ? kStrip : bodyBox(row);
      [y0, y1] = [y0 + part.top, y0 + part.bottom];
    } else if (row?.kind === 'unit') {
      const [top, height] = laneBox(row, trace.spans.lane[span]);
      [y0, y1] = [y0 + top, y0 + top + height];
    } else if (row?.kind === 'tmem') {
      const [top, height] = columnBox(row, trace, span);
      [y0, y1] = [y0 + top, y0 + top + height];
    }
    return {x0, x1, y0, y1, exact: place.exact};
  }
}
