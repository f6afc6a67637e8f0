// SPDX-License-Identifier: Apache-2.0
import {explainBarrier, explainBarrierLane, explainCta, explainKind, explainRing, explainRole, explainUnit, stageStateText} from '../text/glossary';
import type {Model} from '../model';
import type {Paint} from '../view/raster';
import {Paints} from '../view/paints';
import {type Actor, actorNames, css} from '../view/theme';

function Swatch({paint}: {paint: Paint}) {
  const background = paint.hatch
    ? `repeating-linear-gradient(135deg, ${css(paint.fill)} 0 4px, ${css(paint.hatch)} 4px 6px)`
    : css(paint.fill);
  return <span class="swatch" style={{background}} />;
}

/** Every state, lane and kind of span that occurs, with its sentence. */
export function Legend({model}: {model: Model}) {
  const paints = new Paints(model.theme);
  const traces = model.sides.map((side) => side.trace);
  const names = (kind: string) => [...new Set(traces.flatMap((t) => t.tracks.filter((track) => track.kind === kind && (kind === 'barrier' || t.spanStart[track.id] < t.spanStart[track.id + 1])).map((track) => track.name)))];
  const kinds = [...new Set(traces.flatMap((t) => [...new Set(t.spans.kind)].map((kind) => t.spanKinds[kind])))];
  const rings = [...new Set(model.sides.flatMap((side) => side.ctas.flatMap((cta) => cta.rings.map((ring) => ring.name))))];
  const arrays = [...new Set(names('barrier').map((name) => name.replace(/\[.*/, '')))];
  return (
    <div class="text legend">
      <h3>Colours say who acts</h3>
      {(Object.keys(actorNames) as Actor[]).map((actor) => <p><Swatch paint={paints.work(actor)} />{actorNames[actor]}</p>)}
      <p><Swatch paint={paints.waiting('load')} /> Hatched: a wait. It has the colour of whoever has to act first; here, loads.</p>
      <h3>Stages of a ring</h3>
      {stageStateText.map((text, state) => <p><Swatch paint={paints.stage('input', state)} />{text}</p>)}
      <h3>Barriers</h3>
      <p>{explainBarrierLane}</p>
      <dl>{arrays.map((name) => <><dt>{name}</dt><dd>{explainBarrier(name)}</dd></>)}</dl>
      <h3>What went wrong</h3>
      <p><span class="frame root">root wait</span> The wait from which the others of a hang follow.</p>
      <p><span class="frame fault">at fault</span> What was done wrong, or last done by who should have acted; the arrowhead points at its begin.</p>
      <p><span class="frame victim">never woken</span> Another wait that nobody can end.</p>
      <p><span class="number-mark">1</span><span class="number-mark filled">2</span> The two accesses of a hazard, in the order in which they were made. Nothing orders them.</p>
      <p><span class="pin">MB5</span><span class="pin hollow">MB14</span> A finding, and a warning, on the lane of who did it.</p>
      <h3>Lanes</h3>
      <dl>
        <dt>CTA</dt><dd>{explainCta}</dd>
        {names('role').map((name) => <><dt>{name}</dt><dd>{explainRole(name)}</dd></>)}
        {names('unit').map((name) => <><dt>{name}</dt><dd>{explainUnit(name)}</dd></>)}
        {rings.map((name) => <><dt>{name} ring</dt><dd>{explainRing(name)}</dd></>)}
      </dl>
      <h3>Bars</h3>
      <dl>{kinds.map((kind) => <><dt>{kind}</dt><dd>{explainKind(kind)}</dd></>)}</dl>
    </div>
  );
}
