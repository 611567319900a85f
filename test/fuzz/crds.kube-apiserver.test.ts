import assert from "node:assert/strict";
import { eventually } from "../support/time.ts";
import { ODD_CELLS, ODD_SCHEMAS } from "./crd-oddities.ts";
import { CrdFuzzer, DEFINITIONS, printCrdResult } from "./crds.ts";
import { TABLE, withoutAges } from "./findings.ts";
import { fuzzTest } from "./fuzz-test.ts";
import { differenceOf, type Twins } from "./twins.ts";

/** Seeds, and numbers of definitions, at which the servers differed before; above those of the random ones. */
const ONCE_DIFFERENT: readonly (readonly [seed: number, numbers: readonly number[]])[] = [
  [101, [639, 689]],
  [103, [261, 433, 459, 724, 749, 1237, 1249, 1740, 1967, 2079, 2142, 2164, 2446, 2462, 2470]],
  [104, [538, 539, 711, 1995, 2007, 2628, 2752, 2843]],
  [20261117, [490, 687, 1673, 3580]],
];

fuzzTest(
  "random definitions, and objects of them, are taken or refused as by the real kube-apiserver",
  2,
  async ({ t, twins, seed }) => {
    for (const [index, odd] of ODD_SCHEMAS.entries()) {
      const answers = await twins.call("POST", `${DEFINITIONS}?dryRun=All`, definitionWith(index, odd));
      assert.equal(differenceOf(answers, JSON.stringify(odd)), undefined);
    }
    await compareCells(twins);
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

function definitionWith(index: number, root: object) {
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

/** Cells of every type, with values of every other one. */
async function compareCells(twins: Twins): Promise<void> {
  const definition = definitionWith(ODD_SCHEMAS.length, { "x-kubernetes-preserve-unknown-fields": true });
  const { names, group, versions } = definition.spec;
  const types = ["string", "integer", "number", "boolean", "date"];
  const additionalPrinterColumns = types.map((type) => ({ name: type, type, jsonPath: ".value" }));
  Object.assign(versions[0] ?? {}, { additionalPrinterColumns });
  await twins.call("POST", DEFINITIONS, definition);
  const path = `/apis/${group}/v1/namespaces/fuzz/${names.plural}`;
  await eventually(async () => (await twins.call("GET", path)).every(({ status }) => status === 200));
  for (const [index, value] of ODD_CELLS.entries()) {
    const object = { apiVersion: `${group}/v1`, kind: names.kind, metadata: { name: `o${index}` }, value };
    await twins.call("POST", path, object);
  }
  const [theirs, ours] = await twins.read(path, TABLE);
  assert.equal(theirs.body.rows.length, ODD_CELLS.length);
  assert.equal(differenceOf([withoutAges(theirs), withoutAges(ours)], "cells"), undefined);
}
