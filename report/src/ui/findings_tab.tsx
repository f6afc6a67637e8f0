import type {Model} from '../model';
import type {Finding} from '../data/trace';
import {grouped} from '../text/format';
import {trackText} from '../text/sentences';

interface Found {
  side: number;
  finding: Finding;
}

/** Findings with the same words are shown once. */
export function FindingsTab({model}: {model: Model}) {
  const groups = new Map<string, Found[]>();
  model.sides.forEach(({trace}, side) => {
    for (const finding of trace.findings) {
      const key = `${side} ${finding.id} ${finding.message}`;
      groups.set(key, [...(groups.get(key) ?? []), {side, finding}]);
    }
  });
  return <div>{[...groups.values()].map((group) => <Group model={model} group={group} open={groups.size === 1} />)}</div>;
}

function Group({model, group, open}: {model: Model; group: Found[]; open: boolean}) {
  const selected = model.selection?.kind === 'finding' ? model.selection.finding : null;
  const shown = group.find(({finding}) => finding === selected) ?? group[0];
  const {side, finding} = shown;
  const what = finding.id === 'hang' ? 'Hang' : `${finding.warning ? 'Warning' : 'Finding'} ${finding.id}`;
  const others = group.filter((found) => found !== shown);
  return (
    <div class={`finding ${finding === selected ? 'current' : ''}`}>
      <button class="link" onClick={() => model.goToFinding(side, finding)}>{what} at {grouped(finding.time)}</button>
      {model.sides.length > 1 && <span class="quiet"> in {'AB'[side]}</span>}
      <p>{finding.message}</p>
      {finding.report && <details open={finding === selected || open}><summary>Report</summary><Report text={finding.report} /></details>}
      {others.length > 0 && <details>
        <summary>{others.length} more with the same words</summary>
        <ul class="links">{others.map((other) => (
          <li><button class="link" onClick={() => model.goToFinding(other.side, other.finding)}>
            at {grouped(other.finding.time)}{other.finding.track >= 0 && `, ${trackText(model.sides[other.side].trace.tracks[other.finding.track])}`}
          </button></li>
        ))}</ul>
      </details>}
    </div>
  );
}

/** Lines that are too long go on where the line began. */
function Report({text}: {text: string}) {
  return (
    <pre>{text.trimEnd().split('\n').map((line) => {
      const indent = line.length - line.trimStart().length;
      return <div style={{paddingLeft: `${Math.min(indent, 8) + 2}ch`, textIndent: '-2ch'}}>{line.trim() || '\u00a0'}</div>;
    })}</pre>
  );
}
