import type {Model} from '../model';
import {duration, grouped, percent} from '../text/format';

export function FindingsTab({model}: {model: Model}) {
  const all = model.sides.flatMap(({trace}, side) => trace.findings.map((finding) => ({side, finding})));
  return (
    <div>
      {all.map(({side, finding}) => {
        const current = model.selection?.kind === 'finding' && model.selection.finding === finding;
        const what = finding.id === 'hang' ? 'Hang' : `${finding.warning ? 'Warning' : 'Finding'} ${finding.id}`;
        return (
          <div class={`finding ${current ? 'current' : ''}`}>
            <button class="link" onClick={() => model.goToFinding(side, finding)}>{what} at {grouped(finding.time)}</button>
            {model.sides.length > 1 && <span class="quiet"> in {'AB'[side]}</span>}
            <p>{finding.message}</p>
            {finding.report && <details open={current || all.length === 1}><summary>Report</summary><Report text={finding.report} /></details>}
          </div>
        );
      })}
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

/** How much of the run each kind of dependency contributes, and the chain itself. */
export function PathTab({model}: {model: Model}) {
  const trace = model.sides[0].trace;
  const sums = new Map<string, number>();
  let total = 0;
  for (const s of trace.criticalPath) {
    sums.set(s.kind, (sums.get(s.kind) ?? 0) + s.end - s.begin);
    total += s.end - s.begin;
  }
  const rows = [...sums].sort((a, b) => b[1] - a[1]);
  return (
    <div class="text">
      <p>The chain of work and waits that determines the end time: shortening anything else gains nothing.</p>
      <table class="sums">{rows.map(([kind, ticks]) => (
        <tr><td>{kind}</td><td class="number">{duration(model, ticks)}</td><td class="number">{percent(ticks / total)}</td></tr>
      ))}</table>
      <ol class="list">{trace.criticalPath.slice(0, 400).map((s) => (
        <li onClick={() => {
          model.showPath = true;
          if (s.track >= 0) model.openRow(0, s.track);
          model.view.reveal(model.axis(0, s.begin), model.axis(0, s.end));
          model.changed();
        }}>{s.text || s.kind} <span class="quiet">{duration(model, s.end - s.begin)}</span></li>
      ))}</ol>
    </div>
  );
}
