#!/usr/bin/env node
// Runs the request scenarios of this corpus against a server and compares its answers
// with the recorded ones. Needs nothing but Node 20 or newer. See README.md.

import fs from 'node:fs';
import { OPTIONS_HELP, parseOptions } from './lib/options.mjs';
import { printAreas, printScenario, printTotals } from './lib/print.mjs';
import { runScenarios } from './lib/run.mjs';

const USAGE = `node replay.mjs --base URL --token T --user alice=TOKEN2\n${OPTIONS_HELP}\n`;

async function main(argv) {
  if (argv.includes('--help') || argv.includes('-h')) return process.stdout.write(USAGE);
  const options = parseOptions(argv);
  if (!options.base) throw new Error('--base is needed');
  const report = await runScenarios(options, (result) => process.stdout.write(printScenario(result, options)));
  process.stdout.write(`\n${printAreas(report)}${printTotals(report)}`);
  if (options.json) fs.writeFileSync(options.json, JSON.stringify(report, null, 1) + '\n');
  process.exitCode = report.failed > 0 ? 1 : 0;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
}
