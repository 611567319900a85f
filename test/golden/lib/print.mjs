// What a person reads of a result. All functions return text that ends in a line break, or nothing.

const show = (value) => {
  if (value === undefined) return '(absent)';
  const text = JSON.stringify(value);
  return text.length > 220 ? text.slice(0, 217) + '...' : text;
};

export const printDifference = (id, d) => `   [${id}] ${d.path}\n        expected ${show(d.expected)}\n        got      ${show(d.got)}\n`;

export function printScenario(result, options) {
  const { name, matched, total, steps, waitedInVain } = result;
  if (options.quiet && matched === total) return '';
  let text = `${name.padEnd(52)} ${matched}/${total}\n`;
  if (options.steps) for (const r of steps) text += `   ${r.ok ? 'ok  ' : 'DIFF'} ${r.id}\n`;
  const differences = steps.flatMap((r) => r.diffs.map((d) => printDifference(r.id, d)));
  text += differences.slice(0, options.diffs).join('');
  if (differences.length > options.diffs) text += `   ... and ${differences.length - options.diffs} more differences\n`;
  if (waitedInVain.length > 0 && (options.record || options.steps)) text += `   waited in vain: ${waitedInVain.join(', ')}\n`;
  return text;
}

export function printAreas(report) {
  const byName = Object.entries(report.areas).sort(([a], [b]) => (a < b ? -1 : 1));
  return byName.map(([name, a]) => `${name.padEnd(24)} ${String(a.scenarios).padStart(3)} scenarios  ${a.matched}/${a.total} steps\n`).join('');
}

export const printTotals = (report) => `${report.passed} passed, ${report.failed} failed\n`;
