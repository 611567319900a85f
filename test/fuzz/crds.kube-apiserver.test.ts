import assert from "node:assert/strict";
import { CrdFuzzer, DEFINITIONS, printCrdResult } from "./crds.ts";
import { fuzzTest } from "./fuzz-test.ts";
import { differenceOf } from "./twins.ts";

/** Members at the root of a schema that Go tells from their zero although they say nothing. */
const ODD_ROOTS: readonly object[] = [
  ...[{ enum: [] }, { allOf: [] }, { required: [] }, { "x-kubernetes-list-map-keys": [] }],
  ...[{ dependencies: {} }, { patternProperties: {} }, { definitions: {} }, { properties: {} }],
  ...[{ additionalProperties: false }, { "x-kubernetes-preserve-unknown-fields": false }, { nullable: false }],
  ...[{ id: "" }, { dependencies: { a: ["b"] } }, { dependencies: { a: { type: "string" } } }],
];

/** Seeds, and numbers of definitions, at which the servers differed before; above those of the random ones. */
const ONCE_DIFFERENT: readonly (readonly [seed: number, numbers: readonly number[]])[] = [
  [101, [639, 689]],
  [103, [261, 433, 459, 724, 749, 1237, 1249, 1740, 1967, 2079, 2142, 2164, 2446, 2462, 2470]],
  [104, [538, 539, 711, 1995, 2007, 2628, 2752, 2843]],
];

fuzzTest(
  "random definitions, and objects of them, are taken or refused as by the real kube-apiserver",
  2,
  async ({ t, twins, seed }) => {
    for (const [index, odd] of ODD_ROOTS.entries()) {
      const answers = await twins.call("POST", `${DEFINITIONS}?dryRun=All`, definitionWith(index, odd));
      assert.equal(differenceOf(answers, JSON.stringify(odd)), undefined);
    }
    for (const [found, numbers] of ONCE_DIFFERENT) {
      const mended = await new CrdFuzzer(twins, found).run(numbers);
      assert.equal(mended.findings.length, 0, printCrdResult(found, mended));
    }
    const result = await new CrdFuzzer(twins, seed).run(Array.from({ length: 100 }, (_, number) => number));
    t.diagnostic(`seed ${seed}: ${result.definitions} definitions, ${result.requests} requests`);
    assert.ok(result.accepted > 40 && result.requests > 500);
    assert.equal(result.findings.length, 0, printCrdResult(seed, result));
  },
);

function definitionWith(index: number, root: object): object {
  const schema = { openAPIV3Schema: { type: "object", ...root } };
  const version = { name: "v1", served: true, storage: true, subresources: { status: {} }, schema };
  const names = { plural: `odd${index}s`, kind: `Odd${index}` };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${names.plural}.odd.example.com` },
    spec: { group: "odd.example.com", scope: "Namespaced", names, versions: [version] },
  };
}
