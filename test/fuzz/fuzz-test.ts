import { type TestContext, test } from "node:test";
import { needs } from "../support/tools.ts";
import { Twins } from "./twins.ts";

/** What a part of a fuzzer is given in CI. */
export interface FuzzedPart {
  readonly t: TestContext;
  readonly twins: Twins;
  readonly seed: number;
}

/**
 * A part of a fuzzer as a test. It has one seed, so that a run is as good as the one before; the fuzzer's own script takes
 * another each time.
 */
export function fuzzTest(title: string, ownSeed: number, run: (part: FuzzedPart) => Promise<void>): void {
  test(title, { timeout: 240_000, ...needs("kube-apiserver", "etcd") }, async (t) => {
    const seed = Number(process.env.FUZZ_SEED ?? ownSeed);
    const twins = await Twins.start();
    t.after(() => twins.stop());
    await run({ t, twins, seed });
  });
}
