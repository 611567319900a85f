import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

const source = path.join(import.meta.dirname, "..", "src");

/** Places where a table of a module is read by a name that is not written there, so that `constructor` is found in it. */
function careless(text: string): string[] {
  const tables = [...text.matchAll(/^(?:export )?const (\w+): Readonly<Record<string, /gm)].map(([, name]) => name);
  return tables
    .filter((name) => !text.includes(`Object.hasOwn(${name},`))
    .flatMap((name) => text.match(new RegExp(`(?<![\\w.])${name}\\[(?!["\\d]).*`, "g")) ?? []);
}

/**
 * Calls that pass the items of a list as arguments, which fails with a RangeError once there are 120,000: how many of a
 * file may, and why no client can make their lists long.
 */
const SPREADS: Readonly<Record<string, readonly [count: number, reason: string]>> = {
  "access/admission/plugins/pod-security/standards.ts": [7, "constants"],
  "access/admission/plugins/resource-quota/device-claims.ts": [1, "at most 8 alternatives are valid"],
  "access/audit/options.ts": [3, "the operator's own flags"],
  "access/audit/policy.ts": [3, "the operator's own policy file"],
  "access/authentication/oidc/validate-configuration.ts": [7, "the operator's own configuration file"],
  "access/authentication/x509/verify-chain.ts": [2, "chains of one client certificate, of which a search makes few"],
  "serving/endpoints/discovery/discovery-documents.ts": [1, "the versions of a group"],
  "base/pki/authority.ts": [1, "whether an extension is critical"],
  "base/pki/make-certificate.ts": [3, "what the server's own certificates hold"],
  "kinds/built-in/certificates/pod-certificate-request.ts": [1, "a constant"],
  "kinds/built-in/shared-rules/conditions.ts": [1, "a constant"],
  "base/pki/der.ts": [2, "the arguments of the caller"],
  "cluster/nodes/stages/go-template/evaluate.ts": [1, "arguments that a template writes out"],
  "data/patch/apply/reset-fields.ts": [1, "a row of a kind"],
  "data/patch/apply/scale.ts": [1, "a path of a kind"],
  "resources/model/tracking-scope.ts": [2, "a row of a kind"],
  "serving/offload/asking.ts": [1, "the arguments of a method"],
  "storage/etcd/hpack.ts": [1, "a name and a value"],
};

const SPREAD_CALL = /[\w\])>]\(\s*(?:(?:[^()[\]{};]|\([^()]*\)|\{[^{}]*\})*,\s*)?\.\.\.(?!\w+\??:)/g;

/** How many calls of a text have a spread argument. */
function countSpreads(text: string): number {
  return text.replace(/^\s*(?:\*|\/\*|\/\/).*$/gm, "").match(SPREAD_CALL)?.length ?? 0;
}

test("no list that a client can make long is passed as arguments", () => {
  assert.equal(countSpreads("list.push(...items); Math.max(0, ...items.map((one) => one.size));"), 2);
  assert.equal(countSpreads("const all = [...one, ...other]; function f(...rest: string[]) {} f({ ...one });"), 0);
  const found = globSync("**/*.ts", { cwd: source })
    .filter((file) => !/\.(test|suite)\.ts$/.test(file))
    .map((file) => [file, countSpreads(readFileSync(path.join(source, file), "utf8"))] as const)
    .filter(([, count]) => count > 0);
  const allowed = Object.entries(SPREADS).map(([file, [count]]) => [file, count] as const);
  assert.deepEqual(found.toSorted(), allowed.toSorted());
});

test("a table is read with getMember, so that what every object inherits is not in it", () => {
  assert.deepEqual(careless("const TYPES: Readonly<Record<string, number>> = {};\nreturn TYPES[type] ?? 0;"), [
    "TYPES[type] ?? 0;",
  ]);
  const found = globSync("**/*.ts", { cwd: source })
    .filter((file) => !/\.(test|suite)\.ts$/.test(file))
    .flatMap((file) => careless(readFileSync(path.join(source, file), "utf8")).map((line) => `${file}: ${line}`));
  assert.deepEqual(found, []);
});
