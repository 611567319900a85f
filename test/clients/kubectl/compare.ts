import type { Answer, Area, Case } from "./cases.ts";
import { nameOf, stepsOf } from "./cases.ts";
import { printAnswer } from "./transcript.ts";

/** A case with the namespace that it has on every server. */
export interface NamedCase {
  readonly area: Area;
  readonly namespace: string;
  readonly script: Case;
}

/** All cases of the areas. */
export function casesOf(areas: readonly Area[]): NamedCase[] {
  return areas.flatMap((area) =>
    area.cases.map((script, index) => ({ area, script, namespace: `${area.name}-${index + 1}` })),
  );
}

/** How many times a case calls kubectl. */
export function countCalls({ steps }: Case): number {
  return [...stepsOf(steps)].length;
}

/** Where answers differ from those that are wanted, step by step, for people. */
export function differences(script: Case, wanted: readonly Answer[], found: readonly Answer[]): string[] {
  const names = [...stepsOf(script.steps)].map(nameOf);
  return names.flatMap((name, index) => {
    const [theirs, ours] = [wanted[index], found[index]];
    if (theirs?.step !== name) return [`${name}\n  is not what was recorded (${theirs?.step}): record again`];
    if (ours === undefined) return [`${name}\n  was not answered`];
    return printAnswer(theirs) === printAnswer(ours)
      ? []
      : [`wanted\n${printAnswer(theirs)}found\n${printAnswer(ours)}`];
  });
}
