import type { Line } from "./lines.ts";
import type { Known } from "./writers.ts";
import { LIST, writtenTimes } from "./writers.ts";

/** The value of every object, by its name. */
export type States = ReadonlyMap<string, number>;

/** What a server has, by one list. */
export async function listed(line: Line): Promise<States> {
  const { status, body } = await line.call("GET", LIST);
  if (status !== 200) throw new Error(`list: ${status} ${JSON.stringify(body).slice(0, 300)}`);
  return statesOf(body.items);
}

/** The values of objects. */
export function statesOf(
  objects: readonly { readonly metadata: { readonly name: string }; readonly data?: { readonly value?: string } }[],
): States {
  return new Map(objects.map((object) => [object.metadata.name, writtenTimes(object)]));
}

/** Where two states differ, at most ten lines. */
export function differences(wanted: States, found: States): string[] {
  const names = new Set([...wanted.keys(), ...found.keys()]);
  const lines = [...names].flatMap((name) =>
    wanted.get(name) === found.get(name) ? [] : [`${name}: ${found.get(name)} instead of ${wanted.get(name)}`],
  );
  return lines.slice(0, 10);
}

/** The objects that must be there after all writers have ended. */
export function acknowledgedStates(acknowledged: ReadonlyMap<string, Known["acknowledged"]>): States {
  return new Map([...acknowledged].flatMap(([name, value]) => (value === "gone" ? [] : [[name, value] as const])));
}

/**
 * What is wrong with a copy that was made between two looks at what was acknowledged: it must have all that was
 * acknowledged before, and nothing that nobody had begun to write after.
 */
export function copyErrors(
  before: ReadonlyMap<string, Known>,
  after: ReadonlyMap<string, Known>,
  copy: States,
): string[] {
  const lost = [...before].flatMap(([name, { acknowledged }]) => {
    const found = copy.get(name);
    const isDeleted = after.get(name)?.acknowledged === "gone" || after.get(name)?.pending === "gone";
    if (acknowledged === "gone") return found === undefined ? [] : [`${name}: ${found}, though it was deleted`];
    if (found === undefined) return isDeleted ? [] : [`${name} is missing`];
    return found >= acknowledged ? [] : [`${name}: ${found}, though ${acknowledged} was acknowledged`];
  });
  const invented = [...copy].flatMap(([name, value]) => {
    const known = after.get(name);
    if (known === undefined) return value === 0 ? [] : [`${name} is unknown`];
    const newest = [known.acknowledged, known.pending].filter((one) => typeof one === "number");
    const isDeleted = known.acknowledged === "gone" || known.pending === "gone";
    return isDeleted || value <= Math.max(...newest) ? [] : [`${name}: ${value}, which nobody had written`];
  });
  return [...lost, ...invented].slice(0, 10);
}
