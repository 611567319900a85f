import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, suite, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { FeatureGateName } from "../../src/base/api/feature-gates.ts";
import type { JsonObject } from "../../src/base/api/object.ts";
import type { Answer } from "../support/client.ts";
import { needs } from "../support/tools.ts";
import { aboutCallers, GATED_CASES, type GatedCase, gatesFlag, switchable } from "./feature-gates.ts";
import { differenceOf, Twins } from "./twins.ts";

const aboutObjects = switchable.filter((gate) => aboutCallers[gate] === undefined);

test("every gate that can be switched is compared", () => {
  assert.deepEqual(new Set(GATED_CASES.map(({ gate }) => gate)), new Set(aboutObjects));
  for (const [gate, file] of Object.entries(aboutCallers)) assert.match(readFileSync(file, "utf8"), new RegExp(gate));
});

/** What came of the cases of each gate, so that it is seen that the gate makes a difference. */
const outcomes = { on: new Map<FeatureGateName, string[]>(), off: new Map<FeatureGateName, string[]>() };

for (const value of ["on", "off"] as const) {
  suite(`with feature gates ${value}, answers are those of kube-apiserver with the same flag`, {
    ...needs("kube-apiserver", "etcd"),
  }, () => {
    let twins: Twins;
    before(async () => {
      twins = await Twins.start([gatesFlag(value === "on")]);
    });
    after(() => twins?.stop());
    for (const [index, given] of GATED_CASES.entries()) {
      test(`${given.gate}, ${given.path.split("/").at(-1)} ${index + 1}`, async () => {
        const outcome = await compare(twins, given, `gated-${index}`);
        outcomes[value].set(given.gate, [...(outcomes[value].get(given.gate) ?? []), ...outcome]);
      });
    }
  });
}

test("every gate changes an answer", needs("kube-apiserver", "etcd"), () => {
  const without = aboutObjects.filter((gate) => isDeepStrictEqual(outcomes.on.get(gate), outcomes.off.get(gate)));
  assert.deepEqual(without, []);
});

async function compare(twins: Twins, { path, create, updates = [] }: GatedCase, name: string): Promise<string[]> {
  const named = (body: JsonObject) => ({
    ...body,
    metadata: { name, namespace: path.split("/namespaces/")[1]?.split("/")[0] },
  });
  const created = await twins.call("POST", `${path}?fieldManager=m`, named(create));
  assert.equal(differenceOf(created, "create"), undefined);
  const outcome = [print(created[1])];
  if (created[0].status !== 201) return outcome;
  for (const { subresource = "", body } of updates) {
    const at = [path, name, ...(subresource === "" ? [] : [subresource])].join("/");
    const patched = await twins.call("PATCH", `${at}?fieldManager=m`, body, "application/merge-patch+json");
    assert.equal(differenceOf(patched, `${subresource || "update"} ${JSON.stringify(body)}`), undefined);
    outcome.push(print(patched[1]));
  }
  return outcome;
}

const print = ({ status, body }: Answer): string =>
  JSON.stringify([status, body.spec, body.status, body.message]).replaceAll(
    /[0-9a-f-]{36}|"[^"]*Z"|(?<=kube-api-access-)[a-z0-9]{5}/g,
    "",
  );
