import { holdersOf } from "../profile.ts";
import { distribution } from "../report.ts";
import { type CostResult, heldMs, MOST_HELD_MS, printCost } from "../results.ts";
import type { Screened } from "../state.ts";
import type { SetFuzzer } from "./fuzzer.ts";

const MOST_LISTED = 10;

/** The sets that were measured, as lines, and whether no request of a user held the event loop for too long. */
export async function reportSets(
  fuzzer: SetFuzzer,
  sets: readonly Screened[],
  title: string,
  timeoutMs: number,
): Promise<{ readonly lines: string[]; readonly isGood: boolean }> {
  const results = sets.flatMap((set) => set.results);
  const byAdmin = results.filter(isOfAdmin);
  const byUser = results.filter((one) => !isOfAdmin(one));
  const slowest = byUser.toSorted((one, other) => heldMs(other) - heldMs(one)).slice(0, MOST_LISTED);
  const unanswered = results.filter(({ status }) => status === 0);
  const profiles = slowest.map(({ key: [set, , name] }) => fuzzer.profiled(Number(set.split("/").at(-1)), name));
  const holders = await holdersOf(await Promise.all(profiles), timeoutMs, []);
  const most = (some: readonly CostResult[]) => Math.round(some.reduce((ms, one) => Math.max(ms, heldMs(one)), 0));
  const focuses = Map.groupBy(byUser, ({ key: [, focus] }) => focus);
  const lines = [
    `${title}: ${sets.length} accepted sets, ${byUser.length} requests of users, ${byAdmin.length} objects of administrators`,
    `requests of users, loop held: ${distribution(byUser.map(heldMs))}`,
    `objects of administrators, loop held: ${distribution(byAdmin.map(heldMs))}`,
    `most by cause: ${[...focuses].map(([focus, some]) => `${focus} ${most(some)} ms`).join(", ")}`,
    `the slowest ${slowest.length} requests of users:`,
    ...slowest.flatMap((one, index) => [printCost(one), `         by ${holders[index] || "nothing known"}`]),
    `objects of administrators above ${MOST_HELD_MS} ms:`,
    ...byAdmin.filter((one) => heldMs(one) > MOST_HELD_MS).map(printCost),
    ...unanswered.map((one) => `no answer: ${printCost(one)}`),
  ];
  const isGood = unanswered.length === 0 && byUser.every((one) => heldMs(one) <= MOST_HELD_MS);
  return { lines, isGood };
}

const isOfAdmin = ({ key: [, , name] }: CostResult): boolean => name.startsWith("administrator");
