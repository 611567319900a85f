import { isKnown } from "./known.ts";
import { type Operation, randomOperation } from "./operations.ts";
import { Random } from "./random.ts";
import { STARTS } from "./starts.ts";
import { type Difference, printPanics, Twins } from "./twins.ts";

/** What a run of the fuzzer found. */
export interface Findings {
  readonly seed: number;
  /** How many patches both servers were sent. */
  readonly patches: number;
  /** Histories that made them differ once, and not when each operation waited for the real server's watch cache. */
  readonly unsteady: number;
  readonly found: readonly {
    readonly kind: string;
    readonly history: readonly Operation[];
    readonly difference: Difference;
  }[];
}

const LONGEST_HISTORY = 6;
const MOST_FINDINGS = 10;

/**
 * Sends the same random histories of patches to the real kube-apiserver and to Binnacle until so many patches are sent.
 * A history that makes them differ is cut down to what is needed for that.
 */
export async function fuzzPatches(twins: Twins, seed: number, patches: number): Promise<Findings> {
  const random = new Random(seed);
  const found: Findings["found"][number][] = [];
  const kinds = Object.keys(STARTS);
  let sent = 0;
  let unsteady = 0;
  for (let round = 0; sent < patches && found.length < MOST_FINDINGS; round += 1) {
    const kind = kinds[round % kinds.length] ?? "";
    const history: Operation[] = [];
    const current = structuredClone(STARTS[kind]?.body ?? {});
    const length = 1 + random.below(LONGEST_HISTORY);
    while (history.length < length) history.push(randomOperation(random, kind, current));
    sent += history.length;
    const difference = await twins.replay(kind, history);
    if (!difference || isKnown(kind, difference)) continue;
    if (!(await twins.replay(kind, history, true))) {
      unsteady += 1;
      continue;
    }
    const shortest = await shrink(twins, kind, history);
    found.push({ kind, history: shortest, difference: (await twins.replay(kind, shortest, true)) ?? difference });
  }
  return { seed, patches: sent, unsteady, found };
}

/** Leaves out operations, then members of their bodies, as long as the two still differ. */
async function shrink(twins: Twins, kind: string, history: readonly Operation[]): Promise<Operation[]> {
  let best = [...history];
  const stillDiffers = async (candidate: readonly Operation[]) => {
    const difference = await twins.replay(kind, candidate, true);
    return difference !== undefined && !isKnown(kind, difference);
  };
  for (let index = best.length - 1; index >= 0; index -= 1) {
    const candidate = best.filter((_, at) => at !== index);
    if (candidate.length > 0 && (await stillDiffers(candidate))) best = candidate;
  }
  for (let index = 0; index < best.length; index += 1) {
    for (const smaller of smallerBodies(best[index] as Operation)) {
      const candidate = best.map((operation, at) => (at === index ? smaller(best[index] as Operation) : operation));
      if (await stillDiffers(candidate)) best = candidate;
    }
  }
  return best;
}

/** Ways to make the body of an operation smaller: each leaves out one member or item, outer ones first. */
function smallerBodies({ body }: Operation): ((operation: Operation) => Operation)[] {
  const ways: ((operation: Operation) => Operation)[] = [];
  const visit = (value: unknown, path: readonly (string | number)[]): void => {
    if (typeof value !== "object" || value === null || path.length > 8) return;
    for (const key of Array.isArray(value) ? [...value.keys()].reverse() : Object.keys(value)) {
      if (path.length === 0 && ["apiVersion", "kind"].includes(String(key))) continue;
      ways.push((operation) => ({ ...operation, body: without(operation.body, [...path, key]) as Operation["body"] }));
      visit((value as Record<string | number, unknown>)[key], [...path, key]);
    }
  };
  visit(body, []);
  return ways;
}

function without(value: unknown, [step, ...rest]: readonly (string | number)[]): unknown {
  if (typeof value !== "object" || value === null || step === undefined) return value;
  if (Array.isArray(value)) {
    if (rest.length === 0) return value.filter((_, index) => index !== step);
    return value.map((item, index) => (index === step ? without(item, rest) : item));
  }
  const { [step]: member, ...others } = value as Record<string | number, unknown>;
  if (member === undefined) return value;
  return rest.length === 0 ? others : { ...others, [step]: without(member, rest) };
}

/** The findings in words. */
export function printFindings({ seed, patches, unsteady, found }: Findings): string {
  const lines = [`seed ${seed}: ${patches} patches, ${found.length} differences, ${unsteady} unsteady`];
  for (const { kind, history, difference } of found) {
    lines.push(`\n${kind}, ${difference.at}: ${difference.path}`);
    lines.push(`  theirs ${JSON.stringify(difference.theirs)}`, `  ours   ${JSON.stringify(difference.ours)}`);
    for (const operation of history) lines.push(`  ${JSON.stringify(operation)}`);
  }
  return lines.join("\n");
}

if (import.meta.main) {
  const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const twins = await Twins.start();
  try {
    const findings = await fuzzPatches(twins, seed, Number(process.env.FUZZ_COUNT ?? 20_000));
    process.stdout.write(`${[printFindings(findings), ...printPanics(twins.panics)].join("\n")}\n`);
    process.exitCode = findings.found.length > 0 ? 1 : 0;
  } finally {
    await twins.stop();
  }
}
