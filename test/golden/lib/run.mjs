// All chosen scenarios against one server, several at a time where that is wanted.

import fs from 'node:fs';
import path from 'node:path';
import { Client } from './client.mjs';
import { loadRecorded, loadScenarios } from './options.mjs';
import { ScenarioRun } from './scenario.mjs';

// -> {base, started, passed, failed, areas, scenarios}. onScenario is called for each result in the order of the
// scenarios' names, whatever the order in which they finish.
export async function runScenarios(options, onScenario = () => {}) {
  const scenarios = loadScenarios(options);
  if (scenarios.length === 0) throw new Error('no scenario matches');
  const server = options.record ? await prepareRecording(options) : {};
  const report = { base: options.base, started: new Date().toISOString(), passed: 0, failed: 0, areas: {}, scenarios: [] };
  const finished = scenarios.map(() => null);

  const take = (index, result) => {
    finished[index] = result;
    for (let next; (next = finished[report.scenarios.length]); ) {
      add(report, next);
      onScenario(next);
    }
  };
  const runOne = async (index) => take(index, await runScenario(scenarios[index], options, server));

  // The long ones first, or the last of them would run on alone at the end.
  const waiting = scenarios.map((_, i) => i).filter((i) => options.jobs === 1 || !scenarios[i].alone);
  if (options.jobs > 1) waiting.sort((a, b) => weight(scenarios[b].steps) - weight(scenarios[a].steps));
  const worker = async () => { while (waiting.length > 0) await runOne(waiting.shift()); };
  await Promise.all(Array.from({ length: Math.max(1, options.jobs) }, worker));
  for (const [i, result] of finished.entries()) if (!result) await runOne(i);
  return report;
}

async function prepareRecording(options) {
  fs.mkdirSync(options.record, { recursive: true });
  const client = new Client(options);
  try {
    return (await client.request({ method: 'GET', path: '/version' })).body ?? {};
  } finally {
    client.close();
  }
}

// Roughly the milliseconds a scenario takes
const weight = (steps) => steps.reduce((sum, s) => sum + 10 + (s.pauseMs ?? 0) + (s.watch ? 300 : 0) + weight(s.steps ?? []), 0);

async function runScenario(scenario, options, server) {
  const client = new Client({ ...options, timeoutMs: options.timeout * 1000 });
  const run = new ScenarioRun(scenario, client, loadRecorded(scenario, options), options);
  const began = Date.now();
  try {
    await run.run();
  } finally {
    client.close();
  }
  if (options.record) {
    const out = { scenario: scenario.name, recordedFrom: server.gitVersion, steps: run.answers };
    fs.writeFileSync(path.join(options.record, `${scenario.name}.json`), JSON.stringify(out, null, 1) + '\n');
  }
  return {
    name: scenario.name, area: scenario.area, matched: run.results.filter((r) => r.ok).length, total: run.results.length,
    ms: Date.now() - began, steps: run.results, waitedInVain: run.waitedInVain,
  };
}

function add(report, { waitedInVain, ...result }) {
  report.passed += result.matched;
  report.failed += result.total - result.matched;
  const area = (report.areas[result.area] ??= { scenarios: 0, matched: 0, total: 0 });
  area.scenarios += 1; area.matched += result.matched; area.total += result.total;
  report.scenarios.push(result);
}
