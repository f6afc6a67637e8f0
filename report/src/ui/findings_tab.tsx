// SPDX-License-Identifier: Apache-2.0
import {type FindingGroup, findingTitle, reportTargets} from '../data/findings';
import type {Finding} from '../data/trace';
import type {Model} from '../model';
import {grouped} from '../text/format';
import {trackText} from '../text/sentences';

/** Findings with the same words are shown once, with their count. */
export function FindingsTab({model}: {model: Model}) {
  const {findings} = model;
  return <div>{findings.map((group) => <Group model={model} group={group} open={findings.length === 1} />)}</div>;
}

function Group({model, group, open}: {model: Model; group: FindingGroup; open: boolean}) {
  const {side, findings} = group;
  const {trace} = model.sides[side];
  const selected = model.selection?.kind === 'finding' ? model.selection.finding : null;
  const finding = findings.find((f) => f === selected) ?? findings[0];
  const others = findings.filter((f) => f !== finding);
  const times = findings.length > 1 ? `, ${grouped(findings.length)} times` : '';
  return (
    <div class={`finding ${finding === selected ? 'current' : ''}`}>
      <button class="link alarm" title="Frames it, from cause to effect" onClick={() => model.goToFinding(side, finding)}>
        {findingTitle(finding)} at {grouped(finding.time)}<span class="count">{times}</span></button>
      {model.sides.length > 1 && <span class="quiet"> in {'AB'[side]}</span>}
      <p>{finding.message}</p>
      {finding.marks.some((mark) => mark.what === 'root' || mark.what === 'fault') && <Key finding={finding} />}
      {finding.report && <details open={finding === selected || open}><summary>Report <span class="quiet">its lines lead to the picture</span></summary>
        <Report model={model} side={side} finding={finding} /></details>}
      {others.length > 0 && <details>
        <summary>{grouped(others.length)} more with the same words</summary>
        <ul class="links">{others.map((other) => (
          <li><button class="link" onClick={() => model.goToFinding(side, other)}>
            at {grouped(other.time)}{other.track >= 0 && `, ${trackText(trace.tracks[other.track])}`}
          </button></li>
        ))}</ul>
      </details>}
    </div>
  );
}

/** The frames that a hang has in the picture. */
function Key({finding}: {finding: Finding}) {
  const has = (what: string) => finding.marks.some((mark) => mark.what === what);
  return (
    <p class="key">
      {has('fault') && <span class="frame fault">at fault</span>}
      {has('root') && <span class="frame root">root wait</span>}
      {has('victim') && <span class="frame victim">never woken</span>}
    </p>
  );
}

/** Lines that name a role or a barrier lead there.  Lines that are too long go on where the line began. */
function Report({model, side, finding}: {model: Model; side: number; finding: Finding}) {
  const targets = reportTargets(model.sides[side].trace, finding);
  return (
    <pre>{finding.report.trimEnd().split('\n').map((line, n) => {
      const indent = line.length - line.trimStart().length, target = targets[n];
      const style = {paddingLeft: `${Math.min(indent, 8) + 2}ch`, textIndent: '-2ch'};
      if (!target) return <div style={style}>{line.trim() || '\u00a0'}</div>;
      const go = () => n === 0 ? model.goToFinding(side, finding) : model.goToPlace(side, target.track, target.time);
      return <div style={style}><button class="line" onClick={go}>{line.trim()}</button></div>;
    })}</pre>
  );
}
