import { parseArgs } from "node:util";
import { Random } from "../fuzz/random.ts";
import { Comparison, printCompared } from "./compare.ts";
import { customRequests } from "./custom.ts";
import { CostFuzzer } from "./fuzzer.ts";
import { choose, Replays, sendMatrix, sendOthers } from "./matrix.ts";
import { BODY_BYTES, otherRequests } from "./others.ts";
import { allPlaces } from "./places.ts";
import { holdersOf, IN_ONE_THREAD, lastOf } from "./profile.ts";
import { report } from "./report.ts";
import { type CostResult, heldMs, isFailure, MOST_HELD_MS } from "./results.ts";
import { classesOf, noteworthy, Screening, worst } from "./screening.ts";
import { SetFuzzer } from "./sets/fuzzer.ts";
import { reportSets } from "./sets/report.ts";
import { RunState } from "./state.ts";

const { values } = parseArgs({
  options: {
    kind: { type: "string" },
    place: { type: "string" },
    type: { type: "string" },
    part: { type: "string", default: "1/1" },
    state: { type: "string" },
    thorough: { type: "boolean", default: false },
    seconds: { type: "string", default: "3600" },
    dearest: { type: "string", default: "100" },
    sample: { type: "string", default: "30" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
    oracle: { type: "boolean", default: false },
    requests: { type: "string" },
    worst: { type: "string", default: "100" },
    custom: { type: "boolean", default: false },
    sets: { type: "string", default: "2000" },
    "sets-only": { type: "boolean", default: false },
  },
});

/** Far more than any request takes, in case the machine is busy. */
const TIMEOUT_MS = 120_000;
/** Share of the time for the sets. */
const SETS_PART = 0.4;
/** Share of the remaining time for the matrix if the screening does not end. */
const MATRIX_PART = 0.3;
const say = (line: string) => process.stderr.write(`${line}\n`);

const [part = 1, parts = 1] = values.part.split("/").map(Number);
const isOfPart = (_: unknown, index: number) => index % parts === part - 1;
const places = allPlaces(values.kind).filter(
  ({ key, type }) => key.includes(values.place ?? "") && (values.type?.split(",").includes(type) ?? true),
);
const classes = values.custom ? [] : classesOf(places).filter(isOfPart);
const isWhole = (values.kind ?? values.place ?? values.type) === undefined;
const custom = customRequests(BODY_BYTES, !values.oracle);
const all = values.custom ? [...custom] : [...otherRequests(), ...custom];
const others = isWhole ? all.filter(isOfPart) : [];

const fuzzer = new CostFuzzer(TIMEOUT_MS);
const begun = performance.now();
const until = begun + Number(values.seconds) * 1000;
const bounds = { dearest: Number(values.dearest), sample: Number(values.sample), until };
if (values.oracle) {
  const comparison = await Comparison.start(fuzzer, TIMEOUT_MS);
  comparison.onFound = (lines) => say(lines.join("\n"));
  try {
    const title =
      values.requests === undefined
        ? `${await comparison.run(classes, others, until)} of ${classes.length} fields`
        : `a sample with seed ${values.seed}`;
    const random = new Random(Number(values.seed));
    if (values.requests !== undefined)
      await comparison.sample(classes, others, { random, count: Number(values.requests), until });
    const { result } = comparison;
    process.stdout.write(`${[title, ...printCompared(result)].join("\n")}\n`);
    process.exitCode = result.found.size > 0 ? 1 : 0;
  } finally {
    await comparison.stop();
  }
} else {
  const state = new RunState(values.state);
  const isLast = values["sets-only"];
  const areSetsSent = part === 1 && isWhole && !values.custom;
  const isGood = !areSetsSent || (await measureSets(state, isLast ? until : begun + SETS_PART * (until - begun)));
  if (!isLast) await measureAll(state);
  if (!isGood) process.exitCode = 1;
}

/** Sends objects of administrators that may make small requests expensive. Returns whether nothing was too expensive. */
async function measureSets(state: RunState, untilSets: number): Promise<boolean> {
  const sets = new SetFuzzer(Number(values.seed), TIMEOUT_MS);
  try {
    const done = await sets.run(Number(values.sets), state, untilSets, (count) => {
      if (count % 10 === 0) say(`${count} of ${values.sets} sets`);
    });
    const { lines, isGood } = await reportSets(sets, done, `seed ${values.seed}`, TIMEOUT_MS);
    process.stdout.write(`${lines.join("\n")}\n`);
    return isGood;
  } finally {
    await sets.stop();
  }
}

async function measureAll(state: RunState): Promise<void> {
  try {
    const other = await sendOthers(fuzzer, others, state, until);
    const untilLarge = until - MATRIX_PART * (until - performance.now());
    const screened = await new Screening(fuzzer, state, values.thorough).run(classes, untilLarge, (count) => {
      if (count % 100 === 0) say(`${count} of ${2 * classes.length} fields and sizes, ${fuzzer.sent} requests`);
    });
    const chosen = choose(classes, screened, new Random(Number(values.seed)), bounds);
    const matrix: CostResult[] = [];
    let matrixPlaces = 0;
    for (const one of [...chosen.dear, ...chosen.sampled]) {
      let known = state.find(one.key, "matrix");
      if (!known) {
        if (performance.now() > until) continue;
        const before = fuzzer.sent;
        const found = noteworthy(await sendMatrix(fuzzer, one, screened));
        known = { key: one.key, size: "matrix", places: 1, requests: fuzzer.sent - before, results: found };
        state.keep(known);
      }
      for (const result of known.results) matrix.push(result);
      matrixPlaces += 1;
      if (matrixPlaces % 10 === 0) say(`${matrixPlaces} places in every way, ${fuzzer.sent} requests`);
    }
    const results = [...screened.flatMap((one) => one.results), ...other.results, ...matrix];
    const dearest = worst(results, Number(values.worst));
    const replays = new Replays(fuzzer, places, others);
    const holders = await holdersOf(
      dearest.map(({ key }) => lastOf(replays.of(key))),
      TIMEOUT_MS,
      IN_ONE_THREAD,
    );
    const seconds = Math.round((performance.now() - begun) / 1000);
    const lines = report({
      title: `seed ${values.seed}, part ${values.part}: ${fuzzer.sent} requests in ${seconds} s`,
      classes,
      places,
      screened,
      others: `${other.count} of ${others.length}`,
      matrix: `${matrixPlaces} of ${chosen.dear.length + chosen.sampled.length} (${chosen.dear.length} dear ones, ${chosen.sampled.length} by chance; ${chosen.leftOut} dear ones left out)`,
      results,
      dearest,
      holders,
    });
    process.stdout.write(`${lines.join("\n")}\n`);
    process.exitCode = results.some((one) => isFailure(one) || heldMs(one) > MOST_HELD_MS) ? 1 : 0;
  } finally {
    await fuzzer.stop();
  }
}
